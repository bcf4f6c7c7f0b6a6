import type { HourlyRate, ListRates } from './base-currency.ts';
import type {
  Payment,
  PaymentId,
  PaymentReference,
  PaymentState,
  PaymentStatus,
  UnsettledStatus,
} from './payment.ts';
import type { PaymentQuery } from './payment-search.ts';
import type { PaidCount, PaymentSlot } from './payment-statistics.ts';
import type { ProviderSession } from './provider-session.ts';

export type LastSession = Pick<ProviderSession, 'provider' | 'progress' | 'expiresAtMs'>;

/** Payments of a list, newest first. */
export interface FoundPayments {
  readonly payments: readonly Payment[];
  /**
   * The start of the next page, null at the end. A page that is shorter than its limit and has a next one has read as
   * many payments as one call may, and found no more among them.
   */
  readonly next: PaymentId | null;
}

export interface StateChange {
  readonly atMs: number;
  readonly state: PaymentState;
}

/** Final sums of one payment's address, in 10⁻⁶ USDC units. */
export interface FinalSums {
  readonly depositedUnits: bigint;
  readonly forwardedUnits: bigint;
  readonly feeUnits: bigint;
}

/** A webhook that did not arrive, or whose delivery is unknown. */
export interface FailingWebhook {
  readonly accountId: string;
  readonly paymentId: PaymentId;
  readonly host: string;
  readonly status: 'failed' | 'blocked' | 'unknown';
  readonly reason: string | null;
  readonly finishedAtMs: number;
}

/** Whether the payment of a history is there, and whether it was ever paid. */
export interface PaymentHistorySummary extends Pick<Payment, 'id'> {
  readonly status: PaymentStatus | null;
  readonly wasPaid: boolean;
}

/**
 * What people ask of payments: lists, searches, statistics. All are exact with the commit of a change: what a task has
 * not yet put into the tables for searches and statistics is read from its queue.
 */
export interface PaymentSearchStore {
  /** Adds exchange rates, of which the first of an hour stays, and deletes those of hours before `deleteBeforeMs`. */
  recordRates(rates: readonly HourlyRate[], deleteBeforeMs: number): Promise<void>;
  readonly listRates: ListRates;

  /** Payments of one account, newest first; `before` is the `next` of the page before. */
  searchPayments(query: PaymentQuery, before: PaymentId | null, limit: number): Promise<FoundPayments>;
  /**
   * Payments in these forward statuses, newest first; of all accounts with null. Only those are read, however many
   * others are in progress.
   */
  listUnsettled(
    accountId: string | null,
    forwardStatuses: readonly UnsettledStatus[],
    limit: number,
  ): Promise<readonly Payment[]>;

  /** Moves payments from the queue of new ones into the index of terms; returns how many. */
  indexPayments(limit: number): Promise<number>;
  /** Folds changes of payments into the sums by quarter of an hour and by day; returns how many. */
  foldStatistics(limit: number): Promise<number>;

  /**
   * Sums for each step of so many milliseconds, from `fromMs` on and before `beforeMs`; steps in which nothing
   * happened are left out. All three are whole quarters of an hour. The id `service` stands for all accounts together.
   */
  listSlots(
    accountId: string,
    fromMs: number,
    beforeMs: number,
    stepMs: number,
  ): Promise<readonly PaymentSlot[]>;
  /** Counts of the days (of UTC) that begin from `fromMs` on and before `beforeMs`; `service` as for `listSlots`. */
  listPaidCounts(accountId: string, fromMs: number, beforeMs: number): Promise<readonly PaidCount[]>;

  /**
   * The last session that was started before each of these payments was paid, or at all while it is not: its provider
   * is the presumed recipient. A payment without a session is left out.
   */
  listLastSessions(
    accountId: string,
    ids: readonly PaymentId[],
  ): Promise<ReadonlyMap<PaymentId, LastSession>>;
  /** The journal's sums of these payments: final, and less what was taken back. */
  listFinalSums(ids: readonly PaymentId[]): Promise<ReadonlyMap<PaymentId, FinalSums>>;
  /** The last webhooks that were not delivered, newest first; of all accounts with null. */
  listFailingWebhooks(accountId: string | null, limit: number): Promise<readonly FailingWebhook[]>;

  /** The states a payment came into after its creation, in their order; those of before they were kept are missing. */
  listStateChanges(id: PaymentId): Promise<readonly StateChange[]>;
  /**
   * Payments that came into any state after their creation, by id, those above `after`; `status` is null where
   * there is no such payment.
   */
  listHistories(after: string, limit: number): Promise<readonly PaymentHistorySummary[]>;
  /** Writes another note, by whose words the payment is found at once; null when there is no such payment. */
  editNote(payment: PaymentReference, note: string | null): Promise<Payment | null>;
}
