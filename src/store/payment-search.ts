import { amountMismatches, type Payment, type PaymentId } from '../payment/payment.ts';
import { AFTER_ALL_IDS, firstIdAtMs } from '../payment/payment-id.ts';
import {
  hasWords,
  type Meaning,
  numberOfTerm,
  type PaymentQuery,
  termOfMeaning,
  termsOfPayment,
} from '../payment/payment-search.ts';
import type { FoundPayments, LastSession, PaymentSearchStore } from '../payment/payment-search-store.ts';
import { unsettledStatuses } from '../payment/payment-states.ts';
import { selectPayments } from './payments.ts';
import {
  countOf,
  type Fragment,
  lock,
  lockPayments,
  raw,
  run,
  runForOne,
  type Script,
  type Scripts,
  sql,
} from './scripts.ts';
import { termTable, unindexedTable } from './tables.ts';

/** Maximum windows per call, so that a search without matches takes only tens of milliseconds. */
const MAXIMUM_WINDOWS = 5;
/** Maximum payments whose words are compared per event-loop turn, so that a turn takes only a few milliseconds. */
const COMPARED_PAYMENTS = 400;

export function createPaymentSearch({ read, write }: Scripts) {
  const findSource = read(chooseSource);
  const nextWindow = read(readWindow);
  return {
    async searchPayments(query, before, limit): Promise<FoundPayments> {
      const source = await findSource(query);
      const filtered = { ...query, filters: filtersOf(query) };
      const words = query.search?.kind === 'words' ? query.search.words : null;
      const found: Payment[] = [];
      let upper = beginningOf(query, before);
      for (let window = 0; window < MAXIMUM_WINDOWS; window++) {
        const missing = limit - found.length + 1;
        const wanted = words !== null ? Math.max(missing, COMPARED_PAYMENTS) : missing;
        const { payments, end } = await nextWindow(source, filtered, upper, wanted);
        found.push(...(words === null ? payments : payments.filter((payment) => hasWords(payment, words))));
        if (found.length > limit) {
          return { payments: found.slice(0, limit), next: found[limit - 1]?.id ?? null };
        }
        if (end === null) return { payments: found, next: null };
        upper = end;
      }
      return { payments: found, next: upper };
    },
    indexPayments: write((limit) => indexPayments(limit)),
    listUnsettled: read((accountId, forwardStatuses, limit) => {
      // `id || ''` keeps SQLite from scanning the primary key for the order instead of using the partial index.
      const rest =
        accountId === null
          ? sql`ORDER BY id || '' DESC`
          : sql`AND account_id = ${accountId} ORDER BY id DESC`;
      return selectPayments`
        FROM (
          SELECT id FROM payments WHERE ${unsettled} AND forward_status = ANY(${forwardStatuses})
          ${rest} LIMIT ${limit}) AS source
        CROSS JOIN payments WHERE payments.id = source.id ORDER BY payments.id DESC`;
    }),
    listLastSessions: read(function* (accountId, ids) {
      const rows = yield* run`
        SELECT payments.id, session.provider, progress, expires_at_ms AS "expiresAtMs"
        FROM payments JOIN provider_sessions AS session
          ON ${ofPayment} AND session.id = (${lastSession})
        WHERE payments.account_id = ${accountId} AND payments.id = ANY(${ids})`;
      return new Map(rows.map(({ id, ...session }) => [id as PaymentId, session as unknown as LastSession]));
    }),
  } satisfies Partial<PaymentSearchStore>;
}

const ofPayment = sql`session.payment_id = payments.id`;

/** SQL for the id of a payment's last session; once paid, of the last session before that. */
const lastSession = sql`SELECT id FROM provider_sessions AS session WHERE ${ofPayment}
  AND (payments.paid_at_ms IS NULL OR created_at_ms <= payments.paid_at_ms)
  ORDER BY created_at_ms DESC, id DESC LIMIT 1`;

function* chooseSource({ accountId, search, paid, ...query }: PaymentQuery): Script<Source> {
  if (paid !== undefined) return byPaidTime(accountId, paid);
  switch (search?.kind) {
    case 'id':
      return ofPayments(accountId, sql`id = ${search.id}`);
    case 'receipt':
      return ofPayments(accountId, sql`id BETWEEN ${search.ids[0]} AND ${search.ids[1]}`);
    case 'transaction':
      return byTransaction(search.hash);
    case 'words':
      return byTerms(accountId, yield* rarestWord(accountId, search.words));
    default:
      if (amountMismatches.some((kind) => kind === query.amountMismatch || kind === query.display?.status))
        return ofPayments(accountId, raw('amount_mismatch IS NOT NULL'));
      if (unsettledStatuses.some((status) => status === query.forwardStatus))
        return ofPayments(accountId, unsettled);
      return ofPayments(
        accountId,
        query.reference === undefined ? raw('true') : sql`reference = ${query.reference}`,
      );
  }
}

