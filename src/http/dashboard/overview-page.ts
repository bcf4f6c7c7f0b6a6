import { reasonSentence } from '../../domain/delivery-reasons.ts';
import { type Currency, currencies } from '../../domain/money.ts';
import type { AmountMismatch, Payment } from '../../domain/payment.ts';
import { refusedStatuses } from '../../domain/payment-states.ts';
import type { FailingWebhook } from '../../domain/ports/payment-search-store.ts';
import {
  type AccountStatistics,
  type DayStatistics,
  type Funnel,
  readFunnel,
  readStatistics,
} from '../../payments/read-statistics.ts';
import { dataTable, numbers } from '../design/data-table.ts';
import { type Html, html, nothing } from '../design/html.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import { formatMoney, formatPercent, moment } from '../signed-in/format.ts';
import { dashboardPages, type PageView } from '../signed-in/signed-in-page.ts';
import { barChart } from './bar-chart.ts';
import {
  mismatchBadge,
  partPaidSentence,
  providerName,
  stateSentence,
  webhookBadge,
} from './payment-words.ts';

const DEFAULT_SPAN = 30;

/** The dashboard's start page. */
export function registerOverviewPage(routes: DashboardRoutes): void {
  dashboardPages(routes, 'overview', 'viewer').page('/', showOverview);
}

async function showOverview(context: DashboardContext, visit: Visit): Promise<PageView> {
  const { account, timeZone } = visit;
  const span = spans.find((days) => String(days) === visit.query.get('days')) ?? DEFAULT_SPAN;
  const nowMs = context.nowMs();
  const read = (untilMs: number) =>
    readStatistics(context.search, { id: account.id, timeZone }, span, untilMs);
  const statistics = await read(nowMs);
  const fromMs = statistics.days[0]?.startMs ?? nowMs;
  const before = await read(fromMs - 1);
  const funnel = await readFunnel(context.search, account.id, fromMs, nowMs);
  return {
    title: 'Overview',
    main: html`${visit.viewing === null ? await firstRunGuide(context, visit) : nothing}
${await attentionCard(context, visit)}
${statisticsCard({ statistics, before, span, timeZone })}
${funnelCard(funnel, span)}
<section class="card"><h2>Account</h2>
<dl class="facts">
<div><dt>Name</dt><dd><bdi>${visit.account.name}</bdi></dd></div>
<div><dt>Account id</dt><dd><code>${visit.account.id}</code></dd></div>
<div><dt>Card fee</dt><dd>${formatPercent(visit.account.feeBasisPoints)}</dd></div>
</dl></section>`,
  };
}

/** An account with more paid payments needs no guide. */
const PAID_PAYMENTS_LOOKED_AT = 5;

/** The first steps of a new merchant, each ticked once it has happened; empty when all have. */
async function firstRunGuide(context: DashboardContext, visit: Visit): Promise<Html> {
  const { id: accountId } = visit.account;
  const [keys, newest, paid] = await Promise.all([
    context.accounts.listKeys(accountId),
    context.search.searchPayments({ accountId }, null, 1),
    context.search.searchPayments({ accountId, status: 'paid' }, null, PAID_PAYMENTS_LOOKED_AT + 1),
  ]);
  if (paid.payments.length > PAID_PAYMENTS_LOOKED_AT) return nothing;
  const webhooks = await Promise.all(paid.payments.map(({ id }) => context.webhooks.listWebhooks(id)));
  const outcomes = webhooks.flat().map(({ result }) => result?.outcome ?? 'pending');
  const isDelivered = outcomes.includes('delivered');
  const isPaid = paid.payments.length > 0;
  if (keys.length > 0 && isPaid && isDelivered) return nothing;
  const isOpen = newest.payments[0]?.status === 'unpaid';
  return html`<section class="card" aria-labelledby="first-run"><h2 id="first-run">First steps</h2><ol class="steps">
${step(keys.length > 0, html`<a href="${DASHBOARD_PATH}/keys">Create an API key</a>`, 'Your shop needs one to create checkouts.')}
${step(isPaid, html`Make a test payment`, isOpen ? unpaidSentence(context) : sentenceOfPayment(context))}
${step(isDelivered, html`See the webhook arrive`, outcomes.some((outcome) => outcome !== 'pending' && outcome !== 'delivered') ? 'One was sent and did not arrive. It is sent once only; the payment says why, and the next payment sends the next.' : 'Once a payment is paid, your callback is called, once and signed.')}
</ol></section>`;
}

