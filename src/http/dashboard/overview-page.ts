import type { AmountMismatch, Payment } from '../../domain/payment.ts';
import { refusedStatuses } from '../../domain/payment-states.ts';
import type { FailingWebhook } from '../../domain/ports/payment-search-store.ts';
import { readStatistics } from '../../payments/read-statistics.ts';
import { type Html, html, nothing } from '../design/html.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import { formatMoney, formatPercent, moment } from '../signed-in/format.ts';
import { dashboardPages, type PageView } from '../signed-in/signed-in-page.ts';
import {
  mismatchBadge,
  partPaidSentence,
  reasonSentence,
  stateSentence,
  webhookBadge,
} from './payment-words.ts';
import { spans, statisticsCard } from './statistics-card.ts';

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
  const before = await read((statistics.days[0]?.startMs ?? nowMs) - 1);
  return {
    title: 'Overview',
    main: html`${visit.viewing === null ? await firstRunGuide(context, visit) : nothing}
${await attentionCard(context, visit)}
${statisticsCard({ statistics, before, span, timeZone })}
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
  return html`<li><a href="${DASHBOARD_PATH}/payments?amount=${mismatch}">${words}</a></li>`;
}

function webhookEntry(
  { paymentId, host, status, reason, finishedAtMs }: FailingWebhook,
  { timeZone }: Visit,
): Html {
  return html`<li><a href="${DASHBOARD_PATH}/payments/${paymentId}#webhook">Webhook to <bdi>${host === '' ? 'your endpoint' : host}</bdi></a> ${webhookBadge(status)} ${reasonSentence(reason)} <span class="small soft">${moment(finishedAtMs, timeZone)}</span></li>`;
}
