import { formatUnits } from '../../../domain/money.ts';
import { paymentStates } from '../../../domain/payment-states.ts';
import type { PaymentStory } from '../../../payments/read-payment-story.ts';
import { type Html, html } from '../../design/html.ts';
import { moment } from '../format-time.ts';
import { providerName, reasonSentence } from './payment-words.ts';

interface Happening {
  readonly atMs: number;
  readonly title: string;
  readonly text: string;
}

/** All that happened to a payment and has a time, the oldest first. What the chain tells has blocks, and a list of its own. */
export function timeline(story: PaymentStory, timeZone: string): Html {
  const happenings = [...happeningsOf(story)].sort((one, other) => one.atMs - other.atMs);
  return html`<ol class="timeline">${happenings.map(
    ({ atMs, title, text }) =>
      html`<li><p class="small soft">${moment(atMs, timeZone)}</p><p><strong>${title}</strong></p><p>${text}</p></li>`,
  )}</ol>`;
}

function* happeningsOf({ payment, sessions, states, webhooks }: PaymentStory): Generator<Happening> {
  yield {
    atMs: payment.createdAtMs,
    title: 'Created',
    text: `Paid in full from ${formatUnits(payment.enoughUnits)} USDC on.`,
  };
  for (const session of sessions) {
    const quoted =
      session.quotedUnits === null ? '' : `, which quoted ${formatUnits(session.quotedUnits)} USDC`;
    yield {
      atMs: session.createdAtMs,
      title: 'Customer went to the provider',
      text: `${providerName(session.provider)}${quoted}. Its reference: ${session.providerReference}`,
    };
    if (session.progress !== null && session.progressAtMs !== null) {
      yield {
        atMs: session.progressAtMs,
        title: `${providerName(session.provider)} says: ${session.progress}`,
        text: 'A hint of the provider; only what arrives on the chain counts.',
      };
    }
  }
  for (const { atMs, state } of states) {
    yield { atMs, title: `Came to ${state.replace('/', ' / ')}`, text: paymentStates[state] };
  }
  if (payment.paidAtMs !== null && !states.some(({ state }) => state.startsWith('paid/'))) {
    yield {
      atMs: payment.paidAtMs,
      title: 'Came to paid / completed',
      text: paymentStates['paid/completed'],
    };
  }
  for (const webhook of webhooks) {
    yield { atMs: webhook.createdAtMs, title: `Webhook ${webhook.event} queued`, text: webhook.url };
    if (webhook.result === null) continue;
    const { finishedAtMs, outcome, httpStatus, durationMs, reason } = webhook.result;
    const answer = httpStatus === null ? 'no answer' : `answer ${httpStatus}`;
    yield {
      atMs: finishedAtMs,
      title: `Webhook ${outcome}`,
      text: `${answer} after ${Math.round(durationMs)} ms. ${reasonSentence(reason)}`,
    };
  }
}
