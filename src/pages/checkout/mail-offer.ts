import { fillIn, type Language } from '../../web/checkout-frame/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import type { Checkout } from './read-checkout.ts';
import { waitOf } from './wait.ts';

/* The customer's own address for one mail. It is never shown, because anyone with the link sees the page. */

export function mailOffer(checkout: Checkout, { words }: Language): Html {
  const { path, mail, view, account } = checkout;
  const { mail: names } = words;
  const isPaid = view.kind === 'paid';
  if (mail === null || mail === 'failed' || mail === 'sent' || (isPaid && mail === 'own')) return nothing;
  const close = waitOf(checkout) === null ? nothing : html`<strong>${words.wait.close}</strong> `;
  const form = html`<form method="post" action="${path}/email"><label for="email">${names.address}</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required placeholder="you@example.com" dir="ltr"
aria-describedby="email-hint"><button class="button">${names.send}</button>
<p id="email-hint">${fillIn(names.once, { shop: account.name })}</p></form>`;
  if (mail === 'none')
    return html`<p>${close}${isPaid ? html`<strong>${names.receipt}</strong>` : names.tell}</p>${form}`;
  if (mail === 'own') return html`<p>${close}${names.own}</p>`;
  if (isPaid) return html`<p role="status">${names.coming}</p>`;
  return html`<p role="status">${close}${names.told}</p><details><summary>${names.another}</summary>${form}</details>`;
}
