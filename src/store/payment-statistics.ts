import { SERVICE_LOG } from '../accounts/audit-entry.ts';
import type { PaymentSearchStore } from '../payment/payment-search-store.ts';
import type { PaidCount, PaymentSlot } from '../payment/payment-statistics.ts';
import { DAY_MS } from '../platform/time-zone.ts';
import { snakeCaseOf } from './columns.ts';
import { lock, type Rows, raw, run, type Script, type Scripts, sql } from './scripts.ts';
import { slotSums } from './tables.ts';

const STATISTICS_LOCK = 'payment statistics';

/** Creates a store of quarter-hourly and daily sums. Reads include changes that are not added to the sums yet. */
export function createPaymentStatistics({ read, write }: Scripts) {
  return {
    foldStatistics: write((limit) => foldStatistics(limit)),
    listSlots: read(function* (accountId, fromMs, beforeMs, stepMs) {
      const inTime = sql`start_ms >= ${fromMs} AND start_ms < ${beforeMs}`;
      // Casts for an integer division, because SQLite binds JavaScript numbers as floating point.
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

/** SQL that returns each change twice: for its account and for the whole service. */
const changesOfBoth = `(
  SELECT CASE WHEN own = 1 THEN account_id ELSE '${SERVICE_LOG}' END AS owner, uncounted_changes.*
  FROM uncounted_changes CROSS JOIN (SELECT 1 AS own UNION ALL SELECT 0) AS owners) AS changes`;

/** Adds changes to the sums. Deletes exactly the rows read, because PostgreSQL may commit a lower number later. */
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
