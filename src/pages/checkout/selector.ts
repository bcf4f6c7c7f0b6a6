import {
  customerFacts,
  MULTI_PROVIDER,
  meansInBrowser,
  type PaymentMeans,
  type ProviderId,
} from '../../payment/provider-catalog.ts';
import type { Charge } from '../../payment/session-charge.ts';
import type { Quotes } from '../../providers/ask-quotes.ts';
import type { ProviderOffer } from '../../providers/provider-availability.ts';
import { fillIn, formatMinutes, formatMoney, type Language } from '../../web/checkout-layout/languages.ts';
import { dotted, type Html, html, nothing } from '../../web/design/html.ts';
import { isDeclined, isTakenByProvider } from './checkout-view.ts';
import { nameOf, refusalWords } from './choose-words.ts';
import { countryField, countryName, SESSION_FORM } from './country.ts';
import {
  higherChargeOf,
  inExpectedOrder,
  type MeansRow,
  meansFor,
  type OfferRow,
  possibleOffers,
} from './rank-offers.ts';
import { type Checkout, isStuck } from './read-checkout.ts';

const arrow = html`<i class="arrow"></i>`;

/** Returns the path that starts a row's session. A higher total that is shown becomes the maximum charge. */
function sessionPath({ payment, charge }: Checkout, row: OfferRow): string {
  const totalCents = higherChargeOf(row, charge);
  const query = [row.means && `means=${row.means}`, totalCents && `total=${totalCents}`].filter(Boolean);
  return `/pay/${payment.id}/providers/${row.offer.provider}${query.length > 0 ? `?${query.join('&')}` : ''}`;
}

function providerButton(checkout: Checkout, row: OfferRow, label: Html, look = 'primary '): Html {
  return html`<p><button class="button ${look}wide" form="${SESSION_FORM}"
formaction="${sessionPath(checkout, row)}" data-provider="${row.offer.name}"><span>${label}</span>${arrow}</button></p>`;
}

/** Renders the button to the last session's provider, with any higher total; empty if it cannot be used. */
export function sameProvider(selection: OfferList, provider: ProviderId, label: string): Html {
  const { checkout, language } = selection;
  const offer = possibleOffers(checkout.offers).find((each) => each.provider === provider);
  if (offer === undefined) return nothing;
  const row = rowFor(selection, offer);
  return html`${providerButton(checkout, row, fillIn(label, { provider: offer.name }))}
${totalNote(row, checkout.charge, language).map((note) => html`<p class="until">${note}</p>`)}`;
}

export interface OfferList {
  readonly checkout: Checkout;
  readonly offers: readonly ProviderOffer[];
  readonly language: Language;
  readonly quotes?: OffersToAsk | undefined;
  readonly userAgent?: string | undefined;
  readonly question?: CountryQuestion | null | undefined;
  readonly means?: PaymentMeans | null | undefined;
  readonly isChanging?: boolean | undefined;
}

/** Renders payment methods with a link to all providers. After a decline, the best alternative comes first. */
export function selector(selection: OfferList): Html {
  const { checkout, offers, language, quotes, userAgent = '', means, isChanging } = selection;
  const { view } = checkout;
  const country = quotes?.customerCountry ?? null;
  const rows = rowsIn(selection);
  if (rows.length === 0) return html`${otherCountry(selection)}${refusedOffers(selection)}`;
  if (view.kind === 'at_provider' && isDeclined(view)) return insteadOf(view.provider, selection, rows);
  const ways = meansFor({ ...checkout, offers }, country, userAgent, (offer, named) =>
    rowFor(selection, offer, named),
  );
  const chosen = ways.find((way) => way.means === means);
  if (chosen !== undefined && isChanging)
    return html`<section id="change"><h2>${titleOf(chosen.means, language)}</h2>
${rowsOf(chosen.sellers, selection)}
<p class="back"><a href="${checkout.path}?means=${chosen.means}">${language.words.actions.backToCheckout}</a></p></section>`;
  return ways.length === 0
    ? html`${rowsOf(rows, selection)}${refusedOffers(selection)}`
    : choiceOfMeans(selection, ways, rows);
}

/** Renders a field for correcting the country if no provider serves it. */
function otherCountry({ checkout, language, quotes }: OfferList): Html {
  if (checkout.unservedCountry === undefined) return nothing;
  return html`${countryField(language, quotes?.customerCountry ?? null, true)}
<p><button class="button primary wide" form="${SESSION_FORM}"
formaction="/pay/${checkout.payment.id}/providers/${MULTI_PROVIDER}">${language.words.offers.change}</button></p>`;
}

interface Seen extends Pick<OfferList, 'language' | 'quotes'> {
  readonly refused?: Pick<ProviderOffer, 'provider' | 'refusal'> | null | undefined;
}

