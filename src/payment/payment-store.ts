import type { Address } from './address.ts';
import type { ChainObservations, Payment, PaymentChange, PaymentId } from './payment.ts';
import type { NewWebhook } from './payment-events.ts';
import type { PaymentStatus } from './payment-states.ts';
import type { ProviderSession, SessionProgress } from './provider-session.ts';

export interface IdempotencyRecord {
  readonly accountId: string;
  readonly key: string;
  /** SHA-256 of the normalized parameters. */
  readonly fingerprint: string;
  readonly createdAtMs: number;
}

/** Outcome of a creation; `replayed` has the payment of an earlier request with the same Idempotency-Key. */
export type CreateOutcome =
  | { readonly kind: 'created' }
  /** Nothing was created, because the payout address is a payment's deposit address. */
  | { readonly kind: 'reserved' }
  | { readonly kind: 'replayed'; readonly payment: Payment; readonly fingerprint: string };

/** Decision about one payment, made from its rows within the transaction. Null means no change. */
export interface PaymentDecision {
  readonly change: PaymentChange;
  /** Written in the same transaction. At most one webhook exists per payment and event. */
  readonly webhooks?: readonly NewWebhook[];
  /** Events that were due before the database was restored: they may have been sent, and so may the receipt. */
  readonly dueBefore?: readonly NewWebhook['event'][];
  /** Queues the customer's receipt in the same transaction; at most one per payment. */
  readonly receipt?: true;
  /** The payment awaits money again, so the expiry step must revisit it. */
  readonly revisitExpiry?: true;
}

/** Data for a decision about a payment, read within one transaction. */
export interface PaymentView {
  readonly payment: Payment;
  readonly observations: ChainObservations;
  readonly sessions: readonly ProviderSession[];
}

/** Pure: called inside a transaction, must not wait or write. Throwing rolls back the transaction. */
export type Decide = (view: PaymentView) => PaymentDecision | null;

export interface PaymentFilter {
  readonly accountId?: string;
  readonly status?: PaymentStatus;
}

/** Maximum deposit addresses per lookup, so that it takes about a millisecond with SQLite. */
export const MAXIMUM_OWNERS_ASKED = 500;

export type DepositOwner = Pick<Payment, 'id' | 'depositAddress'>;

export interface PaymentStore {
  /**
   * Resolves once stored durably. Creates at most one payment per idempotency record within `IDEMPOTENCY_TTL_MS`.
   * Implemented by `createPaymentInSqlite` and `createPaymentInserts` (PostgreSQL).
   */
  createPayment(payment: Payment, idempotency: IdempotencyRecord | null): Promise<CreateOutcome>;
  /** Payment of an Idempotency-Key, if it was used after `sinceMs`. */
  findIdempotent(
    accountId: string,
    key: string,
    sinceMs: number,
  ): Promise<{ payment: Payment; fingerprint: string } | null>;
  /** Null for another account's payment, as for an unknown one. */
  findPayment(accountId: string, id: PaymentId): Promise<Payment | null>;
  findPaymentById(id: PaymentId): Promise<Payment | null>;
  viewPayment(id: PaymentId): Promise<PaymentView | null>;
  /** Newest first; `before` is the last id of the previous page. */
  listPayments(filter: PaymentFilter, before: PaymentId | null, limit: number): Promise<readonly Payment[]>;
  /** Newest payment, without its state, which may be invalid. Null if there are no payments. */
  findNewest(): Promise<Pick<Payment, 'id' | 'tokenFingerprint'> | null>;
  /** Newest first. */
  listByOrigin(accountId: string, origin: string, limit: number): Promise<readonly Payment[]>;
  /** Ids above `after` and below `below`, oldest first. Either bound may be any text that sorts among ids. */
  listPaymentIds(after: string, below: string, limit: number): Promise<readonly PaymentId[]>;
  /** Open payments past their own deadline, without a session that ends after `sessionEndMs`; oldest deadline first. */
  listPastDeadline(deadlineMs: number, sessionEndMs: number, limit: number): Promise<readonly PaymentId[]>;
  /** Token fingerprints of unfinished payments above this id, and of older ones with an open release or webhook. */
  listOpenFingerprints(after: string): Promise<readonly string[]>;
  /** Reads, decides and writes in one transaction; returns the resulting payment, or null if unknown. */
  decidePayment(id: PaymentId, decide: Decide): Promise<Payment | null>;
  /** Stores a session of a payment and applies the decision in one transaction. */
  addSession(session: ProviderSession, decide: Decide): Promise<Payment | null>;
  /**
   * Records a provider's report of a session. Returns false, without a change, if the session is unknown or delivered,
   * or if this or a later report is already recorded. Of two reports with the same time, the more advanced one counts.
   */
  recordSessionProgress(
    id: PaymentId,
    sessionId: string,
    progress: SessionProgress,
    atMs: number,
  ): Promise<boolean>;

  /** Payments of at most `MAXIMUM_OWNERS_ASKED` deposit addresses (any case) that were committed before the call. */
  findDepositOwners(addresses: readonly string[]): Promise<readonly DepositOwner[]>;
  /** Deposit addresses above an id; null above `limit`. `unpaidAmong`: of unpaid payments; null above so many. */
  listDepositAddresses(
    after: string,
    limit: number,
    unpaidAmong?: number,
  ): Promise<readonly Address[] | null>;
}
