import type { Account } from '../../accounts/account.ts';
import { returnUrlOf } from '../../accounts/shop-profile.ts';
import { fillIn, type Language } from '../../web/checkout-frame/languages.ts';
import { dotted, type Html, html, nothing } from '../../web/design/html.ts';
import type { Words } from '../../web/locales/locale.ts';
import type { CheckoutView } from './checkout-view.ts';
import type { Checkout } from './read-checkout.ts';

/** The shop's links. The one to take next is a button: support if only the shop can help, otherwise the way back. */
export function shopLinks(checkout: Checkout, language: Language): Html {
  const { account } = checkout;
  const { name: shop, supportUrl } = account;
  const { words } = language;
  const way = returnOf(checkout);
  const isSupportNext = needsShop(checkout.view) && supportUrl !== null;
  const links = furtherLinks(account, language, !isSupportNext);
  if (way === null && !isSupportNext) return links;
  const contactText = html`<span>${fillIn(words.shop.contact, { shop })}</span>`;
  const contact = html`<a class="button primary wide" href="${supportUrl}" rel="noreferrer">${contactText}</a>`;
  return html`<div class="shop-links">
${isSupportNext ? html`<p>${contact}</p>` : nothing}
${way === null ? nothing : returnLink(way, shop, words, isSupportNext ? 'plain' : 'primary')}
${links}
</div>`;
}

export function furtherLinks(
  { name: shop, supportUrl, termsUrl }: Account,
  { words }: Language,
  hasSupport: boolean,
): Html {
  const link = (url: string | null, text: string) =>
    url === null ? [] : [html`<a href="${url}" rel="noreferrer">${fillIn(text, { shop })}</a>`];
  const links = [
    ...(hasSupport ? link(supportUrl, words.shop.support) : []),
    ...link(termsUrl, words.shop.terms),
  ];
  if (links.length === 0) return nothing;
  return html`<p class="links">${dotted(links)}</p>`;
}

/** Whether only the shop can help, because money arrived that was not due. */
function needsShop(view: CheckoutView): boolean {
  if (view.kind === 'paid') return view.surplus !== null;
  return view.kind === 'closed_with_money' || view.kind === 'closed_and_released';
}

interface Return {
  readonly url: URL;
  readonly isAutomatic: boolean;
}

/** Time after the payment in which the page redirects. A receipt opened later does not redirect. */
const RETURNS_FOR_MS = 15 * 60_000;
/** Visible countdown, which any key, pointer, scroll or moved focus stops (WCAG 2.2.1). */
const RETURNS_AFTER_SECONDS = 10;

export function returnOf({ payment, account, view, nowMs }: Checkout): Return | null {
  const { returnUrl, failureUrl } = account;
  const isPaid = view.kind === 'paid';
  if (!isPaid && view.kind !== 'canceled' && view.kind !== 'expired') return null;
  const url = isPaid ? returnUrl : (failureUrl ?? returnUrl);
  if (url === null) return null;
  // Customers whose payment ended otherwise, or who overpaid, have to read what to do.
  const isAutomatic = isPaid && view.surplus === null && nowMs - view.paidAtMs < RETURNS_FOR_MS;
  return { url: new URL(returnUrlOf(url, payment.id)), isAutomatic };
}

/** The script shows the countdown, which stays hidden without it. */
function returnLink(
  { url, isAutomatic }: Return,
  shop: string,
  words: Words,
  look: 'primary' | 'plain',
): Html {
  const { back, leadsTo, automatic, stay } = words.shop;
  const values = { host: url.host, seconds: String(RETURNS_AFTER_SECONDS) };
  const delay = isAutomatic ? html` data-return-after="${RETURNS_AFTER_SECONDS}"` : nothing;
  const stayButton = html`<button type="button" class="link" id="stay">${stay}</button>`;
  const countdown = html`<p class="until" id="automatic" role="timer" hidden>${fillIn(automatic, values)} ${stayButton}</p>`;
  return html`<p><a class="button ${look === 'primary' ? 'primary ' : ''}wide" href="${url.href}"${delay}><span>${fillIn(back, { shop })}</span></a></p>
${isAutomatic ? countdown : html`<p class="until">${fillIn(leadsTo, values)}</p>`}`;
}