/** Returns the index terms of the word with the fewest payments, among which are all payments with every word. */
function* rarestWord(accountId: string, words: readonly (readonly Meaning[])[]): Script<readonly string[]> {
  const [first = [], ...others] = words.map((meanings) => meanings.map(termOfMeaning));
  let rarest = first;
  if (others.length === 0) return rarest;
  let fewest = Number.POSITIVE_INFINITY;
  for (const terms of [first, ...others]) {
    // Counts at most one window per word, because larger counts need not be exact.
    const count =
      yield* countOf`(${anyOf(terms.map((term) => byTerm(accountId, term)))(everything)}) AS counted`;
    if (count < fewest) [rarest, fewest] = [terms, count];
  }
  return rarest;
}

/** Number of candidate payments to read before the search yields to the event loop. */
const WINDOW = 1_000;

/** Ids from `lowest` (inclusive) to `upper` (exclusive). */
interface Range {
  readonly upper: string;
  readonly lowest: string;
}

const everything: Range = { upper: AFTER_ALL_IDS, lowest: '' };

/** Function that returns SQL for a list's candidate ids within a range, newest first. */
type Source = (range: Range) => Fragment;

function windowOf(from: Fragment, { upper, lowest }: Range, idColumn: 'id' | 'payment_id' = 'id'): Fragment {
  const id = raw(idColumn);
  return sql`SELECT ${id} AS id FROM ${from} AND ${id} < ${upper} AND ${id} >= ${lowest}
    ORDER BY ${id} DESC LIMIT ${raw(WINDOW)}`;
}

/** Returns a source that uses the index on the account, or a partial index with this condition. */
function ofPayments(accountId: string, condition: Fragment): Source {
  return (range) => windowOf(sql`payments WHERE account_id = ${accountId} AND ${condition}`, range);
}

/** Condition of the partial index, which SQLite uses only for the same expression. An IN list would slow inserts. */
const unsettled = raw(`(${unsettledStatuses.map((status) => `forward_status = '${status}'`).join(' OR ')})`);

function byTransaction(hash: string): Source {
  const found = sql`(
    SELECT payment_id AS id FROM deposits WHERE transaction_hash = ${hash}
    UNION SELECT payment_id FROM releases WHERE transaction_hash = ${hash}) AS found WHERE true`;
  return (range) => windowOf(found, range);
}

const PAID_PERIOD_MS = 30 * 86_400_000;

function byPaidTime(accountId: string, { fromMs, beforeMs }: { fromMs: number; beforeMs: number }): Source {
  const periods: Source[] = [];
  for (let period = Math.floor(fromMs / PAID_PERIOD_MS); period * PAID_PERIOD_MS < beforeMs; period++) {
    const isInPeriod = sql`paid_at_ms IS NOT NULL AND paid_at_ms / ${raw(PAID_PERIOD_MS)} = ${period}`;
    periods.push(ofPayments(accountId, isInPeriod));
  }
  return anyOf(periods);
}

/** Returns a source of payments with any of these terms, and of all payments that are not indexed yet. */
function byTerms(accountId: string, terms: readonly string[]): Source {
  return anyOf([
    ...terms.map((term) => byTerm(accountId, term)),
    (range) => windowOf(sql`unindexed_payments WHERE account_id = ${accountId}`, range, 'payment_id'),
  ]);
}

function byTerm(accountId: string, term: string): Source {
  const from = sql`payment_terms WHERE account_id = ${accountId} AND term = ${numberOfTerm(accountId, term)}`;
  return (range) => windowOf(from, range, 'payment_id');
}

function anyOf(sources: readonly Source[]): Source {
  return (range) => {
    const each = sources.map(
      (source, index) => sql`SELECT id FROM (${source(range)}) AS source${raw(index)}`,
    );
    const all = each.reduce((one, other) => sql`${one} UNION ${other}`);
    return sql`${all} ORDER BY id DESC LIMIT ${raw(WINDOW)}`;
  };
}

type FilteredQuery = PaymentQuery & { readonly filters: Fragment };

/** Payments of one window that pass the query's filters. `end` is the next window's upper bound; null for none. */
interface Window {
  readonly payments: readonly Payment[];
  readonly end: PaymentId | null;
}

/** Reads a window. CROSS JOIN makes SQLite start the join with the source, never with the payments. */
function* readWindow(source: Source, query: FilteredQuery, upper: string, limit: number): Script<Window> {
  const lowest = query.fromMs === undefined ? '' : firstIdAtMs(query.fromMs);
  const candidates = yield* runForOne<{ end: PaymentId | null; count: number }>`
    SELECT min(id) AS "end", count(*) AS count FROM (${source({ upper, lowest })}) AS candidates`;
  const isLast = candidates === null || candidates.end === null || candidates.count < WINDOW;
  const end = isLast ? null : candidates.end;
  const payments = yield* selectPayments`
    FROM (${source({ upper, lowest: end ?? lowest })}) AS source
    CROSS JOIN payments WHERE payments.account_id = ${query.accountId} AND payments.id = source.id
      ${query.filters}
    ORDER BY payments.id DESC LIMIT ${limit}`;
  // If the limit is reached, the window may contain more, and the next one starts after the last payment.
  return { payments, end: payments.length === limit ? (payments.at(-1)?.id ?? null) : end };
}

