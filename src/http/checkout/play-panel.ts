import type { Payment } from '../../domain/payment.ts';
import { type Html, html } from '../design/html.ts';
import { type Outcome, outcomesOf } from './outcomes.ts';

const names: Readonly<Record<Outcome, string>> = {
  paid: 'Paid',
  declined: 'Card declined',
  'too-little': 'Too little arrives',
  late: 'Arrives late',
  twice: 'Paid twice',
  'slow-chain': 'Slow chain',
};

/** The sandbox's buttons for every outcome. For developers, and so in English whatever the page speaks. */
export function playPanel(payment: Payment): Html {
  const buttons = outcomesOf(payment).map(
    (outcome) =>
      html`<button class="button" formaction="/pay/${payment.id}/sandbox/${outcome}">${names[outcome]}</button>`,
  );
  return html`<aside class="play" lang="en" dir="ltr" aria-labelledby="play"><h2 id="play">Sandbox: play an outcome</h2>
<p>Plays the customer at a simulated provider. “Late” takes about 20 seconds, and so long is the chain slow.</p>
<form method="post">${buttons}</form></aside>`;
}
