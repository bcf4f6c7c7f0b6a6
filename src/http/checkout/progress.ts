import { type Html, html, nothing } from '../design/html.ts';
import { type CheckoutView, isTakenByProvider } from './checkout-view.ts';
import type { Language } from './languages.ts';

const steps = ['choose', 'pay', 'arrived', 'sent'] as const;

/** Where the payment is between the customer's choice and the shop; nothing for one that ended otherwise. */
export function progress(view: CheckoutView, { words }: Language): Html {
  const current = currentStepOf(view);
  if (current === null) return nothing;
  const items = steps.map((step, index) => {
    const name = words.steps[step];
    if (index < current)
      return html`<li class="done">${name}<span class="quiet"> ${words.steps.done}</span></li>`;
    return index === current
      ? html`<li class="current" aria-current="step">${name}</li>`
      : html`<li>${name}</li>`;
  });
  return html`<ol class="steps" aria-label="${words.steps.label}">${items}</ol>`;
}
/** The step the customer or the payment is at; the number of steps when all are done. */
function currentStepOf(view: CheckoutView): number | null {
  switch (view.kind) {
    case 'choose':
      return 0;
    case 'at_provider':
      return isTakenByProvider(view) ? 2 : 1;
    case 'underpaid':
      return 1;
    case 'seen':
    case 'sending':
    case 'held':
      return 3;
    case 'paid':
      return steps.length;
    case 'canceled':
    case 'expired':
    case 'closed_with_money':
    case 'closed_and_released':
      return null;
  }
}
