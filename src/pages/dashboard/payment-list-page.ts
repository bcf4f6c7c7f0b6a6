import { displayStatuses } from '../../payment/display-status.ts';
import { invalidField, ServiceError } from '../../payment/errors.ts';
import { currencies } from '../../payment/money.ts';
import type { Payment, PaymentId } from '../../payment/payment.ts';
import { isPaymentId, paymentIdTimeMs } from '../../payment/payment-id.ts';
import type { PaymentQuery } from '../../payment/payment-search.ts';
import type { FoundPayments, LastSession } from '../../payment/payment-search-store.ts';
import { dateAt, nextDate, startOfDate } from '../../platform/time-zone.ts';
import { exportPayments } from '../../reports/export-payments.ts';
import { forwardStatuses, parsePaymentQuery, paymentProviders } from '../../reports/parse-payment-query.ts';
import { dataTable, headings, numbers } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { formField, sentenceOf } from '../../web/signed-in/form-fields.ts';
import { formatMoney, moment } from '../../web/signed-in/format.ts';
import { banner } from '../../web/signed-in/forms.ts';
import { pageLinks, pagePath, sendCsv } from '../../web/signed-in/layout.ts';
import {
  displayStatusBadges,
  displayStatusLabel,
  forwardLabel,
  partPaid,
  providerName,
  usedProvider,
} from '../../web/signed-in/payment-words.ts';
import type { DashboardFeatures, PaymentOrigin } from './features.ts';

const LIST_PATH = `${DASHBOARD_PATH}/payments`;
const PAGE_SIZE = 50;

