import type { Payment } from '../domain/payment.ts';
import { firstIdAtMs, type PaymentId } from '../domain/payment-id.ts';
import { numberOfTerm, type PaymentQuery } from '../domain/payment-search.ts';
import { unsettledStatuses } from '../domain/payment-states.ts';
import { paymentsOfRows, qualifiedPaymentColumns } from './payment-rows.ts';
import { run, runForOne, type Script, type ScriptValue } from './scripts.ts';
import { AFTER_ALL_IDS } from './store.ts';

/** Number of payments read before other work gets its turn. */
export const WINDOW = 1_000;

/**
 * Where the ids of a list's candidates come from, newest first: SQL with `?1` the account, `?2` the id to begin
 * below, `?3` the lowest id, and its own values after those.
 */
export interface Source {
  readonly sql: string;
  readonly values: readonly ScriptValue[];
}

const within = (id: string) => `${id} < ?2 AND ${id} >= ?3`;
const windowOf = (select: string, id = 'id') =>
  `SELECT ${id} AS id FROM ${select} AND ${within(id)} ORDER BY ${id} DESC LIMIT ${WINDOW}`;

/** Candidates by the primary key, where that begins with the account. */
export const byPrimaryKey: Source = { sql: windowOf('payments WHERE account_id = ?1'), values: [] };
/** Candidates by the table that is filled a moment later. */
export const byAccountPayments: Source = {
  sql: windowOf('account_payments WHERE account_id = ?1', 'payment_id'),
  values: [],
};
/** The newest payments of all accounts, for what is not in that table yet. */
export const newestOfAll: Source = { sql: windowOf("payments WHERE ?1 <> ''"), values: [] };

/** The index's own condition, because SQLite matches its text. No IN list, because that costs each insert more. */
const unsettled = `(${unsettledStatuses.map((status) => `forward_status = '${status}'`).join(' OR ')})`;
export const unsettledSql = `SELECT id FROM payments WHERE ${unsettled}`;
export const byUnsettled: Source = {
  sql: windowOf(`payments WHERE account_id = ?1 AND ${unsettled}`),
  values: [],
};

/** Partially paid and overpaid, which few payments are. */
export const byMismatch: Source = {
  sql: windowOf('payments WHERE account_id = ?1 AND amount_mismatch IS NOT NULL'),
  values: [],
};

export function byId(id: PaymentId): Source {
  return { sql: windowOf('payments WHERE account_id = ?1 AND id = ?4'), values: [id] };
}

export function byTransaction(hash: string): Source {
  const found = `(
    SELECT payment_id AS id FROM deposits WHERE transaction_hash = ?4
    UNION SELECT payment_id FROM releases WHERE transaction_hash = ?4) AS found`;
  return { sql: windowOf(`${found} WHERE ?1 <> ''`), values: [hash] };
}

/** Payments with any one of these terms. */
export function byTerms(accountId: string, terms: readonly string[]): Source {
  const each = terms.map(
    (_, index) =>
      `SELECT id FROM (${windowOf(`payment_terms WHERE account_id = ?1 AND term = ?${index + 4}`, 'payment_id')}) AS term${index}`,
  );
  return {
    sql: `${each.join(' UNION ')} ORDER BY id DESC LIMIT ${WINDOW}`,
    values: terms.map((term) => numberOfTerm(accountId, term)),
  };
}

/** The payments of one window that pass the query's filters, and where the next window begins: null at the end. */
export interface Window {
  readonly payments: readonly Payment[];
  readonly end: PaymentId | null;
}

/** CROSS JOIN, because SQLite then goes from the source to the payments and never the other way round. */
export function* readWindow(
  source: Source,
  query: PaymentQuery,
  upper: string,
  limit: number,
): Script<Window> {
  const lowest = query.fromMs === undefined ? '' : firstIdAtMs(query.fromMs);
  const values: ScriptValue[] = [query.accountId, upper, lowest, ...source.values];
  const looked = yield* runForOne<{ end: PaymentId | null; looked: number }>(
    `SELECT min(id) AS "end", count(*) AS looked FROM (${source.sql}) AS looked`,
    ...values,
  );
  const { sql, filters } = filtersOf(query, values.length + 2);
  const rows = yield* run(
    `SELECT ${qualifiedPaymentColumns} FROM (${source.sql}) AS source
     CROSS JOIN payments WHERE payments.account_id = ?1 AND payments.id = source.id ${sql}
     ORDER BY payments.id DESC LIMIT ?${values.length + 1}`,
    ...values,
    limit,
    ...filters,
  );
  const payments = paymentsOfRows(rows);
  // There may be more in this window than was asked for.
  if (payments.length === limit) return { payments, end: payments.at(-1)?.id ?? null };
  const isLast = looked === null || looked.end === null || looked.looked < WINDOW;
  return { payments, end: isLast ? null : looked.end };
}

function filtersOf(query: PaymentQuery, firstParameter: number): { sql: string; filters: ScriptValue[] } {
  const wanted: [string, string | undefined][] = [
    ['status', query.status],
    ['forward_status', query.forwardStatus],
    ['provider', query.provider],
    ['currency', query.currency],
    ['amount_mismatch', query.amountMismatch],
  ];
  const given = wanted.filter((filter): filter is [string, string] => filter[1] !== undefined);
  const conditions = given.map(([column], index) => `payments.${column} = ?${firstParameter + index}`);
  return {
    sql: conditions.map((condition) => `AND ${condition}`).join(' '),
    filters: given.map(([, value]) => value),
  };
}

/** The start of a list: at the page before it, and not after the last requested moment. */
export function beginningOf(query: PaymentQuery, before: PaymentId | null): string {
  const latest = query.beforeMs === undefined ? AFTER_ALL_IDS : firstIdAtMs(query.beforeMs);
  return before !== null && before < latest ? before : latest;
}
