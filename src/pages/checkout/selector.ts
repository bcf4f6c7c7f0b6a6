import type { Payment } from '../../payment/payment.ts';
import {
  assumedDeliveryUnits,
  customerFacts,
  isPaymentMeans,
  meansInBrowser,
  type PaymentMeans,
  type ProviderId,
} from '../../payment/provider-catalog.ts';
import type { Charge } from '../../payment/session-charge.ts';
import type { QuoteOutcome, Quotes } from '../../providers/ask-quotes.ts';
import {
  type ProviderOffer,
  type Refusal,
  requireServedAmount,
} from '../../providers/provider-availability.ts';
import { exploredProvider, orderBySuccess } from '../../providers/provider-success.ts';
import { fillIn, formatMinutes, formatMoney, type Language } from '../../web/checkout-frame/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { isDeclined } from './checkout-view.ts';
import type { CheckoutRequest } from './context.ts';
import { emailTokenField } from './known-email.ts';
import type { Checkout } from './read-checkout.ts';
import { nameOf, refusalWords } from './state-words.ts';

const arrow = html`<svg class="arrow turns" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
<path d="M7 4l6 6-6 6" fill="none" stroke="currentColor" stroke-width="2"/></svg>`;

function sessionPath(payment: Payment, provider: ProviderId, means: PaymentMeans | null = null): string {
  return `/pay/${payment.id}/providers/${provider}${means === null ? '' : `?means=${means}`}`;
}

/** Form of all provider buttons on the page. Outside the parts that change, so that the visitor's token remains. */
export const SESSION_FORM = 'provider-session';

export function providerButton(
  payment: Payment,
  provider: ProviderId,
  label: Html,
  look: 'primary' | 'plain' = 'primary',
): Html {
  return html`<p><button class="button ${look === 'primary' ? 'primary ' : ''}wide" type="submit" form="${SESSION_FORM}"
formaction="${sessionPath(payment, provider)}" data-provider="${nameOf(provider)}"><span>${label}</span>${arrow}</button></p>`;
}

interface OfferList {
  readonly checkout: Checkout;
  readonly offers: readonly ProviderOffer[];
  readonly language: Language;
  /** Source of quotes; without it, the offers have none. */
  readonly quotes?: OffersToAsk | undefined;
}

/** The best offer as a button, the others folded below it, in their order (see `inExpectedOrder`). */
export function selector(selection: OfferList): Html {
  const { checkout, offers, quotes } = selection;
  const possible = possibleOffers(offers);
  if (possible.length === 0) return refusedOffers(selection);
  const country = quotes?.customerCountry ?? null;
  const rows = possible.map((offer): OfferRow => {
    if (quotes === undefined) return { offer };
    const outcome = quotes.source.peek(offer.provider, checkout.charge, country, null, quotes.customerState);
    return { offer, outcome, isLastChoice: offer.provider === quotes.lastChoice };
  });
  return leadAndOthers(selection, inExpectedOrder(checkout, rows, country));
}

/** All offers folded, beside another primary button. */
export function foldedOffers(selection: OfferList): Html {
  const { checkout, offers, language } = selection;
  const rows = inExpectedOrder(
    checkout,
    possibleOffers(offers).map((offer) => ({ offer })),
  );
  const heading = html`${language.words.actions.chooseAnother}`;
  return foldedList(heading, rows, selection, false);
}

type RefusedOffer = ProviderOffer & { readonly refusal: Refusal };

export function possibleOffers(offers: readonly ProviderOffer[]): readonly ProviderOffer[] {
  return offers.filter(({ refusal }) => refusal === null);
}

/** What the list without quotes depends on, besides the payment. */
export function offersInBrief({ offers }: Checkout): string {
  return offers
    .map(
      ({ provider, refusal }) => `${provider} ${refusal?.errorName ?? ''} ${refusal?.minimumUsdCents ?? ''}`,
    )
    .join();
}

interface OfferRow {
  readonly offer: ProviderOffer;
  /** Expected outcome at the provider; absent if unknown. */
  readonly outcome?: QuoteOutcome;
  readonly isLastChoice?: boolean;
}

