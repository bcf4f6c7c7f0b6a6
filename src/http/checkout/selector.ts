import type { Payment } from '../../domain/payment.ts';
import {
  assumedDeliveryUnits,
  type ProviderId,
  providersWithAccount,
} from '../../domain/provider-catalogue.ts';
import { exploredProvider, orderBySuccess, type SuccessRates } from '../../domain/provider-success.ts';
import type { QuoteOutcome, Quotes } from '../../payments/ask-quotes.ts';
import type { ProviderOffer, Refusal } from '../../payments/provider-availability.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { emailTokenField } from './known-email.ts';
import {
  fillIn,
  formatMoney,
  formatMoneyAndCode,
  formatUsdc,
  type Language,
  type LanguageCode,
  languages,
} from './languages.ts';
import type { Checkout } from './read-checkout.ts';
import { nameOf, refusalWords } from './state-words.ts';

const arrow = html`<svg class="arrow turns" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M7 4l6 6-6 6" fill="none" stroke="currentColor" stroke-width="2"/></svg>`;

/** Placeholder of the offers in a page that is streamed while the quotes are requested. */
export const offersToCome = html`<!--offers-->`;

/** The address to which a click on a provider posts. */
function sessionPath(payment: Payment, provider: ProviderId): string {
  return `/pay/${payment.id}/providers/${provider}`;
}

/**
 * The form that all provider buttons of the page submit. It stands outside the parts that change, so the visitor's
 * token stays when those parts are replaced.
 */
export const SESSION_FORM = 'provider-session';

