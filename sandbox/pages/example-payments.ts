import type { Account } from '../../src/accounts/account.ts';
import { plainProfile } from '../../src/accounts/shop-profile.ts';
import {
  type Deposit,
  noOrder,
  type Payment,
  type Release,
  untouchedProgress,
} from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import type { StateChange } from '../../src/payment/payment-search-store.ts';
import type { PaymentView } from '../../src/payment/payment-store.ts';
import type { ProviderSession } from '../../src/payment/provider-session.ts';

export const DEPOSIT_HASH = `0x${'d1'.repeat(32)}`;
export const RELEASE_HASH = `0x${'e2'.repeat(32)}`;

/** Events of an example payment. Amounts are in 10⁻⁶ USDC. */
export interface ExampleEvents {
  readonly deposits?: readonly bigint[];
  readonly releases?: readonly bigint[];
  readonly sessions?: readonly ProviderSession[];
}

/** Fictitious payments that show the pages in every state. */
export interface ExamplePayments {
  readonly nowMs: number;
  payment(change?: Partial<Payment>): Payment;
  session(payment: Payment, change?: Partial<ProviderSession>): ProviderSession;
  /** Adds deposits and releases to a payment as if they had been read from the chain. */
  view(payment: Payment, events?: ExampleEvents): PaymentView;
}

export const exampleAccount: Account = {
  id: 'acc_pages',
  name: 'Café Tortuga',
  email: null,
  feeBasisPoints: 250,
  wallet: null,
  features: ['card_checkout', 'fee_pass_through'],
  ...plainProfile,
  providers: null,
  suspended: false,
  createdAtMs: 0,
};

export function createExamplePayments(nowMs: number, base: Partial<Payment> = {}): ExamplePayments {
  const newPaymentId = createPaymentIdGenerator(() => nowMs - 60_000);
  return {
    nowMs,
    payment: (change) => ({ ...blankPayment(nowMs), id: newPaymentId(), ...base, ...change }),
    session: (payment, change) => ({
      id: 'session',
      paymentId: payment.id,
      provider: 'moonpay',
      redirectUrl: 'https://provider.example/earlier',
      providerReference: 'MP-48213',
      chargedCents: payment.amountCents,
      receivedUnits: 0n,
      quotedUnits: null,
      createdAtMs: nowMs - 30_000,
      expiresAtMs: nowMs + 600_000,
      progress: null,
      progressAtMs: null,
      approvedAtMs: null,
      language: null,
      hasEmail: true,
      customerIpHash: null,
      customerCountry: null,
      ...change,
    }),
    view: exampleView,
  };
}

/** Returns the state changes of an example payment whose money has arrived. */
export function exampleChanges({ nowMs }: Pick<ExamplePayments, 'nowMs'>): readonly StateChange[] {
  return [
    { state: 'unpaid/ready', atMs: nowMs - 20_000 },
    { state: 'unpaid/processing', atMs: nowMs - 8_000 },
  ];
}

function blankPayment(nowMs: number): Omit<Payment, 'id'> {
  return {
    ...untouchedProgress,
    ...noOrder,
    accountId: exampleAccount.id,
    createdAtMs: nowMs - 60_000,
    amountCents: 26_10,
    currency: 'USD',
    originalAmountCents: 25_00,
    customerFeeCents: 1_10,
    passFeeToCustomer: true,
    feeBasisPoints: 250,
    provider: 'multi',
    callbackUrl: 'https://shop.example/hook',
    email: null,
    note: null,
    tokenFingerprint: '',
    chainId: 137,
    factory: '0x00000000000000000000000000000000000000Fa',
    payoutAddress: '0x00000000000000000000000000000000000000aa',
    feeWallet: '0x00000000000000000000000000000000000000Fe',
    depositAddress: '0x00000000000000000000000000000000000000dE',
    usdUnits: 26_100_000n,
    toleranceBasisPoints: 200,
    maxProviderFeeBasisPoints: 3_000,
    paidThresholdUnits: 24_000_000n,
  };
}

function exampleView(payment: Payment, events: ExampleEvents = {}): PaymentView {
  const deposits: Deposit[] = (events.deposits ?? []).map((units, index) => ({
    units,
    blockNumber: 10 + index,
    logIndex: 0,
    transactionHash: index === 0 ? DEPOSIT_HASH : `0x${`d${index + 1}`.repeat(32)}`,
  }));
  const releases: Release[] = (events.releases ?? []).map((units, index) => ({
    toMerchantUnits: units,
    feeUnits: 0n,
    blockNumber: 20 + index,
    logIndex: 0,
    transactionHash: RELEASE_HASH,
  }));
  return { payment, observations: { deposits, releases, finalBlock: 30 }, sessions: events.sessions ?? [] };
}
