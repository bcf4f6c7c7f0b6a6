import type { Payment } from '../domain/payment.ts';
import { firstIdAtMs, type PaymentId } from '../domain/payment-id.ts';
import {
  hasWords,
  type Meaning,
  numberOfTerm,
  type PaymentQuery,
  type PaymentSearch,
  termOfMeaning,
} from '../domain/payment-search.ts';
import { unsettledStatuses } from '../domain/payment-states.ts';
import type { LastSession, PaymentPage, PaymentSearchStore } from '../domain/ports/payment-search-store.ts';
import type { ColumnValue } from './columns.ts';
import { selectPayments } from './payment-rows.ts';
import { count, type EngineTraits, run, runForOne, type Script, type Scripts } from './scripts.ts';
import { AFTER_ALL_IDS, checkListLimit } from './store.ts';

/** Maximum windows that one call reads: some tens of milliseconds where nothing is found. */
const MAXIMUM_WINDOWS = 5;
/** Candidates of a word compared in one turn of the event loop, in some milliseconds; only some of them match. */
const COMPARED_PAYMENTS = 400;
/** Maximum payments of a word that are counted: above it the exact number makes no difference. */
const COUNTED_PAYMENTS = 2_000;

type Lists = Pick<PaymentSearchStore, 'searchPayments' | 'listUnsettled' | 'listLastSessions'>;

export function createPaymentSearch(scripts: Scripts, { isByAccount }: EngineTraits): Lists {
  return {
    async searchPayments(query, before, limit): Promise<PaymentPage> {
      checkListLimit(limit);
      const source = await scripts.read(() => chooseSource(query, isByAccount));
      const found: Payment[] = [];
      let upper = beginningOf(query, before);
      for (let window = 0; window < MAXIMUM_WINDOWS; window++) {
        const missing = limit - found.length + 1;
        const wanted = query.search?.kind === 'words' ? Math.max(missing, COMPARED_PAYMENTS) : missing;
        const { payments, end } = await scripts.read(() => readNext(source, query, upper, wanted));
        found.push(...payments.filter((payment) => isFound(payment, query.search)));
        if (found.length > limit) {
          return { payments: found.slice(0, limit), next: found[limit - 1]?.id ?? null };
        }
        if (end === null) return { payments: found, next: null };
        upper = end;
      }
      return { payments: found, next: upper };
    },
    async listUnsettled(accountId, forwardStatuses, limit) {
      checkListLimit(limit);
      const placeOf = (index: number) => `?${index + 2}`;
      const wanted = `AND forward_status IN (${forwardStatuses.map((_, index) => placeOf(index)).join(', ')})`;
      // For all accounts SQLite would walk along the ids, which are in this order already, if it could.
      const [condition, values] =
        accountId === null
          ? ["ORDER BY id || '' DESC", []]
          : [`AND account_id = ${placeOf(forwardStatuses.length)} ORDER BY id DESC`, [accountId]];
      return scripts.read(() =>
        selectPayments(
          `FROM (${unsettledSql} ${wanted} ${condition} LIMIT ?1) AS source
           CROSS JOIN payments WHERE payments.id = source.id ORDER BY payments.id DESC`,
          limit,
          ...forwardStatuses,
          ...values,
        ),
      );
    },
    async listLastSessions(accountId, ids) {
      if (ids.length > 0) checkListLimit(ids.length);
      const rows = await scripts.read(() => listLastSessions(isByAccount, accountId, ids));
      return new Map(rows.map(({ id, ...session }) => [id, session]));
    },
  };
}

type LastSessionRow = LastSession & { readonly id: PaymentId };

/** Reads only the last session of each payment: there may be hundreds. */
function* listLastSessions(
  isByAccount: boolean,
  accountId: string,
  ids: readonly PaymentId[],
): Script<readonly LastSessionRow[]> {
  const ofPayment = (sessions: string) =>
    `${sessions}.payment_id = payments.id${isByAccount ? ` AND ${sessions}.account_id = payments.account_id` : ''}`;
  const rows = yield* run(
    `SELECT payments.id, session.provider, progress, expires_at_ms AS "expiresAtMs"
     FROM payments JOIN provider_sessions AS session ON ${ofPayment('session')} AND session.id = (
       SELECT id FROM provider_sessions
       WHERE ${ofPayment('provider_sessions')} AND (payments.paid_at_ms IS NULL OR created_at_ms <= payments.paid_at_ms)
       ORDER BY created_at_ms DESC, id DESC LIMIT 1)
     WHERE payments.account_id = ?1 AND payments.id = ANY(?2)`,
    accountId,
    ids,
  );
  return rows.map(
    (row) => ({ ...row, expiresAtMs: Number(row['expiresAtMs']) }) as unknown as LastSessionRow,
  );
}

function isUnsettled(status: PaymentQuery['forwardStatus']): boolean {
  return unsettledStatuses.some((unsettled) => unsettled === status);
}

function isFound(payment: Payment, search: PaymentSearch | undefined): boolean {
  return search?.kind !== 'words' || hasWords(payment, search.words);
}

function* readNext(source: Source, query: PaymentQuery, upper: PaymentId, limit: number) {
  if (source !== byAccountPayments) return yield* readWindow(source, query, upper, limit);
  // The newest of all are read from the payments themselves, until a whole window of them is indexed.
  const isIndexed = yield* isWindowIndexed(upper);
  return yield* readWindow(isIndexed ? byAccountPayments : newestOfAll, query, upper, limit);
}

function* isWindowIndexed(upper: PaymentId): Script<boolean> {
  const row = yield* runForOne<{ isIndexed: number }>(
    `SELECT CASE WHEN coalesce(max("row"), 0) <= (SELECT coalesce(max(watermark), 0) FROM payment_index) THEN 1 ELSE 0 END
       AS "isIndexed" FROM (SELECT "row" FROM payments WHERE id < ?1 ORDER BY id DESC LIMIT ${WINDOW})`,
    upper,
  );
  return row?.isIndexed === 1;
}