export function canContinueAt(provider: ProviderId, { offers }: Pick<Checkout, 'offers'>): boolean {
  return possibleOffers(offers).some((offer) => offer.provider === provider);
}

/**
 * The first row that can be chosen as a button, the others below it. After a decline, another card at the same provider
 * comes first.
 */
function leadAndOthers(selection: OfferList, rows: readonly OfferRow[]): Html {
  const { checkout, offers, language } = selection;
  const lead = rows.find(({ outcome }) => outcome?.kind !== 'refused');
  const others = rows.filter((row) => row !== lead);
  const { payment, charge, view } = checkout;
  const { offers: words } = language.words;
  const chargedCents = (lead === undefined ? null : higherChargeOf(lead, charge)) ?? charge.amountCents;
  const amount = formatMoney(language, chargedCents, charge.currency);
  const isDeclinedHere = view.kind === 'at_provider' && isDeclined(view);
  const isSecond = isDeclinedHere && canContinueAt(view.provider, checkout);
  const label = (provider: string) =>
    fillIn(isDeclinedHere ? words.payInstead : words.payWith, { amount, provider });
  const look = isSecond ? 'plain' : 'primary';
  const button =
    lead === undefined
      ? nothing
      : html`<div class="lead">${providerButton(payment, lead.offer.provider, label(lead.offer.name), look)}
<p class="facts-of-offer">${marksOf(lead.offer, selection)} <small>${offerDetails(lead, charge, language)}</small></p></div>`;
  if (others.length === 0 && offers.every(({ refusal }) => refusal === null)) return button;
  const count = others.filter(({ outcome }) => outcome?.kind !== 'refused').length;
  const heading = count === 0 ? html`${words.notForThis}` : fillIn(words.otherWays, { count: String(count) });
  return html`${button}${foldedList(heading, others, selection, lead === undefined)}`;
}

function foldedList(heading: Html, rows: readonly OfferRow[], selection: OfferList, isOpen: boolean): Html {
  const list =
    rows.length === 0
      ? nothing
      : html`<ul class="offers">${rows.map((row) => offerRow(selection, row))}</ul>`;
  return html`<details class="others"${isOpen ? html` open` : nothing}><summary>${heading}</summary>
${list}${refusedOffers(selection)}</details>`;
}

function offerRow(selection: OfferList, row: OfferRow): Html {
  const { checkout, language } = selection;
  const { offer, outcome } = row;
  if (outcome?.kind === 'refused') {
    const reason = refusalWords(language, { ...offer, refusal: outcome.refusal }, checkout);
    return html`
<li class="off"><b>${offer.name}</b> <span>${reason}</span></li>`;
  }
  const { payAt } = language.words.offers;
  return html`
<li><button type="submit" form="${SESSION_FORM}" formaction="${sessionPath(checkout.payment, offer.provider)}"
data-provider="${offer.name}"><span><span class="quiet">${fillIn(payAt, { provider: offer.name })}</span><b
aria-hidden="true">${offer.name}</b>${marksOf(offer, selection)}
<small>${offerDetails(row, checkout.charge, language)}</small></span>${arrow}</button></li>`;
}

/** Names of wallets, the same in all languages. */
const walletNames = new Map<PaymentMeans, string>([
  ['apple_pay', 'Apple Pay'],
  ['google_pay', 'Google Pay'],
]);

/** Marks of the means that may work in the visitor's browser: only a card in content that all visitors share. */
function marksOf({ provider }: ProviderOffer, { language, quotes }: OfferList): Html {
  const { means: sold } = customerFacts[provider];
  return html`${meansInBrowser(quotes?.userAgent ?? '').map((means) => {
    if (!sold.includes(means)) return nothing;
    if (means === 'card') return html` <span class="mark card-mark">${language.words.offers.card}</span>`;
    const name = walletNames.get(means);
    return name === undefined ? nothing : html` <span class="mark">${name}</span>`;
  })}`;
}

/** Charge of a provider that charges more than the amount; otherwise null. */
function higherChargeOf({ outcome }: OfferRow, { amountCents }: Charge): number | null {
  const chargedCents = outcome?.kind === 'quoted' ? outcome.quote.chargedCents : amountCents;
  return chargedCents > amountCents ? chargedCents : null;
}

