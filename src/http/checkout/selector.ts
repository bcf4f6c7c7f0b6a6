import type { Payment } from '../../domain/payment.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { ProviderOffer, Refusal } from '../../payments/provider-availability.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { formatMoney } from './format-money.ts';
import { nameOf, refusalWords } from './words.ts';

const arrow = html`<svg class="arrow turns" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M7 4l6 6-6 6" fill="none" stroke="currentColor" stroke-width="2"/></svg>`;

/** The address a click on a provider posts to. */
function visitPath(payment: Payment, provider: ProviderId): string {
  return `/pay/${payment.id}/providers/${provider}`;
}

/** The one button that leads to a provider, where there is one to go to. */
export function visitButton(payment: Payment, provider: ProviderId, label: string): Html {
  return html`<form method="post" action="${visitPath(payment, provider)}"><button class="button primary wide" type="submit" data-provider="${nameOf(provider)}">${label}${arrow}</button></form>`;
}

/** A button for each provider that can serve the payment, and the reason for each that cannot. */
export function selector(payment: Payment, offers: readonly ProviderOffer[]): Html {
  const possible = offers.filter(({ refusal }) => refusal === null);
  const refused = offers.filter((offer): offer is RefusedOffer => offer.refusal !== null);
  return html`${possible.length === 0 ? nothing : possibleOffers(payment, possible)}
${refused.length === 0 ? nothing : refusedOffers(payment, refused)}`;
}

type RefusedOffer = ProviderOffer & { readonly refusal: Refusal };

function possibleOffers(payment: Payment, offers: readonly ProviderOffer[]): Html {
  const amount = formatMoney(payment.amountCents, payment.currency);
  const currencyOfMinimum = payment.currency === 'USD' ? '' : ' USD';
  return html`<form method="post"><ul class="offers">${offers.map(
    ({ provider, name, minimumUsdCents }) => html`
<li><button type="submit" formaction="${visitPath(payment, provider)}" data-provider="${name}"><span><span class="quiet">Pay at </span><b>${name}</b> <small>min. ${formatMoney(minimumUsdCents, 'USD')}${currencyOfMinimum}</small></span><span class="charge">${amount}</span>${arrow}</button></li>`,
  )}
</ul></form>`;
}

function refusedOffers(payment: Payment, offers: readonly RefusedOffer[]): Html {
  return html`<section><h2>Not for this payment</h2>
<ul class="refused">${offers.map(
    (offer) => html`
<li><b>${offer.name}</b> <span>${refusalWords(offer, payment)}</span></li>`,
  )}
</ul></section>`;
}