/** Adds refusals of this customer, from quotes or a click, that the catalog does not include. */
export function asSeen(checkout: Checkout, { language, quotes, refused }: Seen): Checkout {
  const { view } = checkout;
  const { source = null, customerCountry = null, customerState } = quotes ?? {};
  const isHere = (provider: ProviderId) => view.kind === 'at_provider' && view.provider === provider;
  const offers = checkout.offers.map((offer): ProviderOffer => {
    const { provider } = offer;
    if (offer.refusal === null && refused?.provider === provider)
      return { ...offer, refusal: refused.refusal };
    if (offer.refusal !== null || isHere(provider)) return offer;
    const outcome = source?.peek(provider, checkout.charge, customerCountry, null, customerState);
    if (outcome?.kind !== 'refused') return offer;
    const { minimumUsdCents = offer.minimumUsdCents } = outcome.refusal;
    return { ...offer, refusal: outcome.refusal, minimumUsdCents };
  });
  const seen = { ...checkout, offers };
  const isExcluded = ({ refusal }: ProviderOffer, index: number) =>
    refusal?.errorName === 'provider_inactive' && checkout.offers[index]?.refusal === null;
  if (refused && isHere(refused.provider) && 'hasLittleArrived' in view && !isTakenByProvider(view))
    return { ...seen, view: { kind: 'choose', hasLittleArrived: view.hasLittleArrived } };
  if (customerCountry === null || !isStuck(seen) || !offers.some(isExcluded)) return seen;
  return { ...seen, unservedCountry: countryName(language, customerCountry) };
}

export function foldedOffers(selection: OfferList, rows: readonly OfferRow[] = rowsIn(selection)): Html {
  if (rows.length === 0) return nothing;
  const heading = fillIn(selection.language.words.offers.otherWays, { count: String(rows.length) });
  return html`<details class="others"><summary>${heading}</summary>
${rowsOf(rows, selection)}${refusedOffers(selection)}</details>`;
}

function rowsIn(selection: OfferList): readonly OfferRow[] {
  const { checkout, offers, quotes } = selection;
  const rows = possibleOffers(offers).map((offer) => rowFor(selection, offer));
  return inExpectedOrder(checkout, rows, quotes?.customerCountry);
}

export function onlyProvider(selection: OfferList, offer: ProviderOffer): Html {
  const { checkout, language, quotes, question = null } = selection;
  const { charge } = checkout;
  const { actions, offers } = language.words;
  const row = rowFor(selection, offer, question?.means);
  const amount = formatMoney(language, totalCentsOf(row, charge), charge.currency);
  const template = charge.receivedUnits > 0n ? offers.pay : actions.continueTo;
  const reason = fillIn(offers.countryReason, { provider: nameOf(offer.seller) });
  return html`${offer.needsCountry || question !== null ? countryField(language, quotes?.customerCountry ?? null, true, reason) : nothing}
${providerButton(checkout, row, fillIn(template, { provider: offer.name, amount }))}
${promises(selection, [row])}`;
}

/** Id of the provider list. A link opens it without script, and going back closes it. */
const SERVICES = 'services';

/** Renders payment methods above one button, and a provider list that replaces them. */
function choiceOfMeans(selection: OfferList, ways: readonly MeansRow[], rows: readonly OfferRow[]): Html {
  const { checkout, language, quotes } = selection;
  const { offers: words, actions, page } = language.words;
  const hasMore = rows.length + refusedOf(selection.offers).length > 1;
  const all = fillIn(words.all, { count: String(rows.length) });
  const totals = new Set(ways.map((row) => totalCentsOf(row, checkout.charge)));
  const amount = formatMoney(language, Math.max(...totals), checkout.charge.currency);
  const label = totals.size === 1 ? fillIn(words.pay, { amount }) : html`${page.pay}`;
  const chosen = ways.find(({ means }) => means === selection.means);
  const needing = ways.filter(({ offer }) => offer.needsCountry);
  const reasons = ways.map(({ offer }, index) =>
    offer.needsCountry
      ? html`<span class="of-${index}">${fillIn(words.countryReason, { provider: nameOf(offer.seller) })}</span> `
      : nothing,
  );
  const list = html`<section id="${SERVICES}"><h2>${all}</h2>
${rowsOf(rows, selection)}${refusedOffers(selection)}
<p class="back"><a href="#checkout">${actions.backToCheckout}</a></p></section>`;
  const submit = html`form="${SESSION_FORM}" formaction="/pay/${checkout.payment.id}/providers/${MULTI_PROVIDER}"`;
  // Puts a hidden button before those of the list, because Enter presses a form's first button.
  return html`<button ${submit} hidden></button>${hasMore ? list : nothing}
<div class="ask"><fieldset class="ways"><legend class="quiet">${language.words.states.choose.heading}</legend>${ways.map(
    (row, index) => meansRow(selection, row, index, row === (chosen ?? ways[0])),
  )}${hasMore ? html`<a class="way" href="#${SERVICES}"><span>${all}</span>${arrow}</a>` : nothing}</fieldset>
${needing.length === 0 ? nothing : countryField(language, quotes?.customerCountry ?? null, needing.length === ways.length, html`${reasons}`)}
<p><button class="button primary wide" ${submit}><span>${label}</span></button></p>
${promises(selection, ways)}</div>`;
}