function sentenceOfPayment({ baseUrl, isTestMode }: DashboardContext): string {
  return isTestMode
    ? `POST to ${baseUrl}/api/v1/wallet with the key, open the checkout_url of the response, and pay with the card 4242 4242 4242 4242.`
    : `POST to ${baseUrl}/api/v1/wallet with the key, and open the checkout_url of the response.`;
}

function unpaidSentence({ isTestMode }: DashboardContext): string {
  const open = 'Your newest payment is unpaid: open its checkout_url and pay';
  return isTestMode ? `${open} with the card 4242 4242 4242 4242.` : `${open}.`;
}

function step(isDone: boolean, what: Html, sentence: string): Html {
  return html`<li><span class="badge ${isDone ? 'good' : ''}">${isDone ? 'done' : 'to do'}</span> <strong>${what}</strong><br><span class="soft">${sentence}</span></li>`;
}

const SHOWN = 10;
/** Maximum age of listed webhook failures; older ones remain on the payments' pages. */
const NEWS_MS = 14 * 86_400_000;

/** Payments and events that need the merchant's attention: blocked money, undelivered events. */
async function attentionCard(context: DashboardContext, visit: Visit): Promise<Html> {
  const ofMismatch = async (amountMismatch: AmountMismatch, since: { fromMs?: number } = {}) => {
    const query = { accountId: visit.account.id, amountMismatch, ...since };
    return (await context.search.searchPayments(query, null, SHOWN)).payments;
  };
  const newsFromMs = context.nowMs() - NEWS_MS;
  const [waiting, webhooks, partial, overpaid] = await Promise.all([
    context.search.listUnsettled(visit.account.id, refusedStatuses, SHOWN + 1),
    context.search.listFailingWebhooks(visit.account.id, SHOWN),
    ofMismatch('partially_paid'),
    ofMismatch('overpaid', { fromMs: newsFromMs }),
  ]);
  const fresh = webhooks.filter(({ finishedAtMs }) => finishedAtMs > newsFromMs);
  if (waiting.length + partial.length + overpaid.length + fresh.length === 0) return nothing;
  return html`<section class="card"><h2>Needs your attention</h2><ul class="feed">
${waiting.slice(0, SHOWN).map((payment) => waitingEntry(payment))}
${waiting.length > SHOWN ? html`<li><a href="${DASHBOARD_PATH}/payments?forward=manual_required">All that need attention</a></li>` : nothing}
${partial.map((payment) => mismatchEntry(payment, partPaidSentence(payment)))}
${allOf(partial, 'partially_paid', 'All partially paid payments')}
${overpaid.map((payment) => mismatchEntry(payment, 'More arrived than it asked for: see whether the customer paid twice.'))}
${allOf(overpaid, 'overpaid', 'All overpaid payments')}
${fresh.map((webhook) => webhookEntry(webhook, visit))}</ul></section>`;
}

function waitingEntry(payment: Payment): Html {
  return html`<li><a href="${DASHBOARD_PATH}/payments/${payment.id}">${formatMoney(payment.amountCents, payment.currency)} ${payment.currency}</a>: ${stateSentence(payment)}</li>`;
}

function mismatchEntry(payment: Payment, sentence: string): Html {
  return html`<li><a href="${DASHBOARD_PATH}/payments/${payment.id}">${formatMoney(payment.amountCents, payment.currency)} ${payment.currency}</a> ${mismatchBadge(payment)} ${sentence}</li>`;
}

