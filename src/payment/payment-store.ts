import type { Address } from './address.ts';
import type { ChainObservations, Payment, PaymentChange, PaymentId, PaymentStatus } from './payment.ts';
import type { NewWebhook } from './payment-events.ts';
import type { ProviderSession, SessionProgress } from './provider-session.ts';

/** Lifetime of an Idempotency-Key's link to the payment it created. */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1000;

export interface IdempotencyRecord {
  readonly accountId: string;
  readonly key: string;
  /** SHA-256 of the normalized parameters. */
  readonly fingerprint: string;
  readonly createdAtMs: number;
}

/** The outcome of a creation; `replayed` names the payment of an earlier request with the same Idempotency-Key. */
export type CreateOutcome =
  | { readonly kind: 'created' }
  /** Nothing was created: the payout address is the deposit address of a payment. */
  | { readonly kind: 'reserved' }
  | { readonly kind: 'replayed'; readonly payment: Payment; readonly fingerprint: string };

/** A decision about one payment, made on its rows inside the transaction. Null changes nothing. */
export interface PaymentDecision {
  readonly change: PaymentChange;
  /** Written in the same transaction. At most one webhook per payment and event ever exists. */
  readonly webhooks?: readonly NewWebhook[];
  /** Queues a receipt for the customer in the same transaction; each payment has one at most. */
  readonly receipt?: true;
  /** The payment waits for money again: the expiry step has to check it again, even if it had passed it. */
  readonly revisitExpiry?: true;
}

/** All that a decision about a payment may depend on, read within one transaction. */
export interface PaymentView {
  readonly payment: Payment;
  readonly observations: ChainObservations;
  readonly sessions: readonly ProviderSession[];
}

/** Pure: called inside a transaction, must not wait or write. It may throw, which undoes the transaction. */
export type Decide = (view: PaymentView) => PaymentDecision | null;

export interface PaymentFilter {
  readonly accountId?: string;
  readonly status?: PaymentStatus;
}

/** Maximum addresses in one look-up, which takes about a millisecond with SQLite. */
export const MAXIMUM_OWNERS_ASKED = 500;

/** The payment that a deposit address belongs to. */
export type DepositOwner = Pick<Payment, 'id' | 'depositAddress'>;

export interface PaymentStore {
  /**
   * Durable when it resolves. With an idempotency record, at most one payment is ever created for
   * (account, key) within `IDEMPOTENCY_TTL_MS`, also under concurrent calls.
   */
  createPayment(payment: Payment, idempotency: IdempotencyRecord | null): Promise<CreateOutcome>;
  /** The payment an Idempotency-Key stands for, if it was used after `sinceMs`. */
  findIdempotent(
    accountId: string,
    key: string,
    sinceMs: number,
  ): Promise<{ payment: Payment; fingerprint: string } | null>;
  /** A payment of this account; another account's is null, like an unknown one. */
  findPayment(accountId: string, id: PaymentId): Promise<Payment | null>;
  /** A payment by its id alone: for the sender and the operator. */
  findPaymentById(id: PaymentId): Promise<Payment | null>;
  /** A payment with its observations and sessions, in one consistent read. */
  viewPayment(id: PaymentId): Promise<PaymentView | null>;
  /** Newest first; `before` is the last id of the page before. */
  listPayments(filter: PaymentFilter, before: PaymentId | null, limit: number): Promise<readonly Payment[]>;
  /** The newest payment, of which the state is not read: it may be one that does not exist. Null without payments. */
  findNewest(): Promise<Pick<Payment, 'id' | 'tokenFingerprint'> | null>;
  /** Payments of an account with this origin, newest first. */
  listByOrigin(accountId: string, origin: string, limit: number): Promise<readonly Payment[]>;
  /** Oldest first, ids above `after` and below `below` (both may be any text that sorts among ids). */
  listPaymentIds(after: string, below: string, limit: number): Promise<readonly PaymentId[]>;
  /**
   * Token fingerprints of the payments above this id that are neither completed nor canceled, and of those of any age whose
   * release or webhook is not done; in any order.
   */
  listOpenFingerprints(after: string): Promise<readonly string[]>;
  /** Reads, decides and writes in one transaction; returns the payment as it then is, null when unknown. */
  decidePayment(id: PaymentId, decide: Decide): Promise<Payment | null>;
  /** Stores a session of a payment and applies the decision in one transaction. */
  addSession(session: ProviderSession, decide: Decide): Promise<Payment | null>;
  /**
   * Records a provider's report of a session. False, and nothing is changed, when there is no such session, when it is
   * known to be delivered, or when this or a later report is recorded: webhooks arrive twice and out of order. Of two
   * reports with the same time the one further on counts.
   */
  recordSessionProgress(
    id: PaymentId,
    sessionId: string,
    progress: SessionProgress,
    atMs: number,
  ): Promise<boolean>;

  /**
   * The payments with these deposit addresses (`0x` and forty hex digits, any case), `MAXIMUM_OWNERS_ASKED` at most; in any
   * order. Sees every payment that was committed before the call.
   */
  findDepositOwners(addresses: readonly string[]): Promise<readonly DepositOwner[]>;
  /**
   * Deposit addresses of the payments above this id; null where there are more than `limit`. With `unpaidAmong` those of
   * unpaid ones, and null also where more payments than this are above it in all.
   */
  listDepositAddresses(
    after: string,
    limit: number,
    unpaidAmong?: number,
  ): Promise<readonly Address[] | null>;
}
