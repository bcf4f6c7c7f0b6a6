import { displayStatuses } from '../../payment/display-status.ts';
import { invalidField, ServiceError } from '../../payment/errors.ts';
import { currencies } from '../../payment/money.ts';
import type { Payment, PaymentId } from '../../payment/payment.ts';
import { isPaymentId, paymentIdTimeMs } from '../../payment/payment-id.ts';
import type { PaymentQuery } from '../../payment/payment-search.ts';
import type { FoundPayments } from '../../payment/payment-search-store.ts';
import { dateAt, nextDate, startOfDate } from '../../platform/time-zone.ts';
import { exportPayments } from '../../reports/export-payments.ts';
import { forwardStatuses, parsePaymentQuery, paymentProviders } from '../../reports/parse-payment-query.ts';
import { dataTable, headings, numbers } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, type PaymentOrigin, record, type Visit } from '../../web/signed-in/context.ts';
import { ago, formatMoney, formatUsdcSum, moment, timeText } from '../../web/signed-in/format.ts';
import { banner, formField, sentenceOf } from '../../web/signed-in/forms.ts';
import { pageLinks, pagePath, sendCsv } from '../../web/signed-in/layout.ts';
import {
  displayStatusBadges,
  displayStatusLabel,
  forwardWords,
  originLink,
  providerName,
  usedProvider,
} from '../../web/signed-in/payment-words.ts';

const LIST_PATH = `${DASHBOARD_PATH}/payments`;
const PAGE_SIZE = 50;

export async function showPayments(visit: Visit) {
  const { context } = visit;
  let filters: PaymentFilters;
  try {
    filters = readFilters(visit);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { message, problems, status } = error;
    const main = html`${banner('bad', message)}${filterForm(givenFilters(visit), problems)}`;
    return { title: 'Payments', status, main };
  }
  const page = await context.search.searchPayments(filters.query, filters.before, PAGE_SIZE);
  const table = await paymentTable(visit, page.payments);
  return {
    title: 'Payments',
    main: html`${await statusTabs(visit, filters.given)}
${filterForm(filters.given)}
${filterChips(filters.given)}
${page.payments.length === 0 ? emptyBanner(filters, page, visit) : table}
${pageLinks(LIST_PATH, {
  filters: filters.given,
  isNewest: filters.before === null,
  older: page.next,
  olderWords: page.payments.length === 0 ? 'Search older payments' : 'Older',
})}
<p class="small soft">Times in ${visit.timeZone}. Where the customer could choose, the provider is that of the last session.</p>
<p><a href="${pagePath(`${LIST_PATH}.csv`, filters.given)}" download>Download these payments as CSV</a></p>`,
  };
}

const COUNTED = 99;

async function statusTabs(
  { account, context: { search, nowMs } }: Visit,
  given: PaymentFilters['given'],
): Promise<Html> {
  const counted = await Promise.all(
    [undefined, ...displayStatuses].map(async (status) => {
      const query = {
        accountId: account.id,
        ...(status === undefined ? {} : { display: { status, nowMs: nowMs() } }),
      };
      const { payments, next } = await search.searchPayments(query, null, COUNTED);
      return { status, count: `${payments.length}${next === null ? '' : '+'}` };
    }),
  );
  const tabs = (some: typeof counted) =>
    some.map(({ status, count }) => {
      const current = status === given.status ? html` aria-current="true"` : nothing;
      const label = status === undefined ? 'All' : displayStatusLabel(status);
      const href = pagePath(LIST_PATH, status === undefined ? {} : { status });
      return html`<li><a class="chip"${current} href="${href}">${label} <span class="soft">${count}</span></a></li>`;
    });
  const isFolded = ({ status, count }: (typeof counted)[number]) =>
    count === '0' && status !== undefined && status !== given.status;
  const [shown, folded] = [counted.filter((tab) => !isFolded(tab)), counted.filter(isFolded)];
  return html`<nav class="actions" aria-label="Status"><ul class="chips">${tabs(shown)}</ul>
${folded.length === 0 ? nothing : html`<details><summary>More</summary><ul class="chips">${tabs(folded)}</ul></details>`}</nav>`;
}

