import type { Account, ApiKey } from '../../src/accounts/account.ts';
import { plainProfile } from '../../src/accounts/shop-profile.ts';
import type { Store } from '../../src/app/store/store.ts';
import { type Address, checksumAddress } from '../../src/payment/address.ts';
import { noOrder, type Payment, untouchedProgress } from '../../src/payment/payment.ts';
import type { NewWebhook } from '../../src/payment/payment-events.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import type { Decide, IdempotencyRecord } from '../../src/payment/payment-store.ts';
import type { ProviderSession } from '../../src/payment/provider-session.ts';
import type { RelayBatch } from '../../src/settlement/settlement-store.ts';
import type { WebhookResult } from '../../src/webhooks/send-webhook.ts';

/** What a conformance test works on; `store` leads to another one after `reopen`. */
export interface StoreContext {
  readonly store: Store;
  reopen(): Promise<void>;
  /** Runs SQL on the database behind the store's back, as an intruder or a careless operator would. */
  change(sql: string): Promise<void>;
}

export const ADDRESS = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
export const NOW_MS = Date.UTC(2026, 10, 20);
export const DAY_MS = 24 * 60 * 60 * 1000;
const createId = createPaymentIdGenerator(() => NOW_MS);
let lastNumber = 0;

export function newAccount(change: Partial<Account> = {}): Account {
  return {
    id: `account_${++lastNumber}`,
    name: 'Bücher & Söhne',
    email: null,
    feeBasisPoints: 250,
    wallet: null,
    features: ['card_checkout', 'fee_pass_through'],
    ...plainProfile,
    providers: null,
    suspended: false,
    createdAtMs: NOW_MS + lastNumber,
    ...change,
  };
}

export function newKey(accountId: string, change: Partial<ApiKey> = {}): ApiKey {
  const id = `key_${++lastNumber}`;
  return {
    id,
    accountId,
    name: 'shop',
    hash: `hash of ${id}`,
    lastCharacters: 'R8mQ',
    scopes: ['create', 'read'],
    callbackHost: null,
    createdAtMs: NOW_MS + lastNumber,
    revokedAtMs: null,
    lastUsedAtMs: null,
    ...change,
  };
}

/** A deposit address that no other payment has. */
function nextAddress(): Address {
  return checksumAddress((++lastNumber).toString(16).padStart(40, '0'));
}

export function newPayment(accountId: string, change: Partial<Payment> = {}): Payment {
  return {
    ...untouchedProgress,
    ...noOrder,
    id: createId(),
    accountId,
    createdAtMs: NOW_MS,
    amountCents: 10_257,
    currency: 'EUR',
    originalAmountCents: 10_000,
    customerFeeCents: 257,
    passFeeToCustomer: true,
    feeBasisPoints: 250,
    provider: 'multi',
    callbackUrl: 'https://shop.example.com/hook?order=1',
    email: 'customer@example.com',
    note: 'Order 1\n“thanks”',
    tokenFingerprint: 'abc_-1',
    chainId: 137,
    factory: ADDRESS,
    payoutAddress: ADDRESS,
    feeWallet: ADDRESS,
    depositAddress: nextAddress(),
    usdUnits: 111_801_300n,
    toleranceBasisPoints: 200,
    maxProviderFeeBasisPoints: 3_000,
    paidThresholdUnits: 104_000_001n,
    ...change,
  };
}

export async function withStore<T>(opening: Promise<Store>, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await opening;
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

export async function giveAccount(store: Store, change: Partial<Account> = {}): Promise<Account> {
  const account = newAccount(change);
  await store.accounts.createAccount(account);
  return account;
}

export async function givePayments(
  store: Store,
  count: number,
  change: Partial<Payment> = {},
): Promise<Payment[]> {
  const account = await giveAccount(store);
  const payments = Array.from({ length: count }, () => newPayment(account.id, change));
  await Promise.all(payments.map((payment) => store.payments.createPayment(payment, null)));
  return payments;
}

/** Stores one payment with an account of its own. */
export async function givePayment(store: Store, change: Partial<Payment> = {}): Promise<Payment> {
  const [payment] = await givePayments(store, 1, change);
  return payment as Payment;
}

export function newRecord(
  accountId: string,
  key: string,
  change: Partial<IdempotencyRecord> = {},
): IdempotencyRecord {
  return { accountId, key, fingerprint: 'of the parameters', createdAtMs: NOW_MS, ...change };
}

export function newSession(payment: Payment, change: Partial<ProviderSession> = {}): ProviderSession {
  const id = `session_${++lastNumber}`;
  return {
    id,
    paymentId: payment.id,
    provider: 'moonpay',
    redirectUrl: `https://pay.example.com/${id}`,
    providerReference: `reference ${id}`,
    chargedCents: payment.amountCents,
    receivedUnits: 0n,
    quotedUnits: 104_123_456n,
    createdAtMs: NOW_MS + lastNumber,
    expiresAtMs: NOW_MS + DAY_MS,
    progress: null,
    progressAtMs: null,
    approvedAtMs: null,
    language: null,
    hasEmail: true,
    customerIpHash: null,
    customerCountry: null,
    ...change,
  };
}

export function newBatch(
  payments: readonly Payment[],
  change: Partial<RelayBatch> = {},
): Omit<RelayBatch, 'id'> {
  return {
    relayer: ADDRESS,
    nonce: 7,
    kind: 'forward',
    rescueToken: null,
    gasLimit: 6_600_000n,
    paymentIds: payments.map((payment) => payment.id),
    attempts: [newAttempt()],
    createdAtMs: NOW_MS,
    ...change,
  };
}

export function newAttempt() {
  return {
    hash: `0x${(++lastNumber).toString(16).padStart(64, '0')}`,
    rawTransaction: '0x02f8',
    maxFeePerGas: 10n ** 20n,
    maxPriorityFeePerGas: 30_000_000_000n,
    signedAtMs: NOW_MS,
  };
}

export const webhook: NewWebhook = {
  event: 'payment.paid',
  fields: { payment_id: 'of the test', note: 'ünïcode "quoted"', paid: true, email: null },
};

/** The decision that makes a payment paid and queues its webhook. */
export const pay: Decide = ({ payment }) => ({
  change: { status: 'paid', forwardStatus: 'completed', paidAtMs: NOW_MS },
  webhooks: [webhook],
  ...(payment.email === null ? {} : { receipt: true }),
});

export const leave: Decide = () => null;

/** Decides as told, and remembers about whom it was asked. */
export function recordingDecide(decide: Decide = leave): Decide & { readonly ids: string[] } {
  const ids: string[] = [];
  return Object.assign(
    ((view) => {
      ids.push(view.payment.id);
      return decide(view);
    }) satisfies Decide,
    { ids },
  );
}

export const failedResult: WebhookResult = {
  outcome: 'failed',
  httpStatus: 302,
  reason: 'http_302',
  durationMs: 12.5,
  responseExcerpt: 'moved',
  body: '{"event":"payment.paid"}',
  signature: 'sha256=00',
  finishedAtMs: NOW_MS + 2,
};

/** `count` results of the same call, all asked for at once. */
export function atOnce<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}