export async function showPayments({ readOrigins }: Pick<DashboardFeatures, 'readOrigins'>, visit: Visit) {
  const { context } = visit;
  const filters = filtersOrError(visit, context.nowMs());
  if (filters instanceof ServiceError) {
    const { message, problems, status } = filters;
    return {
      title: 'Payments',
      status,
      main: html`${banner('bad', message)}${filterForm(givenFilters(visit), problems)}`,
    };
  }
  const page = await context.search.searchPayments(filters.query, filters.before, PAGE_SIZE);
  const ids = page.payments.map(({ id }) => id);
  const sessions = await context.search.listLastSessions(visit.account.id, ids);
  const origins = await readOrigins(visit.account.id, ids);
  return {
    title: 'Payments',
    main: html`${await statusTabs(visit, filters.given)}
${filterForm(filters.given)}
${filterChips(filters.given)}
${page.payments.length === 0 ? emptyBanner(filters, page, visit) : paymentTable(page.payments, { sessions, origins, nowMs: context.nowMs() }, visit)}
${pageLinks(LIST_PATH, {
  filters: filters.given,
  isNewest: filters.before === null,
  older: page.next,
  olderWords: page.payments.length === 0 ? 'Search older payments' : 'Older',
})}
<p class="small soft">Times in ${visit.timeZone}. Where the customer could choose, the provider is that of the last session.</p>
<p><a href="${pagePath(`${LIST_PATH}.csv`, filters.given)}"
download>Download these payments as CSV</a> · <a href="${DASHBOARD_PATH}/statement">Monthly statement and journal</a></p>`,
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
  return html`<nav aria-label="Status">
<ul class="chips">${counted.map(({ status, count }) => {
    const current = status === given.status ? html` aria-current="true"` : nothing;
    const label = status === undefined ? 'All' : displayStatusLabel(status);
    const href = pagePath(LIST_PATH, status === undefined ? {} : { status });
    return html`<li><a class="chip"${current} href="${href}">${label} <span class="soft">${count}</span></a></li>`;
  })}</ul></nav>`;
}

function filtersOrError(visit: Visit, nowMs: number): PaymentFilters | ServiceError {
  try {
    return readFilters(visit, nowMs);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

export async function sendPaymentsCsv({ columns }: Pick<DashboardFeatures, 'columns'>, visit: Visit) {
  const { context } = visit;
  const { query } = readFilters(visit, context.nowMs());
  await record(visit, 'payments.exported');
  const date = dateAt(context.nowMs(), visit.timeZone);
  return sendCsv(
    visit.reply,
    `payments-${date}.csv`,
    exportPayments(context, visit.account.baseCurrency, query, columns),
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

const NOTE_CHARACTERS = 60;

interface ListedFacts {
  readonly sessions: ReadonlyMap<string, LastSession>;
  readonly origins: ReadonlyMap<string, PaymentOrigin>;
  readonly nowMs: number;
}

function paymentTable(
  payments: readonly Payment[],
  { sessions, origins, nowMs }: ListedFacts,
  { timeZone }: Visit,
): Html {
  return dataTable({ label: 'Payments', isCompact: true }, payments, {
    Created: headings(
      ({ id, createdAtMs }) =>
        html`<a href="${DASHBOARD_PATH}/payments/${id}">${moment(createdAtMs, timeZone, 'list')}</a>`,
    ),
    Amount: numbers(
      ({ amountCents, currency }) =>
        html`${formatMoney(amountCents, currency)} <span class="soft">${currency}</span>`,
    ),
    Status: (payment) =>
      html`${displayStatusBadges(payment, sessions.get(payment.id), nowMs)}${partOf(payment)}`,
    Provider: (payment) => usedProvider(payment, sessions.get(payment.id)).replaceAll(' ', '\u00a0'),
    Customer: ({ email }) => (email === null ? null : html`<bdi>${email}</bdi>`),
    Note: (payment) => noteOf(payment, origins.get(payment.id)),
  });
}

function noteOf({ note }: Payment, origin: PaymentOrigin | undefined): Html {
  const text = note === null ? nothing : html`<bdi>${shortened(note)}</bdi>`;
  if (origin === undefined) return text;
  return html`${text} <a class="small" href="${DASHBOARD_PATH}${origin.path}"><bdi>${origin.title}</bdi></a>`;
}

function partOf(payment: Payment): Html {
  if (payment.amountMismatch !== 'partially_paid') return nothing;
  return html` <span class="small soft">${partPaid(payment)}</span>`;
}

function shortened(text: string): string {
  const characters = [...text.replaceAll(/\s+/g, ' ')];
  return characters.length <= NOTE_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, NOTE_CHARACTERS - 1).join('')}…`;
}

/** Filters in the list's URL, in order. The URL has all of them, so that it can be bookmarked. */
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

/** Throws `invalid_request` for an invalid query. */
function readFilters(visit: Visit, nowMs: number): PaymentFilters {
  const given = givenFilters(visit);
  const query = parsePaymentQuery(visit.account.id, queryTextOf(given), nowMs);
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

function queryTextOf({ q, status, forward, provider, currency }: PaymentFilters['given']) {
  return {
    search: q ?? '',
    displayStatus: status ?? '',
    forwardStatus: forward ?? '',
    provider: provider ?? '',
    currency: currency ?? '',
  };
}

function dateOf(name: 'from' | 'to', date: string, timeZone: string): number {
  const startMs = startOfDate(date, timeZone);
  if (startMs === null) throw invalidField(labels[name], 'must be a date like 2026-11-21', name);
  return startMs;
}

/** Exclusive end of the last day. Keeps an invalid date for the error message. */
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
  const chips = names.flatMap((name) => {
    const value = given[name];
    if (value === undefined) return [];
    const { [name]: _, ...others } = given;
    return [
      html`<li><a class="chip" href="${pagePath(LIST_PATH, others)}"><span>${labels[name]}:
<bdi>${shownValue(name, value)}</bdi></span><span aria-hidden="true">×</span><span class="quiet">, remove this filter</span></a></li>`,
    ];
  });
  if (chips.length === 0) return nothing;
  return html`<ul class="chips" aria-label="Filters">${chips}<li><a href="${DASHBOARD_PATH}/payments">Clear all</a></li></ul>`;
}

function shownValue(name: FilterName, value: string): string {
  const forward = name === 'forward' && forwardStatuses.find((status) => status === value);
  if (forward) return forwardLabel(forward);
  const status = name === 'status' && displayStatuses.find((choice) => choice === value);
  if (status) return displayStatusLabel(status);
  const provider = name === 'provider' && paymentProviders.find((choice) => choice === value);
  return provider ? providerName(provider) : value;
}

function filterForm(given: PaymentFilters['given'], problems?: ServiceError['problems']): Html {
  const others = names.some((name) => name !== 'q' && given[name] !== undefined);
  return html`<form class="filters" method="get" action="${DASHBOARD_PATH}/payments" role="search">
<div class="field"><label for="q">Search</label>
<div class="search"><input id="q" name="q" type="search" maxlength="320" value="${given.q ?? ''}"
aria-describedby="q-hint" autocomplete="off"><button class="button primary">Search</button></div>
<p class="hint" id="q-hint">Payment ID, short code, email, note, amount or transaction. The first three letters of a word are enough.</p></div>
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