export async function sendPaymentsCsv(visit: Visit) {
  const { context } = visit;
  const { query } = readFilters(visit);
  await record(visit, 'payments.exported');
  const date = dateAt(context.nowMs(), visit.timeZone);
  return sendCsv(
    visit.reply,
    `payments-${date}.csv`,
    exportPayments(context.search, visit.account.baseCurrency, query, context.columns),
  );
}

function emptyBanner({ given, before }: PaymentFilters, page: FoundPayments, visit: Visit): Html {
  if (page.next !== null) {
    const until = moment(paymentIdTimeMs(page.next), visit.timeZone);
    return html`<p class="banner plain" role="status">No payment matches back to ${until}. Older payments exist.</p>`;
  }
  if (Object.keys(given).length > 0 || before !== null) {
    return html`<p class="banner plain" role="status">No payment matches.</p>`;
  }
  return html`<section class="card"><h2>No payments yet</h2>
<p>Payments appear here when your shop creates a checkout, or when you create a payment link.</p></section>`;
}

/** @param path path of the pages that the rows link to */
export async function paymentTable(
  visit: Visit,
  payments: readonly Payment[],
  path = '/payments',
): Promise<Html> {
  const { account, context, timeZone } = visit;
  const ids = payments.map(({ id }) => id);
  const nowMs = context.nowMs();
  const [sessions, origins] = await Promise.all([
    context.search.listLastSessions(account.id, ids),
    context.readOrigins(account.id, ids),
  ]);
  return dataTable({ label: 'Payments', isCompact: true }, payments, {
    Amount: headings(
      ({ id, amountCents, currency, createdAtMs }) =>
        html`<a class="row" href="${DASHBOARD_PATH}${path}/${id}"
title="${timeText(createdAtMs, timeZone, 'second')}"><strong>${formatMoney(amountCents, currency)}</strong>&#160;<span class="soft">${currency}</span></a>`,
    ),
    Status: (payment) => displayStatusBadges(payment, sessions.get(payment.id), nowMs),
    For: (payment) => forOf(visit, payment, origins.get(payment.id)),
    Customer: ({ email }) => (email === null ? null : html`<bdi>${email}</bdi>`),
    Provider: (payment) => usedProvider(payment, sessions.get(payment.id)),
    'You received': numbers(receivedOf),
    When: numbers(({ createdAtMs }) => ago(createdAtMs, nowMs, timeZone)),
  });
}

function forOf(visit: Visit, { note, orderLine }: Payment, origin: PaymentOrigin | undefined): Html | null {
  const text = note ?? orderLine;
  if (text === null && origin === undefined) return null;
  return html`${text !== null && html`<bdi>${text}</bdi> `}
${origin !== undefined && html`<span class="small">${originLink(visit, origin)}</span>`}`;
}

function receivedOf({ forwardedUnits, receivedUnits }: Payment): Html | string | null {
  if (forwardedUnits > 0n) return formatUsdcSum(forwardedUnits);
  return receivedUnits === 0n
    ? null
    : html`<span class="soft">${formatUsdcSum(receivedUnits)} arrived</span>`;
}

/** Filters in the list's URL, in order, so that a filtered list can be bookmarked. */
const names = ['q', 'status', 'forward', 'provider', 'currency', 'from', 'to'] as const;
type FilterName = (typeof names)[number];

interface PaymentFilters {
  readonly query: PaymentQuery;
  readonly before: PaymentId | null;
  readonly given: Readonly<Partial<Record<FilterName, string>>>;
}

function givenFilters({ query }: Visit): PaymentFilters['given'] {
  const given: Partial<Record<FilterName, string>> = {};
  for (const name of names) {
    const value = query.get(name)?.trim();
    if (value) given[name] = value;
  }
  return given;
}

