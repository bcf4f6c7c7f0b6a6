import { type ProviderId, providerCatalog } from '../../payment/provider-catalog.ts';
import { sellerOf } from '../../providers/provider-availability.ts';
import { fillIn, formatExactUsdc, type Language } from '../../web/checkout-layout/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { type CheckoutView, isDeclined, isTakenByProvider } from './checkout-view.ts';
import { nameOf } from './choose-words.ts';
import { exactUsdc, groupedAddress, networkIn } from './direct-payment.ts';
import { copyButton } from './facts-and-transactions.ts';
import { possibleOffers } from './rank-offers.ts';
import { type Checkout, canBePaid, singleProviderOf } from './read-checkout.ts';
import { foldedOffers, type OfferList, onlyProvider, sameProvider, selector } from './selector.ts';

type Underpaid = Extract<CheckoutView, { kind: 'underpaid' }>;

export function actions(selection: OfferList): Html {
  const { view } = selection.checkout;
  switch (view.kind) {
    case 'choose':
      return choices(selection);
    case 'at_provider':
      return isTakenByProvider(view) ? nothing : continueSession(view, selection);
    case 'underpaid':
      return addTheRest(view, selection);
    // Other views have only links to the shop.
    default:
      return nothing;
  }
}

function choices(selection: OfferList): Html {
  const { checkout, offers, question = null } = selection;
  const single = singleProviderOf(checkout);
  const chosen = question?.provider ?? single;
  const offer = possibleOffers(offers).find(({ provider }) => provider === chosen);
  if (offer === undefined) return selector(selection);
  const others = single === null ? offers.filter((each) => each !== offer) : [];
  return html`${onlyProvider(selection, offer)}${foldedOffers({ ...selection, offers: others })}`;
}

function continueSession(view: Extract<CheckoutView, { kind: 'at_provider' }>, selection: OfferList): Html {
  if (selection.question) return choices(selection);
  const { checkout, language } = selection;
  const { actions } = language.words;
  const declined = isDeclined(view);
  const label = declined ? actions.tryAnotherCard : view.isOpen ? actions.continueAt : actions.startAgainAt;
  const again = sameProvider(selection, view.provider, label);
  const others = {
    ...selection,
    offers: checkout.offers.filter(({ provider }) => provider !== view.provider),
  };
  if (declined)
    return html`${again}
${others.offers.length === 0 ? nothing : selector(others)}`;
  return html`${again}
<details><summary>${language.words.missing.question}</summary>
${providerHelp(view.provider, checkout, language)}
</details>
${foldedOffers(others)}`;
}

export function providerHelp(id: ProviderId, checkout: Checkout, language: Language): Html {
  const { words } = language;
  const seller = sellerOf(id, checkout.offers);
  const provider = nameOf(seller);
  const { usual, ask, support } = words.missing;
  return html`<p>${usual}${language.gap}${fillIn(ask, { provider })}</p>
<p><a href="${providerCatalog[seller].supportUrl}" rel="noopener noreferrer"
target="_blank">${fillIn(support, { provider })}<span class="quiet"> ${words.facts.newTab}</span></a></p>`;
}

/** Renders the ways to pay the rest: at a provider that can charge it, or else through the shop or from a wallet. */
function addTheRest(view: Underpaid, selection: OfferList): Html {
  const { checkout, language } = selection;
  const { path, payment, account, offers } = checkout;
  const { rest, direct, facts, missing: late } = language.words;
  // Offers no charge, because the provider of an earlier visit may still deliver the missing money.
  if (!view.canBeCharged) return html`<p>${late.usual}</p>`;
  return html`<section><h2>${rest.heading}</h2>
${canBePaid({ offers }) ? choices(selection) : html`<p>${fillIn(rest.askShop, { shop: account.name })}</p>`}
<details><summary>${rest.fromWallet}</summary>
<p>${fillIn(direct.onlyThere, { network: networkIn(language.words, payment.chainId) })}</p>
<p><bdi>${formatExactUsdc(language, view.missingUnits)}</bdi>${copyButton(exactUsdc(view.missingUnits), language.words, facts.amount)}</p>
<p>${groupedAddress(payment.depositAddress)}${copyButton(payment.depositAddress, language.words, direct.to)}</p>
<img src="${path}/transfer.svg" alt="${rest.fromWallet}" width="180" height="180" loading="lazy">
</details></section>`;
}
