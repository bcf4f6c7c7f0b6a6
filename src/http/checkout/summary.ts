import type { Account } from '../../domain/account.ts';
import type { Payment } from '../../domain/payment.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { formatMoney } from './format-money.ts';

/** Who asks for how much, with the fee where the customer bears it. */
export function summary(payment: Payment, account: Account): Html {
  const { amountCents, currency } = payment;
  return html`<header class="summary">
<p class="shop"><span class="initial" aria-hidden="true">${initialOf(account.name)}</span> <span><span class="label">Payment to</span> <bdi>${account.name}</bdi></span></p>
<p class="amount">${formatMoney(amountCents, currency)} <abbr>${currency}</abbr></p>
${feeLine(payment)}
</header>`;
}

function feeLine({ originalAmountCents, customerFeeCents, currency }: Payment): Html {
  if (originalAmountCents === null || customerFeeCents === null) return nothing;
  return html`<p class="fee">${formatMoney(originalAmountCents, currency)} + ${formatMoney(customerFeeCents, currency)} fee</p>`;
}

/** Made once: that takes 20 µs. */
const segmenter = new Intl.Segmenter();

/** The first letter as people see it, which may be several code points. */
function initialOf(name: string): string {
  const text = name.trim();
  // Two plain characters are never one letter, and looking closer takes 5 µs.
  const first = /^[ -~]{2}/.test(text) ? text.charAt(0) : segmenter.segment(text).containing(0)?.segment;
  return first?.toUpperCase() ?? '';
}
