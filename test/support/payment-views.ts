import { feeUnits } from '../../src/payment/fees-and-paid-threshold.ts';
import {
  type ChainObservations,
  type Deposit,
  noOrder,
  type Payment,
  type Release,
  untouchedProgress,
} from '../../src/payment/payment.ts';
import { fieldsOf, type PaymentState } from '../../src/payment/payment-states.ts';
import type { PaymentDecision, PaymentView } from '../../src/payment/payment-store.ts';

const ADDRESS = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
/** When these payments were created. */
export const CREATED_MS = Date.UTC(2026, 10, 20);
/** What makes them paid, to the unit. */
export const ENOUGH = 100n;

export function payment(state: PaymentState, change: Partial<Payment> = {}): Payment {
  return {
    ...untouchedProgress,
    ...noOrder,
    id: '019a9d5a-0000-7000-8000-000000000000',
    accountId: 'account',
    createdAtMs: CREATED_MS,
    amountCents: 1,
    currency: 'USD',
    originalAmountCents: null,
    customerFeeCents: null,
    passFeeToCustomer: false,
    feeBasisPoints: 250,
    provider: 'multi',
    callbackUrl: 'https://shop.example.com/hook',
    email: null,
    note: null,
    tokenFingerprint: 'abcdef',
    chainId: 137,
    factory: ADDRESS,
    payoutAddress: ADDRESS,
    feeWallet: ADDRESS,
    depositAddress: ADDRESS,
    usdUnits: 100n,
    toleranceBasisPoints: 200,
    maxProviderFeeBasisPoints: 3_000,
    paidThresholdUnits: ENOUGH,
    ...fieldsOf(state),
    ...change,
  };
}

/** One that is paid from a wallet; what it received is known from the moment it is paid. */
export function direct(state: PaymentState, change: Partial<Payment> = {}): Payment {
  const received = state.startsWith('paid')
    ? { receivedUnits: ENOUGH, txidIn: 'in 5', paidAtMs: CREATED_MS, releaseDueAtMs: null }
    : {};
  return payment(state, { provider: 'direct', ...received, ...change });
}

export function deposit(units: bigint, blockNumber: number): Deposit {
  return { units, blockNumber, logIndex: 0, transactionHash: `in ${blockNumber}` };
}

/** A release of these units in all, with the account's fee of 2.5 %. */
export function release(units: bigint, blockNumber: number): Release {
  const fee = feeUnits(units, 250);
  return {
    toMerchantUnits: units - fee,
    feeUnits: fee,
    blockNumber,
    logIndex: 1,
    transactionHash: `out ${blockNumber}`,
  };
}

/** Blocks up to 10 are final. */
export function observations(
  deposits: readonly Deposit[] = [],
  releases: readonly Release[] = [],
): ChainObservations {
  return { deposits, releases, finalBlock: 10 };
}

/** What the steps of a payment decide on. */
export function view(of: Payment, rows: ChainObservations = observations()): PaymentView {
  return { payment: of, observations: rows, sessions: [] };
}

/** The payment after a decision, or after none. */
export function applied(before: PaymentView, decision: PaymentDecision | null): Payment {
  return { ...before.payment, ...decision?.change };
}