/** "Usually 1–5 minutes · Coinbase account required". */
function offerDetails(row: OfferRow, charge: Charge, language: Language): Html {
  const { offer, outcome, isLastChoice = false } = row;
  const { offers: words } = language.words;
  const { provider, name, seller } = offer;
  const { needs } = customerFacts[provider];
  const { usualMinutes } = customerFacts[seller];
  const chargedCents = higherChargeOf(row, charge);
  const details = [
    ...(chargedCents === null
      ? []
      : [fillIn(words.charges, { amount: formatMoney(language, chargedCents, charge.currency) })]),
    ...(isLastChoice ? [html`${words.lastChoice}`] : []),
    ...(usualMinutes === null
      ? []
      : [fillIn(words.usually, { time: formatMinutes(language, usualMinutes) })]),
    ...(needs === 'account' ? [fillIn(words.accountNeeded, { provider: name })] : []),
    ...(needs === 'id' ? [html`${words.idNeeded}`] : []),
    ...(outcome?.kind === 'silent' ? [html`${words.silent}`] : []),
    ...(outcome?.kind === 'busy' ? [html`${words.busy}`] : []),
  ];
  return html`${details.map((detail, index) => (index === 0 ? detail : html` · ${detail}`))}`;
}

function refusedOffers({ checkout, offers, language }: OfferList): Html {
  const refused = offers.filter((offer): offer is RefusedOffer => offer.refusal !== null);
  if (refused.length === 0) return nothing;
  return html`<section><h2>${language.words.offers.notForThis}</h2>
<ul class="refused">${refused.map(
    (offer) => html`
<li><b>${offer.name}</b> <span>${refusalWords(language, offer, checkout)}</span></li>`,
  )}
</ul></section>`;
}

/** Source of quotes for a customer. */
export interface OffersToAsk {
  readonly source: Quotes;
  readonly lastChoice: ProviderId | null;
  /** The customer's country, ISO 3166-1 alpha-2; null if unknown. */
  readonly customerCountry: string | null;
  /** Code of a state in the United States; null or absent if unknown. */
  readonly customerState?: string | null;
  readonly userAgent: string;
}

/**
 * Pinned providers that can serve come first, the merchant's before the operator's; then the customer's last choice,
 * the others, those that charge more than the amount, and silent and refused ones.
 */
function rankOf(row: OfferRow, charge: Charge): number {
  const { offer, outcome, isLastChoice = false } = row;
  const { pinnedBy } = offer;
  if (outcome !== undefined && outcome.kind !== 'quoted') return outcome.kind === 'refused' ? 6 : 5;
  if (pinnedBy !== null) return pinnedBy === 'merchant' ? 0 : 1;
  if (higherChargeOf(row, charge) !== null) return 4;
  return isLastChoice ? 2 : 3;
}

/**
 * Orders by rank, then by expected delivery for the charge: the quoted or assumed amount times the success rate, less
 * the share by which the customer is charged more than the amount. The explored provider leads its rank (see
 * `exploredProvider`).
 */
function inExpectedOrder(
  { payment, charge, success }: Pick<Checkout, 'payment' | 'charge' | 'success'>,
  rows: readonly OfferRow[],
  country: string | null = null,
): readonly OfferRow[] {
  const ranked = rows.map((row) => {
    const { provider } = row.offer;
    const quote = row.outcome?.kind === 'quoted' ? row.outcome.quote : null;
    const delivered = quote?.deliveryUnits ?? assumedDeliveryUnits(provider, charge.usdUnits);
    const chargedCents = quote?.chargedCents ?? charge.amountCents;
    return { provider, units: (delivered * BigInt(charge.amountCents)) / BigInt(chargedCents), row };
  });
  const explored = exploredProvider(payment.id, success);
  return orderBySuccess(ranked, success, country, explored)
    .map(({ row }) => row)
    .sort((a, b) => rankOf(a, charge) - rankOf(b, charge));
}

/**
 * Means that are sold for a checkout and may work in this browser, each with the first provider in the order of the list
 * that can be asked for it.
 */
