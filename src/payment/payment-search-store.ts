import type { HourlyRate, ListRates } from './base-currency.ts';
import type { Payment, PaymentId, PaymentReference } from './payment.ts';
import type { PaymentQuery } from './payment-search.ts';
import type { PaymentState, PaymentStatus, UnsettledStatus } from './payment-states.ts';
import type { PaidCount, PaymentSlot } from './payment-statistics.ts';
import type { ProviderSession } from './provider-session.ts';

export type LastSession = Pick<ProviderSession, 'provider' | 'progress' | 'expiresAtMs'>;

export interface FoundPayments {
  readonly payments: readonly Payment[];
  /** Start of the next page; null at the end. Even a page with fewer payments than the limit may have a next page. */
  readonly next: PaymentId | null;
}

export interface StateChange {
  readonly atMs: number;
  readonly state: PaymentState;
}

/** Sums of final transfers at one payment's deposit address, in 10⁻⁶ USDC units. */
export interface FinalSums {
  readonly depositedUnits: bigint;
  readonly forwardedUnits: bigint;
  readonly feeUnits: bigint;
}

/** Webhook that was not delivered, or whose delivery is unknown. */
export interface FailingWebhook {
  readonly accountId: string;
  readonly paymentId: PaymentId;
  readonly host: string;
  readonly status: 'failed' | 'blocked' | 'unknown';
  readonly reason: string | null;
  readonly finishedAtMs: number;
}

/** Summary of a payment's history. `status` is null if the payment row is missing. */
export interface PaymentHistorySummary extends Pick<Payment, 'id'> {
  readonly status: PaymentStatus | null;
  readonly wasPaid: boolean;
}

/** Lists, searches and statistics of payments. Results include all committed changes, even those not indexed yet. */
export interface PaymentSearchStore {
  /** Adds exchange rates, keeping the first of each hour. Deletes the rates of hours before `deleteBeforeMs`. */
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

  /** Adds at most `limit` queued payments to the search index. Returns how many. */
  indexPayments(limit: number): Promise<number>;
  /** Adds at most `limit` changes of payments to the sums by quarter hour and by day. Returns how many. */
  foldStatistics(limit: number): Promise<number>;

  /** Returns sums per non-empty `stepMs` step, a multiple of a quarter hour. Account `service` covers all accounts. */
  listSlots(
    accountId: string,
    fromMs: number,
    beforeMs: number,
    stepMs: number,
  ): Promise<readonly PaymentSlot[]>;
  /** Returns counts of UTC days from `fromMs` up to but excluding `beforeMs`. Account `service` covers all accounts. */
  listPaidCounts(accountId: string, fromMs: number, beforeMs: number): Promise<readonly PaidCount[]>;

  /** Returns each payment's presumed paying session: the last, or for a paid payment, the last before it was paid. */
  listLastSessions(
    accountId: string,
    ids: readonly PaymentId[],
  ): Promise<ReadonlyMap<PaymentId, LastSession>>;
  /** Returns sums of the journal's entries, with reversed amounts subtracted. */
  listFinalSums(ids: readonly PaymentId[]): Promise<ReadonlyMap<PaymentId, FinalSums>>;
  /** Returns finished webhooks without a confirmed delivery, newest first; of all accounts if `accountId` is null. */
  listFailingWebhooks(accountId: string | null, limit: number): Promise<readonly FailingWebhook[]>;

  /** Returns a payment's recorded state changes in order. The initial state is not recorded. */
  listStateChanges(id: PaymentId): Promise<readonly StateChange[]>;
  /** Returns histories of payments that changed state, in id order, starting after the id `after`. */
  listHistories(after: string, limit: number): Promise<readonly PaymentHistorySummary[]>;
  /** Replaces the note. Searches find its words immediately. Returns null for an unknown payment. */
  editNote(payment: PaymentReference, note: string | null): Promise<Payment | null>;
}
