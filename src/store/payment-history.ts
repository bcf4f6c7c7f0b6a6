import { SERVICE_LOG } from '../accounts/audit-entry.ts';
import type { PaymentId } from '../payment/payment.ts';
import type {
  FailingWebhook,
  FinalSums,
  PaymentHistorySummary,
  PaymentSearchStore,
  StateChange,
} from '../payment/payment-search-store.ts';
import { type PaymentState, paymentStates } from '../payment/payment-states.ts';
import { DAY_MS, type PaidCount, type PaymentSlot } from '../payment/payment-statistics.ts';
import type { JournalEntry, JournalEntryKind } from '../settlement/journal.ts';
import { listPaymentSums } from './observations.ts';
import { replaceTerms } from './payment-search.ts';
import { selectPayment } from './payments.ts';
import {
  checkedLimit,
  lock,
  lockPayments,
  type Rows,
  raw,
  run,
  type Script,
  type Scripts,
  snakeCaseOf,
  sql,
} from './scripts.ts';
import { hourlyRateTable, slotSums } from './tables.ts';

/** Reads of an account's history, and edits of a payment's note. */
export function createPaymentHistory({ read, write }: Scripts) {
  return {
    listStateChanges: read(function* (id) {
      const rows = yield* run`
        SELECT at_ms AS "atMs", state FROM state_changes
        WHERE payment_id = ${id} ORDER BY at_ms, state`;
      return rows.map(stateChangeOf);
    }),
    listHistories: read(function* (after, limit) {
      const rows = yield* run`
        SELECT payment_id AS id, was_paid AS "wasPaid",
          (SELECT status FROM payments WHERE payments.id = histories.payment_id) AS status
        FROM (SELECT payment_id, max(CASE WHEN state LIKE 'paid/%' THEN 1 ELSE 0 END) AS was_paid
          FROM state_changes WHERE payment_id > ${after}
          GROUP BY payment_id ORDER BY payment_id LIMIT ${checkedLimit(limit)}
        ) AS histories ORDER BY payment_id`;
      return rows.map(
        (row) => ({ ...row, wasPaid: Number(row['wasPaid']) === 1 }) as unknown as PaymentHistorySummary,
      );
    }),
    listFinalSums: read(function* (ids) {
      if (ids.length > 0) checkedLimit(ids.length);
      return sumsOf(yield* listPaymentSums(ids));
    }),
    listFailingWebhooks: read(function* (accountId, limit) {
      const ofAccount = accountId === null ? raw('') : sql`AND account_id = ${accountId}`;
      const rows = yield* run`
        SELECT account_id AS "accountId", payment_id AS "paymentId", host, status, reason,
          finished_at_ms AS "finishedAtMs" FROM webhooks
        WHERE status IN ('failed', 'blocked', 'unknown') ${ofAccount}
        ORDER BY finished_at_ms DESC LIMIT ${checkedLimit(limit)}`;
      return rows.map((row) => ({ ...row }) as unknown as FailingWebhook);
    }),
    editNote: write(function* ({ accountId, id }, note) {
      yield* lockPayments([id]);
      const before = yield* selectPayment(id);
      if (before?.accountId !== accountId) return null;
      yield* run`UPDATE payments SET note = ${note} WHERE id = ${id}`;
      const after = { ...before, note };
      yield* replaceTerms(before, after);
      return after;
    }),
    recordRates: write(function* (rates, deleteBeforeMs) {
      for (const rate of rates)
        yield* hourlyRateTable.insert(rate, 'ON CONFLICT (currency, hour_ms) DO NOTHING');
      yield* run`DELETE FROM hourly_rates WHERE hour_ms < ${deleteBeforeMs}`;
    }),
    listRates: read(
      (currency, firstMs, lastMs) => hourlyRateTable.select`
        WHERE currency = ${currency} AND hour_ms >= ${firstMs} AND hour_ms <= ${lastMs}`,
    ),
  } satisfies Partial<PaymentSearchStore>;
}

const sumFields = {
  deposited: 'depositedUnits',
  forwarded: 'forwardedUnits',
  fee: 'feeUnits',
} as const satisfies Record<Exclude<JournalEntryKind, 'rescued'>, keyof FinalSums>;

/** Sums in JavaScript, because a token can move any 256-bit number. */
function sumsOf(
  entries: readonly Pick<JournalEntry, 'paymentId' | 'kind' | 'units'>[],
): Map<PaymentId, FinalSums> {
  const sums = new Map<PaymentId, FinalSums>();
  for (const { paymentId: id, kind, units } of entries) {
    if (kind === 'rescued') continue;
    const field = sumFields[kind];
    const before = sums.get(id) ?? { depositedUnits: 0n, forwardedUnits: 0n, feeUnits: 0n };
    sums.set(id, { ...before, [field]: before[field] + units });
  }
  return sums;
}

function stateChangeOf(row: Readonly<Record<string, unknown>>): StateChange {
  const state = String(row['state']);
  if (!Object.hasOwn(paymentStates, state)) throw new Error(`a payment came into the unknown state ${state}`);
  return { atMs: Number(row['atMs']), state: state as PaymentState };
}

