import { type Html, html, nothing } from '../design/html.ts';
import { type CheckoutView, isTakenByProvider } from './checkout-view.ts';

const steps = ['Choose', 'Pay at the provider', 'Payment arrived', 'Sent to the shop'] as const;

/** Where the payment is between the customer's choice and the shop; nothing for one that ended otherwise. */
export function progress(view: CheckoutView): Html {
  const current = currentStepOf(view);
  if (current === null) return nothing;
  return html`<ol class="steps" aria-label="Progress">${steps.map((step, index) => stepItem(step, index, current))}</ol>`;
}

function stepItem(step: string, index: number, current: number): Html {
  if (index < current) return html`<li class="done">${step}<span class="quiet"> (done)</span></li>`;
  if (index === current) return html`<li class="current" aria-current="step">${step}</li>`;
  return html`<li>${step}</li>`;
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
