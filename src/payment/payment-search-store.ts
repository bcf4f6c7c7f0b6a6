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

/** Webhook that did not arrive, or whose delivery is unknown. */
export interface FailingWebhook {
  readonly accountId: string;
  readonly paymentId: PaymentId;
  readonly host: string;
  readonly status: 'failed' | 'blocked' | 'unknown';
  readonly reason: string | null;
  readonly finishedAtMs: number;
}

/** Summary of a payment's history. `status` is null if the payment itself is missing. */
export interface PaymentHistorySummary extends Pick<Payment, 'id'> {
  readonly status: PaymentStatus | null;
  readonly wasPaid: boolean;
}

/** Lists, searches and statistics of payments. Every result includes all committed changes. */
export interface PaymentSearchStore {
  /** Adds exchange rates, keeping the first of each hour, and deletes those of hours before `deleteBeforeMs`. */
  recordRates(rates: readonly HourlyRate[], deleteBeforeMs: number): Promise<void>;
  readonly listRates: ListRates;

  /** Returns an account's payments, newest first. `before` is the `next` of the previous page. */
  searchPayments(query: PaymentQuery, before: PaymentId | null, limit: number): Promise<FoundPayments>;
  /** Returns payments in these forward statuses, newest first; of all accounts if `accountId` is null. */
  listUnsettled(
    accountId: string | null,
    forwardStatuses: readonly UnsettledStatus[],
    limit: number,
  ): Promise<readonly Payment[]>;

  /** Moves payments from the queue of new ones into the search index. Returns how many. */
  indexPayments(limit: number): Promise<number>;
  /** Adds changes of payments to the sums by quarter hour and by day. Returns how many. */
  foldStatistics(limit: number): Promise<number>;

  /** Returns sums per non-empty `stepMs` step. Times are multiples of a quarter hour. `service` covers all accounts. */
  listSlots(
    accountId: string,
    fromMs: number,
    beforeMs: number,
    stepMs: number,
  ): Promise<readonly PaymentSlot[]>;
  /** Returns counts of UTC days from `fromMs` (inclusive) to `beforeMs` (exclusive). `service` covers all accounts. */
  listPaidCounts(accountId: string, fromMs: number, beforeMs: number): Promise<readonly PaidCount[]>;

  /** Returns each payment's session that presumably took the money: the last one, or the last before it was paid. */
  listLastSessions(
    accountId: string,
    ids: readonly PaymentId[],
  ): Promise<ReadonlyMap<PaymentId, LastSession>>;
  /** Returns the journal's final sums of these payments, less reversed amounts. */
  listFinalSums(ids: readonly PaymentId[]): Promise<ReadonlyMap<PaymentId, FinalSums>>;
  /** Returns the last webhooks without a confirmed delivery, newest first; of all accounts if `accountId` is null. */
  listFailingWebhooks(accountId: string | null, limit: number): Promise<readonly FailingWebhook[]>;

  /** Returns a payment's states after its creation, in order, without those from before history was recorded. */
  listStateChanges(id: PaymentId): Promise<readonly StateChange[]>;
  /** Returns payments above `after` that changed state after creation, by id. `status` is null for missing payments. */
  listHistories(after: string, limit: number): Promise<readonly PaymentHistorySummary[]>;
  /** Replaces the note, whose words the search finds immediately. Returns null for an unknown payment. */
  editNote(payment: PaymentReference, note: string | null): Promise<Payment | null>;
}