function filtersOf(query: PaymentQuery): Fragment {
  const wanted: [string, string | undefined][] = [
    ['status', query.status],
    ['forward_status', query.forwardStatus],
    ['provider', query.provider],
    ['currency', query.currency],
    ['reference', query.reference],
    ['amount_mismatch', query.amountMismatch],
  ];
  const { display, paid } = query;
  const isShown = display === undefined ? raw('') : sql`AND ${hasDisplayStatus(display)}`;
  const isPaid =
    paid === undefined
      ? raw('')
      : sql`AND payments.paid_at_ms >= ${paid.fromMs} AND payments.paid_at_ms < ${paid.beforeMs}`;
  return wanted.reduce(
    (filters, [column, value]) =>
      value === undefined ? filters : sql`${filters} AND payments.${raw(column)} = ${value}`,
    sql`${isShown} ${isPaid}`,
  );
}

/** Returns SQL equivalent to `displayStatusOf`. Only payments without a deposit look up their last session. */
function hasDisplayStatus({ status, nowMs }: NonNullable<PaymentQuery['display']>): Fragment {
  const expected = sql`payments.amount_mismatch IS NULL`;
  const isLastSession = (condition: Fragment) => sql`EXISTS (
    SELECT 1 FROM provider_sessions AS session
    WHERE ${ofPayment} AND session.id = (${lastSession}) AND ${condition})`;
  const waiting = sql`payments.status = 'unpaid' AND payments.forward_status = 'pending' AND ${expected}`;
  const isDeclined = sql`session.progress = 'failed'`;
  const isThere = sql`coalesce(session.progress, '') <> 'failed'
    AND (session.expires_at_ms > ${nowMs} OR session.progress = 'delivering')`;
  switch (status) {
    case 'open':
      return sql`payments.status = 'unpaid' AND ${expected} AND (payments.forward_status <> 'pending'
        OR NOT ${isLastSession(sql`(${isDeclined} OR (${isThere}))`)})`;
    case 'at_provider':
      return sql`${waiting} AND ${isLastSession(isThere)}`;
    case 'declined':
      return sql`${waiting} AND ${isLastSession(isDeclined)}`;
    case 'paid':
      return sql`payments.status = 'paid' AND ${expected}`;
    case 'expired':
      return sql`payments.status = 'canceled' AND ${expected} AND payments.cancel_reason = 'expired'`;
    case 'canceled':
      return sql`payments.status = 'canceled' AND ${expected} AND coalesce(payments.cancel_reason, '') <> 'expired'`;
    default:
      return sql`payments.amount_mismatch = ${status}`;
  }
}

/** Returns a list's exclusive upper bound of ids, from the previous page or the requested time. */
function beginningOf(query: PaymentQuery, before: PaymentId | null): string {
  const latest = query.beforeMs === undefined ? AFTER_ALL_IDS : firstIdAtMs(query.beforeMs);
  return before !== null && before < latest ? before : latest;
}

const INDEX_LOCK = 'payment terms';

/** Indexes queued payments and returns how many. Locks the payments, so that no concurrent change is missed. */
function* indexPayments(limit: number): Script<number> {
  yield* lock(INDEX_LOCK);
  const queued = yield* unindexedTable.select`ORDER BY account_id, payment_id LIMIT ${limit}`;
  if (queued.length === 0) return 0;
  const ids = queued.map(({ paymentId }) => paymentId);
  yield* lockPayments(ids.toSorted());
  const payments = yield* selectPayments`FROM payments WHERE id = ANY(${ids})`;
  const rows = payments.flatMap((payment) =>
    termsOfPayment(payment).map((term): [string, string, number] => [
      payment.accountId,
      payment.id,
      numberOfTerm(payment.accountId, term),
    ]),
  );
  // Sorts by term, so that rows of several payments are written to the same index pages.
  rows.sort(([, , one], [, , other]) => one - other);
  yield* termTable.insertRows(rows, { keepsExisting: true });
  const accountIds = [...new Set(queued.map(({ accountId }) => accountId))];
  yield* run`
    DELETE FROM unindexed_payments WHERE account_id = ANY(${accountIds}) AND payment_id = ANY(${ids})`;
  return queued.length;
}

/** Removes outdated terms of a locked payment from the index, and queues the payment to add its new terms. */
export function* replaceTerms(before: Payment, after: Payment): Script<void> {
  const { accountId, id } = after;
  const kept = termsOfPayment(after);
  for (const term of termsOfPayment(before).filter((old) => !kept.includes(old))) {
    yield* run`
      DELETE FROM payment_terms
      WHERE account_id = ${accountId} AND term = ${numberOfTerm(accountId, term)} AND payment_id = ${id}`;
  }
  yield* unindexedTable.insertRows([[accountId, id]], { keepsExisting: true });
}