/** Lock of the processes that fold statistics. */
const STATISTICS_LOCK = 'payment statistics';

/**
 * Payment statistics: sums per quarter of an hour and per day, plus the changes not folded into them yet. One statement
 * reads both, so that each change counts once.
 */
export function createPaymentStatistics({ read, write }: Scripts) {
  return {
    foldStatistics: write((limit) => foldStatistics(checkedLimit(limit))),
    listSlots: read(function* (accountId, fromMs, beforeMs, stepMs) {
      const inTime = sql`start_ms >= ${fromMs} AND start_ms < ${beforeMs}`;
      // SQLite treats JavaScript numbers as floating point, and their quotients too.
      const step = sql`(start_ms - CAST(${fromMs} AS bigint)) / CAST(${stepMs} AS bigint)`;
      const rows = yield* run`
        SELECT ${step} AS step, currency, ${raw(sumsAsFields)} FROM (
          SELECT start_ms, currency, ${raw(slotNames)} FROM payment_buckets
          WHERE account_id = ${accountId} AND ${inTime}
          UNION ALL SELECT start_ms, currency, ${raw(slotNames)} FROM uncounted_changes
          WHERE ${isOf(accountId)} AND ${inTime}) AS counted
        GROUP BY step, currency ORDER BY step, currency`;
      return rows.map((row) => slotOfRow(row, fromMs, stepMs));
    }),
    listPaidCounts: read(function* (accountId, fromMs, beforeMs) {
      const inTime = sql`day_ms >= ${fromMs} AND day_ms < ${beforeMs}`;
      const rows = yield* run`
        SELECT provider, settle_class AS "settleClass", sum(paid) AS paid FROM (
          SELECT provider, settle_class, paid FROM paid_days WHERE account_id = ${accountId} AND ${inTime}
          UNION ALL SELECT provider, settle_class, paid FROM (
            SELECT account_id, ${raw(dayOfChange)} AS day_ms, provider, settle_class, paid
            FROM uncounted_changes WHERE paid > 0) AS uncounted
          WHERE ${isOf(accountId)} AND ${inTime}) AS counted
        GROUP BY provider, settle_class ORDER BY provider, settle_class`;
      return rows.map((row) => ({ ...row, paid: Number(row['paid']) }) as unknown as PaidCount);
    }),
  } satisfies Partial<PaymentSearchStore>;
}

const slotColumns = slotSums.map((field) => snakeCaseOf(field));
const slotNames = slotColumns.join(', ');
const sumsAsFields = slotSums.map((field) => `sum(${snakeCaseOf(field)}) AS "${field}"`).join(', ');
const dayOfChange = `start_ms - start_ms % ${DAY_MS}`;

function isOf(accountId: string) {
  return accountId === SERVICE_LOG ? raw('true') : sql`account_id = ${accountId}`;
}

function slotOfRow({ step, currency, ...sums }: Rows[number], fromMs: number, stepMs: number): PaymentSlot {
  const numbers = Object.entries(sums).map(([field, sum]) => [field, Number(sum)]);
  return { startMs: fromMs + Number(step) * stepMs, currency, ...Object.fromEntries(numbers) } as PaymentSlot;
}

/** Each change twice: for its account and for the whole service. */
const changesOfBoth = `(
  SELECT CASE WHEN own = 1 THEN account_id ELSE '${SERVICE_LOG}' END AS owner, uncounted_changes.*
  FROM uncounted_changes CROSS JOIN (SELECT 1 AS own UNION ALL SELECT 0) AS owners) AS changes`;

/** Selects rows by number, not by range: PostgreSQL may commit a lower number later. */
function* foldStatistics(limit: number): Script<number> {
  yield* lock(STATISTICS_LOCK);
  const found = yield* run`SELECT "row" FROM uncounted_changes ORDER BY "row" LIMIT ${limit}`;
  const rows = found.map(({ row }) => Number(row));
  if (rows.length === 0) return 0;
  yield* run`
    INSERT INTO payment_buckets (account_id, start_ms, currency, ${raw(slotNames)})
    SELECT owner, start_ms, currency, ${raw(sumsAsFields)} FROM ${raw(changesOfBoth)}
    WHERE "row" = ANY(${rows}) GROUP BY owner, start_ms, currency
    ON CONFLICT (account_id, start_ms, currency) DO UPDATE SET ${raw(additionsTo('payment_buckets', slotColumns))}`;
  yield* run`
    INSERT INTO paid_days (account_id, day_ms, provider, settle_class, paid)
    SELECT owner, ${raw(dayOfChange)}, provider, settle_class, sum(paid) FROM ${raw(changesOfBoth)}
    WHERE "row" = ANY(${rows}) AND paid > 0 GROUP BY owner, ${raw(dayOfChange)}, provider, settle_class
    ON CONFLICT (account_id, day_ms, provider, settle_class) DO UPDATE SET ${raw(additionsTo('paid_days', ['paid']))}`;
  yield* run`DELETE FROM uncounted_changes WHERE "row" = ANY(${rows})`;
  return rows.length;
}

function additionsTo(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ');
}
