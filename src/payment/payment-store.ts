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

/** Outcome of a creation. `replayed` has the payment of an earlier request with the same Idempotency-Key. */
export type CreateOutcome =
  | { readonly kind: 'created' }
  /** Nothing was created, because the payout address is a payment's deposit address. */
  | { readonly kind: 'reserved' }
  | { readonly kind: 'replayed'; readonly payment: Payment; readonly fingerprint: string };

/** Decision about one payment, made from its rows within the transaction. */
export interface PaymentDecision {
  readonly change: PaymentChange;
  /** Written in the same transaction. At most one webhook exists per payment and event. */
  readonly webhooks?: readonly NewWebhook[];
  /** Events that were due before the database was restored. They, and the receipt, may have been sent already. */
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

/** Pure function called inside a transaction. Must not wait or write. Null means no change. Throwing rolls back. */
export type Decide = (view: PaymentView) => PaymentDecision | null;

export interface PaymentFilter {
  readonly accountId?: string;
  readonly status?: PaymentStatus;
}

/** Maximum deposit addresses per lookup, so that a lookup takes about a millisecond with SQLite. */
export const MAXIMUM_OWNERS_ASKED = 500;

export type DepositOwner = Pick<Payment, 'id' | 'depositAddress'>;

export interface PaymentStore {
  /**
   * Resolves once stored durably. Creates at most one payment per idempotency record within `IDEMPOTENCY_TTL_MS`.
   * Implemented by `createPaymentInSqlite` and `createPaymentInserts` (PostgreSQL).
   */
  createPayment(payment: Payment, idempotency: IdempotencyRecord | null): Promise<CreateOutcome>;
  /** Returns the payment of an Idempotency-Key that was used after `sinceMs`, or null. */
  findIdempotent(
    accountId: string,
    key: string,
    sinceMs: number,
  ): Promise<{ payment: Payment; fingerprint: string } | null>;
  /** Returns null for another account's payment, as for an unknown one. */
  findPayment(accountId: string, id: PaymentId): Promise<Payment | null>;
  findPaymentById(id: PaymentId): Promise<Payment | null>;
  viewPayment(id: PaymentId): Promise<PaymentView | null>;
  /** Returns payments, newest first. `before` is the last id of the previous page. */
  listPayments(filter: PaymentFilter, before: PaymentId | null, limit: number): Promise<readonly Payment[]>;
  /** Returns the newest payment without its state, which may be invalid; null if there are no payments. */
  findNewest(): Promise<Pick<Payment, 'id' | 'tokenFingerprint'> | null>;
  /** Returns payments, newest first. */
  listByOrigin(accountId: string, origin: string, limit: number): Promise<readonly Payment[]>;
  /** Returns ids above `after` and below `below`, oldest first. The bounds may be any text that sorts among ids. */
  listPaymentIds(after: string, below: string, limit: number): Promise<readonly PaymentId[]>;
  /** Returns open payments past their own deadline, oldest first, without a session that ends after `sessionEndMs`. */
  listPastDeadline(deadlineMs: number, sessionEndMs: number, limit: number): Promise<readonly PaymentId[]>;
  /** Returns fingerprints of unfinished payments above this id, and of older ones with an open release or webhook. */
  listOpenFingerprints(after: string): Promise<readonly string[]>;
  /** Reads, decides and writes in one transaction. Returns the resulting payment, or null for an unknown one. */
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

  /** Returns payments of up to `MAXIMUM_OWNERS_ASKED` addresses (any case) that were committed before the call. */
  findDepositOwners(addresses: readonly string[]): Promise<readonly DepositOwner[]>;
  /** Returns addresses of payments above an id; null above `limit`. `unpaidAmong`: unpaid only; null above so many. */
  listDepositAddresses(
    after: string,
    limit: number,
    unpaidAmong?: number,
  ): Promise<readonly Address[] | null>;
}
