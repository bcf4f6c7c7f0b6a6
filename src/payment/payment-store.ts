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

/** Outcome of a creation. `replayed` returns the payment of an earlier request with the same Idempotency-Key. */
export type CreateOutcome =
  | { readonly kind: 'created' }
  /** No payment was created, because the payout address is a payment's deposit address. */
  | { readonly kind: 'reserved' }
  | { readonly kind: 'replayed'; readonly payment: Payment; readonly fingerprint: string };

/** Changes to one payment, decided from its rows within a transaction. */
export interface PaymentDecision {
  readonly change: PaymentChange;
  /** Webhooks to queue in the same transaction. At most one webhook exists per payment and event. */
  readonly webhooks?: readonly NewWebhook[];
  /** Events due before the database was restored. Their webhooks and the receipt may have been sent already. */
  readonly dueBefore?: readonly NewWebhook['event'][];
  /** Set to queue the customer's receipt in the same transaction. At most one receipt exists per payment. */
  readonly receipt?: true;
  /** Set if the payment awaits money again, so that the expiry step must revisit it. */
  readonly revisitExpiry?: true;
}

/** Data for a decision about a payment, read within one transaction. */
export interface PaymentView {
  readonly payment: Payment;
  readonly observations: ChainObservations;
  readonly sessions: readonly ProviderSession[];
}

/** Pure, synchronous function called inside a transaction. Returns null for no change. Throwing rolls back. */
export type Decide = (view: PaymentView) => PaymentDecision | null;

export interface PaymentFilter {
  readonly accountId?: string;
  readonly status?: PaymentStatus;
}

/** Maximum addresses per `findDepositOwners`, which then takes about a millisecond with SQLite. */
export const MAXIMUM_OWNERS_ASKED = 500;

export type DepositOwner = Pick<Payment, 'id' | 'depositAddress'>;

export interface PaymentStore {
  /**
   * Resolves once the payment is committed. PostgreSQL needs `synchronous_commit = on` for the commit to be durable.
   * Creates at most one payment per key within `IDEMPOTENCY_TTL_MS`.
   * Implemented by `createPaymentInSqlite` and `createPaymentInserts` (PostgreSQL).
   */
  createPayment(payment: Payment, idempotency: IdempotencyRecord | null): Promise<CreateOutcome>;
  /** Returns the payment of an Idempotency-Key that was used after `sinceMs`, or null. */
  findIdempotent(
    accountId: string,
    key: string,
    sinceMs: number,
  ): Promise<{ payment: Payment; fingerprint: string } | null>;
  /** Returns null for an unknown payment, and also for another account's. */
  findPayment(accountId: string, id: PaymentId): Promise<Payment | null>;
  findPaymentById(id: PaymentId): Promise<Payment | null>;
  viewPayment(id: PaymentId): Promise<PaymentView | null>;
  /** Returns payments, newest first. `before` is the last id of the previous page. */
  listPayments(filter: PaymentFilter, before: PaymentId | null, limit: number): Promise<readonly Payment[]>;
  /** Returns the newest payment without reading its state, which may be invalid; null without payments. */
  findNewest(): Promise<Pick<Payment, 'id' | 'tokenFingerprint'> | null>;
  /** Returns the account's payments with this origin, newest first. */
  listByOrigin(accountId: string, origin: string, limit: number): Promise<readonly Payment[]>;
  /** Returns ids above `after` and below `below`, oldest first. The bounds may be any text that sorts among ids. */
  listPaymentIds(after: string, below: string, limit: number): Promise<readonly PaymentId[]>;
  /** Returns open payments whose own deadline has passed, earliest first, with no session beyond `sessionEndMs`. */
  listPastDeadline(deadlineMs: number, sessionEndMs: number, limit: number): Promise<readonly PaymentId[]>;
  /** Returns fingerprints of open payments above this id, and of all with an unsettled release or pending webhook. */
  listOpenFingerprints(after: string): Promise<readonly string[]>;
  /** Reads, decides and writes in one transaction. Returns the resulting payment; null if the id is unknown. */
  decidePayment(id: PaymentId, decide: Decide): Promise<Payment | null>;
  /** Stores a session and decides on its payment in one transaction. Returns null if the payment is unknown. */
  addSession(session: ProviderSession, decide: Decide): Promise<Payment | null>;
  /**
   * Records a provider's report on a session. Returns false and changes nothing if the session is unknown or delivered,
   * or if this or a later report is already recorded. Of two reports with the same time, the more advanced one counts.
   */
  recordSessionProgress(
    id: PaymentId,
    sessionId: string,
    progress: SessionProgress,
    atMs: number,
  ): Promise<boolean>;

  /** Returns committed payments that have these addresses (any letter case, at most `MAXIMUM_OWNERS_ASKED`). */
  findDepositOwners(addresses: readonly string[]): Promise<readonly DepositOwner[]>;
  /** Lists addresses of payments after an id; null if over `limit`. `unpaidAmong`: unpaid only, null if more follow. */
  listDepositAddresses(
    after: string,
    limit: number,
    unpaidAmong?: number,
  ): Promise<readonly Address[] | null>;
}