/** The single provider's button, if it can serve. */
export function providerButton(payment: Payment, provider: ProviderId, label: Html): Html {
  return html`<p><button class="button primary wide" type="submit" form="${SESSION_FORM}" formaction="${sessionPath(payment, provider)}" data-provider="${nameOf(provider)}"><span>${label}</span>${arrow}</button></p>`;
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

/** The inputs of the list without quotes, besides the payment. */
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

/** The content of a row of the list. */
interface OfferRow {
  readonly offer: ProviderOffer;
  /** The provider's quote; omitted if none was requested. */
  readonly outcome?: QuoteOutcome;
  /** Whether the customer chose this provider the last time. */
  readonly isLastChoice?: boolean;
}

/** One provider: a button, or the reason why it cannot serve. */
function offerRow(checkout: Checkout, row: OfferRow, language: Language): Html {
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
<li id="offer-${offer.provider}"><button type="submit" form="${SESSION_FORM}" formaction="${sessionPath(payment, offer.provider)}" data-provider="${offer.name}"><span><span class="quiet">${fillIn(words.payAt, { provider: offer.name })}</span><b aria-hidden="true">${offer.name}</b>${row.isLastChoice === true ? html` <span class="badge">${words.lastChoice}</span>` : nothing} <small>${offerDetails(checkout, row, language)}</small></span><span class="price"><bdi class="charge">${amount}</bdi>${outcome === undefined ? nothing : html` <span class="badge good best">${words.best}</span>`}</span>${arrow}</button></li>`;
}

/** "min. $20.00 · 24.93 USDC arrives". */
function offerDetails({ payment }: Checkout, { offer, outcome }: OfferRow, language: Language): Html {
  const { offers: words } = language.words;
  const formatMinimum = payment.currency === 'USD' ? formatMoney : formatMoneyAndCode;
  const from = fillIn(words.minimum, { amount: formatMinimum(language, offer.minimumUsdCents, 'USD') });
  const account = fillIn(words.accountNeeded, { provider: offer.name });
  const minimum = providersWithAccount.has(offer.provider) ? html`${from} · ${account}` : html`${from}`;
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

/** How the offers of a page get their quotes. */
export interface OffersToAsk {
  readonly source: Quotes;
  /** The provider that the customer chose the last time; comes first. */
  readonly lastChoice: ProviderId | null;
  /** The customer's country, ISO 3166-1 alpha-2; null where it is unknown. */
  readonly customerCountry: string | null;
  /** How often visits to providers end with a delivery; absent where that is not observed. */
  readonly success?: SuccessRates | undefined;
}

interface QuotedOffer {
  readonly offer: ProviderOffer;
  readonly outcome: QuoteOutcome;
}

/**
 * The list of a checkout's offers with what each would deliver. All quotes are requested at once. Known quotes are
 * returned directly; otherwise the list is streamed. Rows of providers that answer quickly come together, in the order
 * of the list. Each further row follows as soon as its provider has answered. Providers without a quote come last. The
 * pieces never reject.
 */
export function quotedOffers(
  { source, lastChoice, customerCountry, success }: OffersToAsk,
  checkout: Checkout,
  language: Language,
  nonce: string,
): Html | AsyncGenerator<Html> {
  const { payment } = checkout;
  const candidates = lastChoiceFirst(
    possibleOffers(checkout.offers),
    lastChoice,
    ({ provider }) => provider,
  ).map((offer) => ({
    offer,
    known: source.peek(offer.provider, payment, customerCountry),
  }));
  const row = ({ offer, outcome }: QuotedOffer) =>
    offerRow(checkout, { offer, outcome, isLastChoice: offer.provider === lastChoice }, language);
  const order: OrderOffers = (offers) =>
    success === undefined
      ? offers
      : lastChoiceFirst(
          bySuccess(offers, payment, success, customerCountry),
          lastChoice,
          ({ offer }) => offer.provider,
        );
  const quoted = candidates.flatMap(({ offer, known }) =>
    known === null ? [] : [{ offer, outcome: known }],
  );
  if (quoted.length === candidates.length) {
    return html`${listBegin}${inOrder(quoted, order).map(row)}${listEnd}${bestMark(quoted, nonce)}`;
  }
  const answers = candidates.map(async ({ offer, known }) => ({
    offer,
    outcome: known ?? (await source.ask(offer.provider, payment, customerCountry)),
  }));
  return streamOffers(answers, row, order, nonce);
}

type OrderOffers = (offers: readonly QuotedOffer[]) => readonly QuotedOffer[];

/** By the delivery that can be expected: what is quoted, or assumed without a quote, times how often it is delivered. */
function bySuccess(
  offers: readonly QuotedOffer[],
  payment: Payment,
  success: SuccessRates,
  country: string | null,
): readonly QuotedOffer[] {
  const ranked = offers.map((each) => {
    const { provider } = each.offer;
    const quoted = each.outcome.kind === 'quoted' ? each.outcome.quote.deliveryUnits : null;
    return { provider, units: quoted ?? assumedDeliveryUnits(provider, payment.usdUnits), each };
  });
  const explored = exploredProvider(payment.id, success);
  return orderBySuccess(ranked, success, country, explored).map(({ each }) => each);
}

/** Offers with an answer in order, then the others. */
function inOrder(offers: readonly QuotedOffer[], order: OrderOffers): readonly QuotedOffer[] {
  return [...order(offers.filter(hasAnswered)), ...offers.filter((offer) => !hasAnswered(offer))];
}

/**
 * How long the rows of quick providers are collected: a delay that customers do not notice, and their order stays the
 * same.
 */
const GATHER_MS = 300;

const listBegin = html`<ul class="offers">`;
const listEnd = html`</ul>`;

async function* streamOffers(
  answers: readonly Promise<QuotedOffer>[],
  row: (offer: QuotedOffer) => Html,
  order: OrderOffers,
  nonce: string,
): AsyncGenerator<Html> {
  /** In the order of the list; `filter` skips the holes of the answers that are missing. */
  const arrived: QuotedOffer[] = [];
  const pending = new Set(answers);
  for (const [index, answer] of answers.entries()) {
    void answer.then((offer) => {
      arrived[index] = offer;
      pending.delete(answer);
    });
  }
  const sent = new Set<QuotedOffer>();
  /** The rows that have arrived since, in the order of the list. */
  const take = (isWanted: (offer: QuotedOffer) => boolean): Html[] => {
    const next = arrived.filter((each) => !sent.has(each) && isWanted(each));
    for (const each of next) sent.add(each);
    return order(next).map(row);
  };
  yield listBegin;
  await withinMs(Promise.all(answers), GATHER_MS);
  while (pending.size > 0) {
    const rows = take(hasAnswered);
    if (rows.length > 0) yield html`${rows}`;
    await Promise.race(pending);
  }
  yield html`${take(hasAnswered)}${take(() => true)}${listEnd}${bestMark(arrived, nonce)}`;
}

/** Providers that are silent, busy or cannot serve come after the others. */
function hasAnswered({ outcome }: QuotedOffer): boolean {
  return outcome.kind === 'quoted';
}

function withinMs(work: Promise<unknown>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Shows the badge of the offers that deliver most. Its space is reserved in every row, and the best offers are known
 * only at the end. A style rule shows the badge, so it needs no script and moves nothing.
 */
function bestMark(offers: readonly QuotedOffer[], nonce: string): Html {
  const best = bestOf(offers).map((provider) => `#offer-${provider} .best`);
  return best.length === 0
    ? nothing
    : html`<style nonce="${nonce}">${best.join(',')}{visibility:visible}</style>`;
}

function lastChoiceFirst<Row>(
  rows: readonly Row[],
  lastChoice: ProviderId | null,
  providerOf: (row: Row) => ProviderId,
): readonly Row[] {
  const isLast = (row: Row) => providerOf(row) === lastChoice;
  return [...rows.filter(isLast), ...rows.filter((row) => !isLast(row))];
}

/** All providers charge the same, so the best ones deliver most of it; empty if no two differ. */
function bestOf(offers: readonly QuotedOffer[]): readonly ProviderId[] {
  const quoted = offers.flatMap(({ offer: { provider }, outcome }) =>
    outcome.kind === 'quoted' && outcome.quote.deliveryUnits !== null
      ? [{ provider, units: outcome.quote.deliveryUnits }]
      : [],
  );
  let most = 0n;
  for (const { units } of quoted) if (units > most) most = units;
  const best = quoted.filter(({ units }) => units === most);
  return best.length < quoted.length ? best.map(({ provider }) => provider) : [];
}

/** All codes of ISO 3166-1 alpha-2; each provider decides which ones it serves. */
const countries =
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'.split(
    ' ',
  );
