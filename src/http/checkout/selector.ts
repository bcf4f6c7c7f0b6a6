import type { Payment } from '../../domain/payment.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { QuoteOutcome } from '../../payments/ask-quotes.ts';
import type { ProviderOffer, Refusal } from '../../payments/provider-availability.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { fillIn } from './fill-in.ts';
import { formatMoney, formatMoneyAndCode, formatUsdc } from './format-money.ts';
import type { Language } from './languages.ts';
import type { Checkout } from './read-checkout.ts';
import { refusalWords } from './refusal-words.ts';
import { nameOf } from './state-words.ts';

const arrow = html`<svg class="arrow turns" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M7 4l6 6-6 6" fill="none" stroke="currentColor" stroke-width="2"/></svg>`;

/** Where the offers come to stand in a page that is sent while the providers are asked. */
export const offersToCome = html`<!--offers-->`;

/** The address a click on a provider posts to. */
export function visitPath(payment: Payment, provider: ProviderId): string {
  return `/pay/${payment.id}/providers/${provider}`;
}

/**
 * The form that all buttons of the page send, which stands outside of the parts that change: so what it proves of the
 * visitor stays when those parts are replaced.
 */
export const VISIT_FORM = 'visit';

/** The one button that leads to a provider, where there is one to go to. */
export function visitButton(payment: Payment, provider: ProviderId, label: Html): Html {
  return html`<p><button class="button primary wide" type="submit" form="${VISIT_FORM}" formaction="${visitPath(payment, provider)}" data-provider="${nameOf(provider)}"><span>${label}</span>${arrow}</button></p>`;
}

/** A button for each provider that can serve the payment, and the reason for each that cannot. */
export function selector(
  checkout: Checkout,
  offers: readonly ProviderOffer[],
  language: Language,
  list: Html = plainOffers(checkout, offers, language),
): Html {
  const refused = offers.filter((offer): offer is RefusedOffer => offer.refusal !== null);
  return html`${possibleOffers(offers).length === 0 ? nothing : list}
${refused.length === 0 ? nothing : refusedOffers(checkout, refused, language)}`;
}

type RefusedOffer = ProviderOffer & { readonly refusal: Refusal };

/** The offers that can be chosen. */
export function possibleOffers(offers: readonly ProviderOffer[]): readonly ProviderOffer[] {
  return offers.filter(({ refusal }) => refusal === null);
}

/** All that the list without quotes depends on, besides the payment. */
export function offersInBrief({ offers }: Checkout): string {
  return possibleOffers(offers)
    .map(({ provider, minimumUsdCents }) => `${provider} ${minimumUsdCents}`)
    .join();
}

/** The list without quotes. */
function plainOffers(checkout: Checkout, offers: readonly ProviderOffer[], language: Language): Html {
  const rows = possibleOffers(offers).map((offer) => offerRow(checkout, { offer }, language));
  return html`<ul class="offers">${rows}</ul>`;
}

/** What a row of the list says. */
export interface OfferRow {
  readonly offer: ProviderOffer;
  /** What the provider says it would do; left out where it was not asked. */
  readonly outcome?: QuoteOutcome;
  /** Whether the customer went there the last time. */
  readonly isLastChoice?: boolean;
}

/** One provider: a button, or its own reason why it cannot serve. */
export function offerRow(checkout: Checkout, row: OfferRow, language: Language): Html {
  const { offer, outcome } = row;
  if (outcome?.kind === 'refused') {
    const reason = refusalWords(language, { ...offer, refusal: outcome.refusal }, checkout);
    return html`
<li class="off"><b>${offer.name}</b> <span>${reason}</span></li>`;
  }
  const { payment } = checkout;
  const { offers: words } = language.words;
  const amount = formatMoney(language, payment.amountCents, payment.currency);
  return html`
<li id="offer-${offer.provider}"><button type="submit" form="${VISIT_FORM}" formaction="${visitPath(payment, offer.provider)}" data-provider="${offer.name}"><span><span class="quiet">${fillIn(words.payAt, { provider: offer.name })}</span><b aria-hidden="true">${offer.name}</b>${row.isLastChoice === true ? html` <span class="badge">${words.lastChoice}</span>` : nothing} <small>${particulars(checkout, row, language)}</small></span><span class="price"><bdi class="charge">${amount}</bdi>${outcome === undefined ? nothing : html` <span class="badge good best">${words.best}</span>`}</span>${arrow}</button></li>`;
}

/** "min. $20.00 · 24.93 USDC arrives". */
function particulars({ payment }: Checkout, { offer, outcome }: OfferRow, language: Language): Html {
  const { offers: words } = language.words;
  const formatMinimum = payment.currency === 'USD' ? formatMoney : formatMoneyAndCode;
  const minimum = fillIn(words.minimum, { amount: formatMinimum(language, offer.minimumUsdCents, 'USD') });
  if (outcome?.kind === 'silent') return html`${minimum} · ${words.silent}`;
  if (outcome?.kind === 'busy') return html`${minimum} · ${words.busy}`;
  const units = outcome?.kind === 'quoted' ? outcome.quote.deliveryUnits : null;
  if (units === null) return minimum;
  return html`${minimum} · ${fillIn(words.delivers, { amount: formatUsdc(language, units, 'down') })}`;
}

function refusedOffers(checkout: Checkout, offers: readonly RefusedOffer[], language: Language): Html {
  return html`<section><h2>${language.words.offers.notForThis}</h2>
<ul class="refused">${offers.map(
    (offer) => html`
<li><b>${offer.name}</b> <span>${refusalWords(language, offer, checkout)}</span></li>`,
  )}
</ul></section>`;
}
