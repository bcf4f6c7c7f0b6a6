import { type Html, html, nothing } from '../design/html.ts';
import type { CheckoutView } from './checkout-view.ts';
import { fillIn } from './fill-in.ts';
import type { Language } from './languages.ts';
import type { Checkout } from './read-checkout.ts';

/** The ways to the shop, where it has told us of any: back once the payment is over, and for questions. */
export function shopLinks({ account, view }: Checkout, { words }: Language): Html {
  const { returnUrl, supportUrl } = account;
  const shop = account.name;
  const showsReturn = returnUrl !== null && isOver(view);
  if (!showsReturn && supportUrl === null) return nothing;
  return html`<div class="shop-links">
${showsReturn ? html`<p><a class="button primary wide" href="${returnUrl}"><span>${fillIn(words.shop.back, { shop })}</span></a></p>` : nothing}
${supportUrl === null ? nothing : html`<p><a href="${supportUrl}" rel="noreferrer">${fillIn(words.shop.support, { shop })}</a></p>`}
</div>`;
}

/** Whether the customer has nothing left to do or to wait for here. */
function isOver({ kind }: CheckoutView): boolean {
  return kind === 'paid' || kind === 'canceled' || kind === 'expired';
}