/** The link to the omitted entries. */
function allOf(payments: readonly Payment[], mismatch: AmountMismatch, words: string): Html {
  if (payments.length < SHOWN) return nothing;
  return html`<li><a href="${DASHBOARD_PATH}/payments?status=${mismatch}">${words}</a></li>`;
}

function webhookEntry(
  { paymentId, host, status, reason, finishedAtMs }: FailingWebhook,
  { timeZone }: Visit,
): Html {
  return html`<li><a href="${DASHBOARD_PATH}/payments/${paymentId}#webhook">Webhook to <bdi>${host === '' ? 'your endpoint' : host}</bdi></a> ${webhookBadge(status)} ${reasonSentence(reason)} <span class="small soft">${moment(finishedAtMs, timeZone)}</span></li>`;
}

/** The selectable periods of the overview, in days. */
const spans = [7, 30, 90] as const;
type Span = (typeof spans)[number];

const counts = new Intl.NumberFormat('en');
const dayNames = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const usdcNumbers = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const percents = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

const changes = new Intl.NumberFormat('en', {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});

/** Volume, payments, conversion, providers and settling times of the last days, against as many days before. */
export function statisticsCard({
  statistics,
  before,
  span,
  timeZone,
}: {
  readonly statistics: AccountStatistics;
  readonly before: Pick<AccountStatistics, 'days'>;
  readonly span: Span;
  readonly timeZone: string;
}): Html {
  const { days } = statistics;
  const against = (value: number, earlier: number) =>
    earlier === 0 ? '' : `${changes.format(value / earlier - 1)} against the ${span} days before`;
  const [created, converted, paid] = [sum(days, 'created'), sum(days, 'converted'), sum(days, 'paid')];
  const used = currencies.filter((currency) => days.some((day) => day.paidCents.has(currency)));
  return html`<section class="card"><h2>The last ${span} days</h2>
<nav class="actions" aria-label="Days">${spans.map((other) => spanLink(other, span))}</nav>
<dl class="tiles">
${paid === 0 ? nothing : moneyTiles(days, before.days, against)}
${used.map((currency) => tile(`Volume in ${currency}`, formatMoney(volumeOf(days, currency), currency), against(volumeOf(days, currency), volumeOf(before.days, currency))))}
${tile('Paid', counts.format(paid), against(paid, sum(before.days, 'paid')))}${tile('Created', counts.format(created))}
${tile('Conversion', created === 0 ? '–' : percents.format(Math.min(1, converted / created)), 'of payments created in this period')}
</dl>
${created + paid === 0 ? html`<p class="banner plain">No payments in these days.</p>` : nothing}
${used.map((currency) => volumeChart(days, currency))}
${created === 0 ? nothing : createdCharts(days)}
${paid === 0 ? nothing : paidCharts(statistics)}
<p class="small soft">Received, fees and net as of the time of payment; a later surplus is in the statement. Days in ${timeZone}; providers and settling times in UTC. Updated every few seconds.</p></section>`;
}

function spanLink(other: Span, span: Span): Html {
  return html`<a class="button compact" href="${DASHBOARD_PATH}?days=${other}"${other === span ? html` aria-current="true"` : nothing}>${other} days</a>`;
}

function tile(name: string, value: string, hint = ''): Html {
  return html`<div><dt>${name}</dt><dd><strong>${value}</strong>${hint === '' ? nothing : html` <span class="small soft">${hint}</span>`}</dd></div>`;
}

/** The merchant's share of what was received for the payments that were paid in these days. */
function moneyTiles(
  days: readonly DayStatistics[],
  before: readonly DayStatistics[],
  against: (value: number, earlier: number) => string,
): Html {
  const usdc = (units: number) => usdcNumbers.format(units / 1_000_000);
  const netOf = (some: readonly DayStatistics[]) => sum(some, 'receivedUnits') - sum(some, 'feeUnits');
  return html`${tile('Net in USDC', usdc(netOf(days)), against(netOf(days), netOf(before)))}
${tile('Received in USDC', usdc(sum(days, 'receivedUnits')))}${tile('Fees in USDC', usdc(sum(days, 'feeUnits')))}`;
}