const tiles: Readonly<Record<PaymentMeans, string>> = {
  card: '',
  apple_pay: 'Pay',
  google_pay: 'G Pay',
  paypal: 'PP',
  klarna: 'K.',
};

/** Returns a payment method's name. Wallet names are the same in all languages. */
function titleOf(means: PaymentMeans, { words }: Language): string {
  const wallets = { apple_pay: 'Apple Pay', google_pay: 'Google Pay', paypal: 'PayPal', klarna: 'Klarna' };
  return means === 'card' ? words.offers.card : wallets[means];
}

/** Renders a row whose value names the provider, so that the customer gets the provider shown. */
function meansRow(selection: OfferList, row: MeansRow, index: number, isChosen: boolean): Html {
  const { checkout, language } = selection;
  const { offers: words } = language.words;
  const { means, offer, sellers } = row;
  const { provider, seller } = offer;
  const { usualMinutes } = customerFacts[seller];
  const name = nameOf(seller);
  const choice = `${provider} ${means} ${higherChargeOf(row, checkout.charge) ?? ''}`.trim();
  const time =
    usualMinutes === null
      ? nothing
      : html` <small>${formatMinutes(language, usualMinutes, 'shortMinutes')}</small>`;
  const total = totalNote(row, checkout.charge, language).map(
    (note) => html` <small class="total">${note}</small>`,
  );
  const change =
    sellers.length > 1 ? [html`<a href="${checkout.path}?change=${means}#change">${words.change}</a>`] : [];
  const notes = [fillIn(words.through, { provider: name }), ...conditionsOf(row, language), ...change];
  return html`
<div class="way"><input type="radio" name="choice" value="${choice}" id="${means}" class="at-${index}${offer.needsCountry ? ' asks' : ''}"
form="${SESSION_FORM}" data-provider="${name}" aria-describedby="via-${index}"${isChosen ? html` checked` : nothing}>
<span class="tile" aria-hidden="true">${tiles[means]}</span>
<label for="${means}"><b>${titleOf(means, language)}</b>${time}${total}</label>
<p class="via" id="via-${index}">${dotted(notes)}</p></div>`;
}

function promises({ checkout, language }: OfferList, rows: readonly OfferRow[]): Html {
  const { account, charge } = checkout;
  const { assurances, facts } = language.words;
  const finishes = rows.map((row, index) => {
    const amount = formatMoney(language, totalCentsOf(row, charge), charge.currency);
    const values = { amount, provider: nameOf(row.offer.seller) };
    const finish = higherChargeOf(row, charge) === null ? assurances.exact : assurances.above;
    return html`<li class="of-${index}">${fillIn(finish, values)}${language.gap}${fillIn(assurances.statement, values)}</li>`;
  });
  return html`<ul class="promises">${finishes}
<li>${fillIn(assurances.money, { shop: account.name })}${language.gap}<a href="/docs/faq#where-can-a-customers-money-go" target="_blank"
rel="noopener noreferrer">${assurances.check}<span class="quiet"> ${facts.newTab}</span></a></li></ul>`;
}

/** Renders the offers after a decline. The first button is secondary if another card can be tried. */
function insteadOf(declined: ProviderId, selection: OfferList, [lead, ...others]: readonly OfferRow[]): Html {
  if (lead === undefined) return nothing;
  const { checkout, language } = selection;
  const { payInstead } = language.words.offers;
  const look = canContinueAt(declined, checkout) ? '' : 'primary ';
  return html`<div class="ask">${providerButton(checkout, lead, fillIn(payInstead, { provider: lead.offer.name }), look)}
${offerDetails(selection, lead).map((notes) => html`<p class="until">${notes}</p>`)}</div>
${others.length === 0 ? refusedOffers(selection) : foldedOffers(selection, others)}`;
}

function rowsOf(rows: readonly OfferRow[], selection: OfferList): Html {
  return html`<ul class="offers">${rows.map((row) => offerRow(selection, row))}</ul>`;
}

