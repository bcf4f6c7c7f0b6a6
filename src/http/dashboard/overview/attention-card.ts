import type { AmountMismatch, Payment } from '../../../domain/payment.ts';
import { refusedStatuses } from '../../../domain/payment-states.ts';
import type { TroubledWebhook } from '../../../domain/ports/payment-search-store.ts';
import { type Html, html, nothing } from '../../design/html.ts';
import type { DashboardContext } from '../context.ts';
import { formatMoney } from '../format-amount.ts';
import { moment } from '../format-time.ts';
import {
  mismatchBadge,
  partPaidSentence,
  reasonSentence,
  stateSentence,
  webhookBadge,
} from '../payments/payment-words.ts';
import { DASHBOARD_PATH } from '../sections.ts';
import type { Visit } from '../visit.ts';

const SHOWN = 10;
/** Older trouble with webhooks is in the payments; here it would only stay in the way. */
const NEWS_MS = 14 * 86_400_000;

/** What the merchant should know without looking for it: money that waits for a hand, events that did not arrive. */
export async function attentionCard(context: DashboardContext, visit: Visit): Promise<Html> {
  const ofMismatch = async (amountMismatch: AmountMismatch, since: { fromMs?: number } = {}) => {
    const query = { accountId: visit.account.id, amountMismatch, ...since };
    return (await context.search.searchPayments(query, null, SHOWN)).payments;
  };
  const newsFromMs = context.nowMs() - NEWS_MS;
  const [waiting, webhooks, partial, overpaid] = await Promise.all([
    context.search.listUnsettled(visit.account.id, refusedStatuses, SHOWN + 1),
    context.search.listTroubledWebhooks(visit.account.id, SHOWN),
    ofMismatch('partially_paid'),
    ofMismatch('overpaid', { fromMs: newsFromMs }),
  ]);
  const fresh = webhooks.filter(({ finishedAtMs }) => finishedAtMs > newsFromMs);
  if (waiting.length + partial.length + overpaid.length + fresh.length === 0) return nothing;
  return html`<section class="card"><h2>Needs your attention</h2><ul class="feed">
${waiting.slice(0, SHOWN).map((payment) => waitingEntry(payment))}
${waiting.length > SHOWN ? html`<li><a href="${DASHBOARD_PATH}/payments?forward=manual_required">All that need a hand</a></li>` : nothing}
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

/** The way to those that are not shown. */
function allOf(payments: readonly Payment[], mismatch: AmountMismatch, words: string): Html {
  if (payments.length < SHOWN) return nothing;
  return html`<li><a href="${DASHBOARD_PATH}/payments?amount=${mismatch}">${words}</a></li>`;
}

function webhookEntry(
  { paymentId, host, status, reason, finishedAtMs }: TroubledWebhook,
  { timeZone }: Visit,
): Html {
  return html`<li><a href="${DASHBOARD_PATH}/payments/${paymentId}#webhook">Webhook to <bdi>${host === '' ? 'your endpoint' : host}</bdi></a> ${webhookBadge(status)} ${reasonSentence(reason)} <span class="small soft">${moment(finishedAtMs, timeZone)}</span></li>`;
}
