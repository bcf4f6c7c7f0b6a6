import { type Html, html, nothing } from '../design/html.ts';
import type { DashboardContext } from './context.ts';
import { DASHBOARD_PATH } from './sections.ts';
import type { Visit } from './visit.ts';

/** An account with more paid payments needs no guide. */
const PAID_PAYMENTS_LOOKED_AT = 5;

/** What a new merchant does first, each ticked once it has really happened; nothing when all of it has. */
export async function firstRunGuide(context: DashboardContext, visit: Visit): Promise<Html> {
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

function sentenceOfPayment({ baseUrl, isSandbox }: DashboardContext): string {
  return isSandbox
    ? `POST to ${baseUrl}/api/v1/wallet with the key, open the checkout_url of the answer, and pay with the card 4242 4242 4242 4242.`
    : `POST to ${baseUrl}/api/v1/wallet with the key, and open the checkout_url of the answer.`;
}

function unpaidSentence({ isSandbox }: DashboardContext): string {
  const open = 'Your newest payment is unpaid: open its checkout_url and pay';
  return isSandbox ? `${open} with the card 4242 4242 4242 4242.` : `${open}.`;
}

function step(isDone: boolean, what: Html, sentence: string): Html {
  return html`<li><span class="badge ${isDone ? 'good' : ''}">${isDone ? 'done' : 'to do'}</span> <strong>${what}</strong><br><span class="soft">${sentence}</span></li>`;
}