type Sum = 'created' | 'converted' | 'paid' | 'receivedUnits' | 'feeUnits';

function sum(days: readonly DayStatistics[], field: Sum): number {
  return days.reduce((total, day) => total + day[field], 0);
}

function volumeOf(days: readonly DayStatistics[], currency: Currency): number {
  return days.reduce((total, day) => total + (day.paidCents.get(currency) ?? 0), 0);
}

function volumeChart(days: readonly DayStatistics[], currency: Currency): Html {
  return barChart({
    title: `Volume in ${currency}`,
    columns: ['Day', currency],
    bars: days.map((day) => ({ label: labelOf(day), value: day.paidCents.get(currency) ?? 0 })),
    textOf: (cents) => formatMoney(cents, currency),
  });
}

/** The payments created by day, and the share of them that is paid by now. */
function createdCharts(days: readonly DayStatistics[]): Html {
  const shareOf = ({ created, converted }: DayStatistics) =>
    created === 0 ? null : Math.min(1, converted / created);
  return html`${barChart({
    title: 'Payments created',
    columns: ['Day', 'Created'],
    bars: days.map((day) => ({ label: labelOf(day), value: day.created })),
  })}${barChart({
    title: 'From created to paid',
    columns: ['Day', 'Of those created'],
    bars: days.map((day) => ({ label: labelOf(day), value: shareOf(day) })),
    textOf: (share) => percents.format(share),
    isShare: true,
  })}`;
}

function paidCharts({ providers, settleTimes }: AccountStatistics): Html {
  return html`<div class="pair">${barChart({
    title: 'Where customers paid',
    columns: ['Provider', 'Paid'],
    isOfNames: true,
    bars: providers.map(({ provider, paid }) => ({
      label: provider === 'multi' ? 'not known' : providerName(provider),
      value: paid,
    })),
  })}${barChart({
    title: 'From created to paid, time',
    columns: ['Within', 'Paid'],
    isOfNames: true,
    bars: settleTimes.map(({ boundMs, paid }) => ({
      label: boundMs === null ? 'longer' : durationOf(boundMs),
      value: paid,
    })),
  })}</div>`;
}

/** Where customers leave: the newest payments of the period, step by step and by provider. */
function funnelCard({ created, isSample, providers }: Funnel, span: Span): Html {
  if (created === 0) return nothing;
  const sumOf = (field: 'chose' | 'paid') => providers.reduce((sum, provider) => sum + provider[field], 0);
  const payments = isSample ? `The newest ${counts.format(created)} payments` : 'All payments';
  const ways = providers.map(({ provider, chose, paid, declined, atProvider }) => [
    providerName(provider),
    chose,
    paid,
    declined,
    atProvider,
    chose - paid - declined - atProvider,
  ]);
  return html`<section class="card"><h2>Where customers leave</h2>
<p class="small soft">${payments} of the last ${span} days, each at the last provider that its customer chose.</p>
${barChart({
  title: 'From created to paid, payments',
  columns: ['Step', 'Payments'],
  isOfNames: true,
  bars: [
    { label: 'Created', value: created },
    { label: 'Chose a provider', value: sumOf('chose') },
    { label: 'Paid', value: sumOf('paid') },
  ],
})}
${ways.length === 0 ? nothing : dataTable({ label: 'By provider', columns: ['Provider', ...['Chosen', 'Paid', 'Declined', 'At provider', 'Left'].map(numbers)], hasRowHeadings: true, rows: ways })}</section>`;
}

function durationOf(timeMs: number): string {
  const minutes = timeMs / 60_000;
  return minutes < 60 ? `${minutes} min` : `${minutes / 60} h`;
}

function labelOf({ date }: DayStatistics): string {
  return dayNames.format(Date.parse(`${date}T00:00:00Z`));
}
