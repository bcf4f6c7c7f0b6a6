import type { HourlyRate, ListRates } from './base-currency.ts';
import type { Payment, PaymentId, PaymentReference } from './payment.ts';
import type { PaymentQuery } from './payment-search.ts';
import type { PaymentState, PaymentStatus, UnsettledStatus } from './payment-states.ts';
import type { PaidCount, PaymentSlot } from './payment-statistics.ts';
import type { ProviderSession } from './provider-session.ts';

export type LastSession = Pick<ProviderSession, 'provider' | 'progress' | 'expiresAtMs'>;

export interface FoundPayments {
  readonly payments: readonly Payment[];
  /** Start of the next page; null at the end. Even a short page may have a next one. */
  readonly next: PaymentId | null;
}

export interface StateChange {
  readonly atMs: number;
  readonly state: PaymentState;
}

/** Final sums at one payment's deposit address, in 10⁻⁶ USDC units. */
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

/** `status` is null if the payment itself is missing. */
export interface PaymentHistorySummary extends Pick<Payment, 'id'> {
  readonly status: PaymentStatus | null;
  readonly wasPaid: boolean;
}

/** Lists, searches and statistics of payments. Every result includes all committed changes. */
export interface PaymentSearchStore {
  /** Adds exchange rates, keeping the first of each hour, and deletes those of hours before `deleteBeforeMs`. */
  recordRates(rates: readonly HourlyRate[], deleteBeforeMs: number): Promise<void>;
  readonly listRates: ListRates;

  /** Payments of one account, newest first; `before` is the `next` of the previous page. */
  searchPayments(query: PaymentQuery, before: PaymentId | null, limit: number): Promise<FoundPayments>;
  /** Payments in these forward statuses, newest first; of all accounts if `accountId` is null. */
  listUnsettled(
    accountId: string | null,
    forwardStatuses: readonly UnsettledStatus[],
    limit: number,
  ): Promise<readonly Payment[]>;

  /** Moves payments from the queue of new ones into the index of terms; returns how many. */
  indexPayments(limit: number): Promise<number>;
  /** Adds changes of payments to the sums by quarter hour and by day; returns how many. */
  foldStatistics(limit: number): Promise<number>;

  /** Sums for each non-empty step of `stepMs`; times are multiples of a quarter hour. `service` covers all accounts. */
  listSlots(
    accountId: string,
    fromMs: number,
    beforeMs: number,
    stepMs: number,
  ): Promise<readonly PaymentSlot[]>;
  /** Counts of the UTC days from `fromMs` (inclusive) to `beforeMs` (exclusive); `service` as for `listSlots`. */
  listPaidCounts(accountId: string, fromMs: number, beforeMs: number): Promise<readonly PaidCount[]>;

  /** For each payment, the session that presumably took the money: the last one, or the last before it was paid. */
  listLastSessions(
    accountId: string,
    ids: readonly PaymentId[],
  ): Promise<ReadonlyMap<PaymentId, LastSession>>;
  /** The journal's final sums of these payments, less reversed amounts. */
  listFinalSums(ids: readonly PaymentId[]): Promise<ReadonlyMap<PaymentId, FinalSums>>;
  /** The last webhooks to end without a confirmed delivery, newest first; of all accounts if `accountId` is null. */
  listFailingWebhooks(accountId: string | null, limit: number): Promise<readonly FailingWebhook[]>;

  /** States of a payment after its creation, in order; those before history was recorded are missing. */
  listStateChanges(id: PaymentId): Promise<readonly StateChange[]>;
  /** Payments that changed state after creation, in id order above `after`; `status` is null for missing payments. */
  listHistories(after: string, limit: number): Promise<readonly PaymentHistorySummary[]>;
  /** Replaces the note, whose words the search finds immediately; null for an unknown payment. */
  editNote(payment: PaymentReference, note: string | null): Promise<Payment | null>;
}
