import { type ProviderId, providerCatalog } from '../../payment/provider-catalog.ts';
import { sellerOf } from '../../providers/provider-availability.ts';
import { fillIn, formatMoney, formatUsdc, type Language } from '../../web/checkout-frame/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { type CheckoutView, isDeclined, isTakenByProvider } from './checkout-view.ts';
import { copyButton, groupedAddress } from './direct-payment.ts';
import { type Checkout, singleProviderOf } from './read-checkout.ts';
import { canContinueAt, foldedOffers, type OffersToAsk, providerButton, selector } from './selector.ts';
import { nameOf } from './state-words.ts';

type AtProvider = Extract<CheckoutView, { kind: 'at_provider' }>;
type Underpaid = Extract<CheckoutView, { kind: 'underpaid' }>;

export function actions(checkout: Checkout, language: Language, quotes?: OffersToAsk): Html {
  const { view } = checkout;
  switch (view.kind) {
    case 'choose':
      return choices(checkout, language, quotes);
    case 'at_provider':
      return isTakenByProvider(view) ? nothing : continueSession(view, checkout, language, quotes);
    case 'underpaid':
      return addTheRest(view, checkout, language, quotes);
    // The links to the shop are the only action.
    default:
      return nothing;
  }
}

function choices(checkout: Checkout, language: Language, quotes?: OffersToAsk): Html {
  const { offers, charge } = checkout;
  const single = singleProviderOf(checkout);
  const canServe = offers.some(({ provider, refusal }) => provider === single && refusal === null);
  if (single === null || !canServe) return selector({ checkout, offers, language, quotes });
  const { continueTo } = language.words.actions;
  const { payWith } = language.words.offers;
  const amount = formatMoney(language, charge.amountCents, charge.currency);
  const label = fillIn(charge.receivedUnits > 0n ? payWith : continueTo, {
    provider: nameOf(single),
    amount,
  });
  return providerButton(checkout.payment, single, label);
}

/** After a decline: another card at the same provider, then the best of the others. */
function continueSession(
  view: AtProvider,
  checkout: Checkout,
  language: Language,
  quotes?: OffersToAsk,
): Html {
  const { payment, offers } = checkout;
  const { actions } = language.words;
  const declined = isDeclined(view);
  const label = declined ? actions.tryAnotherCard : view.isOpen ? actions.continueAt : actions.startAgainAt;
  const again = canContinueAt(view.provider, checkout)
    ? providerButton(payment, view.provider, fillIn(label, { provider: nameOf(view.provider) }))
    : nothing;
  const others = offers.filter(({ provider }) => provider !== view.provider);
  if (declined)
    return html`${again}
${others.length === 0 ? nothing : selector({ checkout, offers: others, language, quotes })}`;
  return html`${again}
${paymentDelayHelp(view, checkout, language)}
${others.length === 0 ? nothing : foldedOffers({ checkout, offers: others, language })}`;
}

/** Help for a charged card without a delivery. */
function paymentDelayHelp({ provider }: AtProvider, checkout: Checkout, language: Language): Html {
  return html`<details><summary>${language.words.missing.question}</summary>
${providerHelp(provider, checkout, language)}
</details>`;
}

/** Usual delay of a provider, and the contact, which is the seller's. */
export function providerHelp(id: ProviderId, checkout: Checkout, { words }: Language): Html {
  const seller = sellerOf(id, checkout.offers);
  const provider = nameOf(seller);
  const { usual, ask, support } = words.missing;
  return html`<p>${usual} ${fillIn(ask, { provider })}</p>
<p><a href="${providerCatalog[seller].supportUrl}" rel="noopener noreferrer"
target="_blank">${fillIn(support, { provider })}<span class="quiet"> ${words.facts.newTab}</span></a></p>`;
}

/**
 * Ways to pay the rest: at a provider that can charge it, otherwise with the shop's help, or by a transfer from a
 * wallet.
 */
function addTheRest(view: Underpaid, checkout: Checkout, language: Language, quotes?: OffersToAsk): Html {
  const { path, payment, account, offers } = checkout;
  const { rest } = language.words;
  const missing = formatUsdc(language, view.missingUnits, 'up');
  const canBeCharged = offers.some(({ refusal }) => refusal === null);
  return html`<section><h2>${rest.heading}</h2>
${canBeCharged ? choices(checkout, language, quotes) : html`<p>${fillIn(rest.askShop, { shop: account.name })}</p>`}
<details><summary>${rest.fromWallet}</summary>
<p>${fillIn(rest.howTo, { missing })}</p>
<p>${groupedAddress(payment.depositAddress)}${copyButton(payment.depositAddress, language.words)}</p>
<img src="${path}/transfer.svg" alt="${rest.fromWallet}" width="180" height="180" loading="lazy">
</details></section>`;
}
