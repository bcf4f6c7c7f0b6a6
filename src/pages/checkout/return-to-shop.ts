import type { Account } from '../../accounts/account.ts';
import { returnUrlOf } from '../../accounts/shop-profile.ts';
import { exclusionOf } from '../../providers/provider-availability.ts';
import { fillIn, type Language } from '../../web/checkout-layout/languages.ts';
import { dotted, type Html, html, nothing } from '../../web/design/html.ts';
import type { Words } from '../../web/locales/locale.ts';
import { type Checkout, canBePaid, isStuck } from './read-checkout.ts';

/** Renders the shop's links. The next step is a button: contact support, return to the shop or copy the reference. */
export function shopLinks(checkout: Checkout, language: Language): Html {
  const { account, path, payment } = checkout;
  const { name: shop, supportUrl } = account;
  const { words } = language;
  const way = returnOf(checkout);
  const isAlone = isStuck(checkout);
  const isShopNext = isAlone || needsShop(checkout, way);
  const isSupportNext = supportUrl !== null && isShopNext;
  const look = checkout.unservedCountry === undefined ? 'primary ' : '';
  const button = (url: string | null, label: Html, relation: Html = nothing) =>
    html`<p><a class="button ${look}wide" href="${url}"${relation}><span>${label}</span></a></p>`;
  const steps = [
    ...(isSupportNext
      ? [button(supportUrl, fillIn(words.shop.contact, { shop }), html` rel="noreferrer"`)]
      : []),
    ...(way === null || (isAlone && isSupportNext)
      ? []
      : [returnLink(way, shop, words, isSupportNext ? '' : look)]),
  ];
  if (isShopNext && steps.length === 0)
    steps.push(
      isAlone && exclusionOf(checkout.offers) === null
        ? button(path, html`${words.actions.tryAgain}`)
        : html`<button class="button wide" type="button" data-copy="${payment.id}" hidden>${words.facts.copyReference}</button>`,
    );
  const links = furtherLinks(account, language, !isSupportNext);
  return steps.length === 0 ? links : html`<div class="shop-links">${steps}${links}</div>`;
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

/** Returns whether the customer has to contact the shop, for example about a surplus. */
function needsShop({ view, offers }: Checkout, way: Return | null): boolean {
  if (view.kind === 'paid') return view.surplus !== null;
  if (view.kind === 'underpaid') return view.canBeCharged && !canBePaid({ offers });
  if (view.kind === 'canceled' || view.kind === 'expired') return way === null;
  return view.kind === 'closed_with_money' || view.kind === 'closed_and_released';
}

type Return = NonNullable<ReturnType<typeof returnOf>>;

/** Time after a payment during which the page redirects to the shop. */
const RETURNS_FOR_MS = 15 * 60_000;
/** Length of the visible countdown. Any key, pointer, scroll or focus change stops it (WCAG 2.2.1). */
const RETURNS_AFTER_SECONDS = 10;

function returnOf(checkout: Checkout) {
  const { payment, account, view, nowMs } = checkout;
  const isPaid = view.kind === 'paid';
  if (!isPaid && view.kind !== 'canceled' && view.kind !== 'expired' && !isStuck(checkout)) return null;
  const own = linkOf(payment.orderDetails?.returnUrl, payment.orderDetails?.cancelUrl, isPaid);
  const url = own ?? linkOf(account.returnUrl, account.failureUrl, isPaid);
  // Omits links to hosts that the account has removed, even on earlier checkouts.
  if (url === null || (own !== null && !account.returnHosts.includes(new URL(own).host))) return null;
  // Never redirects customers who paid too much or did not pay, because they must read what to do.
  const isAutomatic = isPaid && view.surplus === null && nowMs - view.paidAtMs < RETURNS_FOR_MS;
  return { url: new URL(returnUrlOf(url, payment.id)), isAutomatic };
}

function linkOf(returnUrl: string | null = null, failureUrl: string | null = null, isPaid: boolean) {
  return isPaid ? returnUrl : (failureUrl ?? returnUrl);
}

/** Renders the return link. The countdown stays hidden until the script shows it. */
function returnLink({ url, isAutomatic }: Return, shop: string, words: Words, look: 'primary ' | ''): Html {
  const { back, leadsTo, automatic, stay } = words.shop;
  const values = { host: url.host, seconds: String(RETURNS_AFTER_SECONDS) };
  const delay = isAutomatic ? html` data-return-after="${RETURNS_AFTER_SECONDS}"` : nothing;
  const stayButton = html`<button type="button" class="link" id="stay">${stay}</button>`;
  const countdown = html`<p class="until" id="automatic" role="timer" hidden>${fillIn(automatic, values)} ${stayButton}</p>`;
  return html`<p><a class="button ${look}wide" href="${url.href}"${delay}><span>${fillIn(back, { shop })}</span></a></p>
${isAutomatic ? countdown : html`<p class="until">${fillIn(leadsTo, values)}</p>`}`;
}