const known: ReadonlySet<string> = new Set(countries);

/** The country in a form's body, or null without one. */
export function countryOfForm(body: unknown): string | null {
  return knownCountry(body instanceof URLSearchParams ? body.get('country') : null);
}

/** The code if it is one of ISO 3166-1 alpha-2, else null. */
export function knownCountry(code: string | null): string | null {
  return code !== null && known.has(code) ? code : null;
}

/** The question for the customer's country, for a provider that starts no session without it. */
export interface CountryQuestion {
  readonly provider: ProviderId;
  /** The previous answer; null without one. */
  readonly chosen: string | null;
}

/** The country form, which continues to the provider. */
export function countryQuestion(
  payment: Payment,
  { provider, chosen }: CountryQuestion,
  { language, emailToken }: { readonly language: Language; readonly emailToken: string | null },
): Html {
  const { offers, actions } = language.words;
  const name = nameOf(provider);
  return html`<form class="ask" method="post" action="${sessionPath(payment, provider)}">${emailTokenField(emailToken)}<div class="field"><label for="country">${offers.country}</label>
<select id="country" name="country" required autocomplete="country" aria-describedby="country-hint"><option value="">${offers.noneChosen}</option>${chosenOption(chosen, language)}${optionsIn(language)}</select>
<p class="hint" id="country-hint">${fillIn(offers.countryHint, { provider: name })}</p></div>
<button class="button primary wide" type="submit" data-provider="${name}"><span>${fillIn(actions.continueTo, { provider: name })}</span></button></form>`;
}

/** Puts a copy of it on top of the list, which is made once for all visitors. */
function chosenOption(country: string | null, { locale }: Language): Html {
  if (country === null) return nothing;
  const name = new Intl.DisplayNames(locale, { type: 'region' }).of(country) ?? country;
  return html`<option value="${country}" selected>${name}</option>`;
}

/** Made at its first use, because few customers need it. */
const optionsByLanguage = new Map<LanguageCode, Html>();

function optionsIn({ code, locale }: Language): Html {
  const made = optionsByLanguage.get(code);
  if (made !== undefined) return made;
  const names = new Intl.DisplayNames(locale, { type: 'region' });
  const { compare } = new Intl.Collator(locale);
  const options = countries
    .map((country) => ({ country, name: names.of(country) ?? country }))
    .sort((a, b) => compare(a.name, b.name))
    .map(({ country, name }) => html`<option value="${country}">${name}</option>`);
  const joined = html`${options}`;
  if (optionsByLanguage.size < languages.length) optionsByLanguage.set(code, joined);
  return joined;
}