function* chooseSource(query: PaymentQuery, isByAccount: boolean): Script<Source> {
  const { search } = query;
  switch (search?.kind) {
    case 'id':
      return byId(search.id);
    case 'transaction':
      return byTransaction(search.hash);
    case 'words':
      return byTerms(query.accountId, yield* rarestWord(query.accountId, search.words));
    default:
      if (query.amountMismatch !== undefined) return byMismatch;
      if (isUnsettled(query.forwardStatus)) return byUnsettled;
      return isByAccount ? byPrimaryKey : byAccountPayments;
  }
}

/** The terms of the word that the fewest payments have: all that have every word are among those. */
function* rarestWord(accountId: string, words: readonly (readonly Meaning[])[]): Script<readonly string[]> {
  const [first = [], ...others] = words.map((meanings) => meanings.map(termOfMeaning));
  let rarest = first;
  if (others.length === 0) return rarest;
  let fewest = Number.POSITIVE_INFINITY;
  for (const terms of [first, ...others]) {
    let found = 0;
    for (const term of terms) {
      found += yield* count(
        `FROM (SELECT 1 AS one FROM payment_terms
         WHERE account_id = ?1 AND term = ?2 LIMIT ${COUNTED_PAYMENTS}) AS counted`,
        accountId,
        numberOfTerm(accountId, term),
      );
    }
    if (found < fewest) [rarest, fewest] = [terms, found];
  }
  return rarest;
}

/** Number of payments read before other work gets its turn. */
const WINDOW = 1_000;

/**
 * Where the ids of a list's candidates come from, newest first: SQL with `?1` the account, `?2` the id to begin
 * below, `?3` the lowest id, and its own values after those.
 */
interface Source {
  readonly sql: string;
  readonly values: readonly ColumnValue[];
}

const within = (id: string) => `${id} < ?2 AND ${id} >= ?3`;
const windowOf = (select: string, id = 'id') =>
  `SELECT ${id} AS id FROM ${select} AND ${within(id)} ORDER BY ${id} DESC LIMIT ${WINDOW}`;

/** Candidates by the primary key, where that begins with the account. */
const byPrimaryKey: Source = { sql: windowOf('payments WHERE account_id = ?1'), values: [] };
/** Candidates by the table that is filled a moment later. */
const byAccountPayments: Source = {
  sql: windowOf('account_payments WHERE account_id = ?1', 'payment_id'),
  values: [],
};
/** The newest payments of all accounts, for what is not in that table yet. */
const newestOfAll: Source = { sql: windowOf("payments WHERE ?1 <> ''"), values: [] };

/** The index's own condition, because SQLite matches its text. No IN list, because that costs each insert more. */
const unsettled = `(${unsettledStatuses.map((status) => `forward_status = '${status}'`).join(' OR ')})`;
const unsettledSql = `SELECT id FROM payments WHERE ${unsettled}`;
const byUnsettled: Source = {
  sql: windowOf(`payments WHERE account_id = ?1 AND ${unsettled}`),
  values: [],
};

/** Partially paid and overpaid, which few payments are. */
const byMismatch: Source = {
  sql: windowOf('payments WHERE account_id = ?1 AND amount_mismatch IS NOT NULL'),
  values: [],
};

function byId(id: PaymentId): Source {
  return { sql: windowOf('payments WHERE account_id = ?1 AND id = ?4'), values: [id] };
}

function byTransaction(hash: string): Source {
  const found = `(
    SELECT payment_id AS id FROM deposits WHERE transaction_hash = ?4
    UNION SELECT payment_id FROM releases WHERE transaction_hash = ?4) AS found`;
  return { sql: windowOf(`${found} WHERE ?1 <> ''`), values: [hash] };
}

/** Payments with any one of these terms. */
function byTerms(accountId: string, terms: readonly string[]): Source {
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
interface Window {
  readonly payments: readonly Payment[];
  readonly end: PaymentId | null;
}

/** CROSS JOIN, because SQLite then goes from the source to the payments and never the other way round. */
function* readWindow(source: Source, query: PaymentQuery, upper: string, limit: number): Script<Window> {
  const lowest = query.fromMs === undefined ? '' : firstIdAtMs(query.fromMs);
  const values: ColumnValue[] = [query.accountId, upper, lowest, ...source.values];
  const looked = yield* runForOne<{ end: PaymentId | null; looked: number }>(
    `SELECT min(id) AS "end", count(*) AS looked FROM (${source.sql}) AS looked`,
    ...values,
  );
  const { sql, filters } = filtersOf(query, values.length + 2);
  const payments = yield* selectPayments(
    `FROM (${source.sql}) AS source
     CROSS JOIN payments WHERE payments.account_id = ?1 AND payments.id = source.id ${sql}
     ORDER BY payments.id DESC LIMIT ?${values.length + 1}`,
    ...values,
    limit,
    ...filters,
  );
  // There may be more in this window than was asked for.
  if (payments.length === limit) return { payments, end: payments.at(-1)?.id ?? null };
  const isLast = looked === null || looked.end === null || looked.looked < WINDOW;
  return { payments, end: isLast ? null : looked.end };
}

function filtersOf(query: PaymentQuery, firstParameter: number): { sql: string; filters: ColumnValue[] } {
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
function beginningOf(query: PaymentQuery, before: PaymentId | null): string {
  const latest = query.beforeMs === undefined ? AFTER_ALL_IDS : firstIdAtMs(query.beforeMs);
  return before !== null && before < latest ? before : latest;
}