function offerRow(selection: OfferList, row: OfferRow): Html {
  const { checkout, language } = selection;
  // The accessible name is the whole text. Only the provider's name is visible.
  const [before = '', after = ''] = language.words.offers.payAt.split('{provider}');
  const quiet = (text: string) => (text === '' ? nothing : html`<span class="quiet">${text}</span>`);
  return html`
<li><button class="way" form="${SESSION_FORM}" formaction="${sessionPath(checkout, row)}"
formnovalidate><span><b>${quiet(before)}<bdi>${row.offer.name}</bdi>${quiet(after)}</b>
${offerDetails(selection, row).map((notes) => html`<small>${notes}</small>`)}</span>${arrow}</button></li>`;
}

function totalNote(row: OfferRow, charge: Charge, language: Language): readonly Html[] {
  const chargedCents = higherChargeOf(row, charge);
  if (chargedCents === null) return [];
  const amount = formatMoney(language, chargedCents, charge.currency);
  return [fillIn(language.words.offers.charges, { amount })];
}

function conditionsOf(
  { offer, outcome, isLastChoice = false }: OfferRow,
  { words }: Language,
): readonly Html[] {
  const { lastChoice, accountNeeded, idNeeded, silent, busy } = words.offers;
  const { needs } = customerFacts[offer.provider];
  return [
    ...(isLastChoice ? [html`${lastChoice}`] : []),
    ...(needs === 'account' ? [fillIn(accountNeeded, { provider: offer.name })] : []),
    ...(needs === 'id' ? [html`${idNeeded}`] : []),
    ...(outcome?.kind === 'silent' ? [html`${silent}`] : []),
    ...(outcome?.kind === 'busy' ? [html`${busy}`] : []),
  ];
}

/** Returns "Card · Usually 1–5 minutes · Coinbase account required"; empty if nothing is known. */
function offerDetails({ checkout, language, userAgent = '' }: OfferList, row: OfferRow): readonly Html[] {
  const { name, provider, seller } = row.offer;
  const { usualMinutes } = customerFacts[seller];
  const means = meansInBrowser(userAgent)
    .filter((each) => row.means == null && customerFacts[provider].means.includes(each))
    .map((each) => titleOf(each, language));
  const { usually } = language.words.offers;
  const time =
    usualMinutes === null ? [] : [fillIn(usually, { time: formatMinutes(language, usualMinutes) })];
  const notes = [
    ...totalNote(row, checkout.charge, language),
    ...means.filter((title) => title !== name).map((title) => html`${title}`),
    ...time,
    ...conditionsOf(row, language),
  ];
  return notes.length === 0 ? [] : [dotted(notes)];
}

function refusedOffers({ checkout, offers, language }: OfferList): Html {
  const refused = refusedOf(offers);
  if (refused.length === 0) return nothing;
  return html`<section><h2>${language.words.offers.notForThis}</h2>
<dl class="facts">${refused.map(
    (offer) => html`
<div><dt>${offer.name}</dt><dd>${refusalWords(language, offer, checkout)}</dd></div>`,
  )}
</dl></section>`;
}

export interface OffersToAsk {
  /** Source of quotes; null if the page's script presses the button, which must not accept a higher total. */
  readonly source: Quotes | null;
  readonly lastChoice: ProviderId | null;
  /** Customer's country (ISO 3166-1 alpha-2); null if unknown. */
  readonly customerCountry: string | null;
  /** Code of a US state; null or absent if unknown. */
  readonly customerState?: string | null;
}

/** Click that needs the customer's country, which was missing or refused. */
export interface CountryQuestion {
  readonly provider: ProviderId;
  /** Null for the provider's default payment method. */
  readonly means: PaymentMeans | null;
}

function refusedOf(offers: readonly ProviderOffer[]): readonly ProviderOffer[] {
  return offers.filter(({ refusal }) => refusal !== null);
}

/** Returns what the list without quotes depends on, apart from the payment. */
export function offersInBrief({ offers }: Checkout): string {
  return offers
    .map(
      ({ provider, refusal }) => `${provider} ${refusal?.errorName ?? ''} ${refusal?.minimumUsdCents ?? ''}`,
    )
    .join();
}

function rowFor(
  { checkout, quotes }: OfferList,
  offer: ProviderOffer,
  means?: PaymentMeans | null,
): OfferRow {
  if (!quotes?.source) return { offer, means };
  const { source, customerCountry, customerState, lastChoice } = quotes;
  const outcome = source.peek(offer.provider, checkout.charge, customerCountry, means, customerState);
  return { offer, means, outcome, isLastChoice: offer.provider === lastChoice };
}

export function canContinueAt(provider: ProviderId, { offers }: Pick<Checkout, 'offers'>): boolean {
  return possibleOffers(offers).some((offer) => offer.provider === provider);
}

function totalCentsOf(row: OfferRow, charge: Charge): number {
  return higherChargeOf(row, charge) ?? charge.amountCents;
}