function readFilters(visit: Visit): PaymentFilters {
  const given = givenFilters(visit);
  const { q: search = '', status: displayStatus = '', forward: forwardStatus = '', ...others } = given;
  const text = { ...others, search, displayStatus, forwardStatus };
  const query = parsePaymentQuery(visit.account.id, text, visit.context.nowMs());
  const before = visit.query.get('before');
  if (before !== null && !isPaymentId(before)) throw invalidField('before', 'must be a payment id');
  return {
    query: {
      ...query,
      ...(given.from === undefined ? {} : { fromMs: dateOf('from', given.from, visit.timeZone) }),
      ...(given.to === undefined ? {} : { beforeMs: dateOf('to', nextDateOf(given.to), visit.timeZone) }),
    },
    before,
    given,
  };
}

function dateOf(name: 'from' | 'to', date: string, timeZone: string): number {
  const startMs = startOfDate(date, timeZone);
  if (startMs === null) throw invalidField(labels[name], 'must be a date like 2026-11-21', name);
  return startMs;
}

/** Returns the exclusive end of the last day. Keeps an invalid date for the error message. */
function nextDateOf(date: string): string {
  return startOfDate(date, 'UTC') === null ? date : nextDate(date);
}

const labels: Readonly<Record<FilterName, string>> = {
  q: 'Search',
  status: 'Status',
  forward: 'Release',
  provider: 'Provider',
  currency: 'Currency',
  from: 'Created from',
  to: 'Created to',
};

function filterChips(given: PaymentFilters['given']): Html {
  const chips = names.map((name) => {
    const { [name]: value, ...others } = given;
    if (value === undefined) return nothing;
    return html`<li><a class="chip" href="${pagePath(LIST_PATH, others)}"><span>${labels[name]}:
<bdi>${shownValue(name, value)}</bdi></span><span aria-hidden="true">×</span><span class="quiet">, remove this filter</span></a></li>`;
  });
  if (Object.keys(given).length === 0) return nothing;
  return html`<ul class="chips" aria-label="Filters">${chips}<li><a href="${DASHBOARD_PATH}/payments">Clear all</a></li></ul>`;
}

function shownValue(name: FilterName, value: string): string {
  const forward = name === 'forward' && forwardStatuses.find((status) => status === value);
  if (forward) return forwardWords[forward][0];
  const status = name === 'status' && displayStatuses.find((choice) => choice === value);
  if (status) return displayStatusLabel(status);
  const provider = name === 'provider' && paymentProviders.find((choice) => choice === value);
  return provider ? providerName(provider) : value;
}

function filterForm(given: PaymentFilters['given'], problems?: ServiceError['problems']): Html {
  const others = names.some((name) => name !== 'q' && given[name] !== undefined);
  return html`<form class="filters" method="get" action="${DASHBOARD_PATH}/payments" role="search">
<div class="field"><div class="actions"><input name="q" type="search" maxlength="320" value="${given.q ?? ''}" aria-label="Search"
placeholder="ID, email, note, amount or transaction" aria-describedby="q-hint" autocomplete="off"><button class="button">Search</button></div></div>
<p class="quiet" id="q-hint">Payment ID, short code, email, note, amount or transaction. The first three letters of a word are enough.</p>
<details${others ? html` open` : nothing}><summary>Filters</summary><div class="grid">
${choice('status', displayStatuses, given)}${choice('forward', forwardStatuses, given)}
${choice('provider', paymentProviders, given)}${choice('currency', currencies, given)}
${dateField('from', given, problems)}${dateField('to', given, problems)}
</div><p class="actions"><button class="button">Apply filters</button></p></details>
</form>`;
}

function choice(name: FilterName, values: readonly string[], given: PaymentFilters['given']): Html {
  const wordsOf = (value: string) => (value === '' ? 'Any' : shownValue(name, value));
  const field = { label: labels[name], type: 'select', options: ['', ...values], wordsOf } as const;
  return formField(name, { ...field, value: given[name] ?? '' });
}

function dateField(
  name: 'from' | 'to',
  given: PaymentFilters['given'],
  problems?: ServiceError['problems'],
): Html {
  const field = { label: labels[name], type: 'date', value: given[name] ?? '', isOptional: true } as const;
  const problem = problems?.get(name);
  return formField(name, field, problem === undefined ? {} : { error: sentenceOf(problem) });
}
