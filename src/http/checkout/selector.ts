import type { Payment } from '../../domain/payment.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { ProviderOffer, Refusal } from '../../payments/provider-availability.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { fillIn } from './fill-in.ts';
import { formatMoney, formatMoneyAndCode } from './format-money.ts';
import type { Language } from './languages.ts';
import type { Checkout } from './read-checkout.ts';
import { refusalWords } from './refusal-words.ts';
import { nameOf } from './state-words.ts';

const arrow = html`<svg class="arrow turns" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M7 4l6 6-6 6" fill="none" stroke="currentColor" stroke-width="2"/></svg>`;

/** The address a click on a provider posts to. */
function visitPath(payment: Payment, provider: ProviderId): string {
  return `/pay/${payment.id}/providers/${provider}`;
}

/** The one button that leads to a provider, where there is one to go to. */
export function visitButton(payment: Payment, provider: ProviderId, label: Html): Html {
  return html`<form method="post" action="${visitPath(payment, provider)}"><button class="button primary wide" type="submit" data-provider="${nameOf(provider)}">${label}${arrow}</button></form>`;
}

/** A button for each provider that can serve the payment, and the reason for each that cannot. */
export function selector(checkout: Checkout, offers: readonly ProviderOffer[], language: Language): Html {
  const possible = offers.filter(({ refusal }) => refusal === null);
  const refused = offers.filter((offer): offer is RefusedOffer => offer.refusal !== null);
  return html`${possible.length === 0 ? nothing : possibleOffers(checkout, possible, language)}
${refused.length === 0 ? nothing : refusedOffers(checkout, refused, language)}`;
}

type RefusedOffer = ProviderOffer & { readonly refusal: Refusal };

function possibleOffers({ payment }: Checkout, offers: readonly ProviderOffer[], language: Language): Html {
  const { offers: words } = language.words;
  const amount = formatMoney(language, payment.amountCents, payment.currency);
  const formatMinimum = payment.currency === 'USD' ? formatMoney : formatMoneyAndCode;
  return html`<form method="post"><ul class="offers">${offers.map(
    ({ provider, name, minimumUsdCents }) => html`
<li><button type="submit" formaction="${visitPath(payment, provider)}" data-provider="${name}"><span><span class="quiet">${fillIn(words.payAt, { provider: name })}</span><b aria-hidden="true">${name}</b> <small>${fillIn(words.minimum, { amount: formatMinimum(language, minimumUsdCents, 'USD') })}</small></span><bdi class="charge">${amount}</bdi>${arrow}</button></li>`,
  )}
</ul></form>`;
}

function refusedOffers(checkout: Checkout, offers: readonly RefusedOffer[], language: Language): Html {
  return html`<section><h2>${language.words.offers.notForThis}</h2>
<ul class="refused">${offers.map(
    (offer) => html`
<li><b>${offer.name}</b> <span>${refusalWords(language, offer, checkout)}</span></li>`,
  )}
</ul></section>`;
}
