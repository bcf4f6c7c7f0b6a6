import type { Payment } from '../../../domain/payment.ts';
import { refusedStatuses } from '../../../domain/payment-states.ts';
import type { TroubledWebhook } from '../../../domain/ports/payment-search-store.ts';
import { type Html, html, nothing } from '../../design/html.ts';
import type { DashboardContext } from '../context.ts';
import { formatMoney } from '../format-amount.ts';
import { moment } from '../format-time.ts';
import { reasonSentence, stateSentence, webhookBadge } from '../payments/payment-words.ts';
import { DASHBOARD_PATH } from '../sections.ts';
import type { Visit } from '../visit.ts';

const SHOWN = 10;
/** Older trouble with webhooks is in the payments; here it would only stay in the way. */
const NEWS_MS = 14 * 86_400_000;

/** What the merchant should know without looking for it: money that waits for a hand, events that did not arrive. */
export async function attentionCard(context: DashboardContext, visit: Visit): Promise<Html> {
  const [waiting, webhooks] = await Promise.all([
    context.search.listUnsettled(visit.account.id, refusedStatuses, SHOWN + 1),
    context.search.listTroubledWebhooks(visit.account.id, SHOWN),
  ]);
  const fresh = webhooks.filter(({ finishedAtMs }) => finishedAtMs > context.nowMs() - NEWS_MS);
  if (waiting.length === 0 && fresh.length === 0) return nothing;
  return html`<section class="card"><h2>Needs your attention</h2><ul class="feed">
${waiting.slice(0, SHOWN).map((payment) => waitingEntry(payment))}
${waiting.length > SHOWN ? html`<li><a href="${DASHBOARD_PATH}/payments?forward=manual_required">All that need a hand</a></li>` : nothing}
${fresh.map((webhook) => webhookEntry(webhook, visit))}</ul></section>`;
}

function waitingEntry(payment: Payment): Html {
  return html`<li><a href="${DASHBOARD_PATH}/payments/${payment.id}">${formatMoney(payment.amountCents, payment.currency)} ${payment.currency}</a>: ${stateSentence(payment)}</li>`;
}

function webhookEntry(
  { paymentId, host, status, reason, finishedAtMs }: TroubledWebhook,
  { timeZone }: Visit,
): Html {
  return html`<li><a href="${DASHBOARD_PATH}/payments/${paymentId}#webhook">Webhook to <bdi>${host === '' ? 'your endpoint' : host}</bdi></a> ${webhookBadge(status)} ${reasonSentence(reason)} <span class="small soft">${moment(finishedAtMs, timeZone)}</span></li>`;
}