export function meansFor(
  checkout: Pick<Checkout, 'payment' | 'charge' | 'success' | 'offers'>,
  customerCountry: string | null,
  userAgent: string,
  outcomeOf: (provider: ProviderId, means: PaymentMeans) => QuoteOutcome,
): ReadonlyMap<PaymentMeans, ProviderId> {
  const chosen = new Map<PaymentMeans, ProviderId>();
  for (const means of meansInBrowser(userAgent)) {
    const rows = possibleOffers(checkout.offers)
      .filter(({ provider }) => customerFacts[provider].means.includes(means))
      .map((offer) => ({ offer, outcome: outcomeOf(offer.provider, means) }));
    const [first] = inExpectedOrder(checkout, rows, customerCountry);
    if (first !== undefined && first.outcome?.kind !== 'refused') chosen.set(means, first.offer.provider);
  }
  return chosen;
}

/** Providers that quote for a checkout, in the order of its page. Throws `below_minimum` if none accepts the amount. */
export async function rankProviders(
  checkout: Checkout,
  quotes: Quotes,
  customerCountry: string | null,
): Promise<readonly ProviderId[]> {
  requireServedAmount(checkout.offers, checkout.charge.usdUnits);
  const rows = await Promise.all(
    possibleOffers(checkout.offers).map(async (offer) => ({
      offer,
      outcome: await quotes.ask(offer.provider, checkout.charge, customerCountry),
    })),
  );
  return inExpectedOrder(checkout, rows, customerCountry)
    .filter(({ outcome }) => outcome?.kind === 'quoted')
    .map(({ offer }) => offer.provider);
}

/** All codes of ISO 3166-1 alpha-2; each provider decides which ones it serves. */
const countries = (
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF ' +
  'CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH ' +
  'GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW ' +
  'KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG ' +
  'NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN ' +
  'SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
).split(' ');
const known: ReadonlySet<string> = new Set(countries);

export function countryOfForm(body: unknown): string | null {
  return knownCountry(body instanceof URLSearchParams ? body.get('country') : null);
}

/** Means in a form's body or in the URL of a click; null if there are none, undefined if they are unknown. */
export function meansOfClick({ request, query }: CheckoutRequest): PaymentMeans | null | undefined {
  const { body } = request;
  const value = (body instanceof URLSearchParams ? body.get('means') : null) ?? query['means'] ?? '';
  if (value === '') return null;
  return typeof value === 'string' && isPaymentMeans(value) ? value : undefined;
}

export function knownCountry(code: string | null): string | null {
  return code !== null && known.has(code) ? code : null;
}

export interface CountryQuestion {
  readonly provider: ProviderId;
  /** Previous answer; null if there is none. */
  readonly chosen: string | null;
  /** Means of the click; null for the provider's usual ones. */
  readonly means: PaymentMeans | null;
}

export function countryQuestion(
  payment: Payment,
  { provider, chosen, means }: CountryQuestion,
  { language, emailToken }: { readonly language: Language; readonly emailToken: string | null },
): Html {
  const { offers, actions } = language.words;
  const name = nameOf(provider);
  return html`<form class="ask" method="post" action="${sessionPath(payment, provider, means)}">${emailTokenField(emailToken)}
<h1><label for="country">${offers.country}</label></h1>
<div class="field"><p class="hint" id="country-hint">${fillIn(offers.countryHint, { provider: name })}</p>
<select id="country" name="country" required autocomplete="country"
aria-describedby="country-hint"><option value="">${offers.noneChosen}</option>${optionsIn(language, chosen)}</select></div>
<button class="button primary wide" type="submit" data-provider="${name}"><span>${fillIn(actions.continueTo, { provider: name })}</span></button></form>`;
}

/** All countries by name in the visitor's language. */
function optionsIn({ locale }: Language, chosen: string | null): Html[] {
  const names = new Intl.DisplayNames(locale, { type: 'region' });
  const { compare } = new Intl.Collator(locale);
  return countries
    .map((country) => ({ country, name: names.of(country) ?? country }))
    .sort((a, b) => compare(a.name, b.name))
    .map(({ country, name }) => {
      const selected = country === chosen ? html` selected` : nothing;
      return html`<option value="${country}"${selected}>${name}</option>`;
    });
}
