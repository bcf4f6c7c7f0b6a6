import {
  type ErrorName,
  HigherChargeError,
  RegionNotServedError,
  type ServiceError,
} from '../../payment/errors.ts';
import { UNITS_PER_CENT } from '../../payment/money.ts';
import { aboutCents } from '../../payment/payment.ts';
import { customerFacts, type ProviderId, providerCatalog } from '../../payment/provider-catalog.ts';
import type { Charge } from '../../payment/session-charge.ts';
import {
  exclusionOf,
  type ProviderOffer,
  sellerOf,
  servedFromUsdCents,
} from '../../providers/provider-availability.ts';
import {
  fillIn,
  fillText,
  formatList,
  formatMinutes,
  formatMoney,
  formatMoneyAndCode,
  type Language,
  type Values,
} from '../../web/checkout-layout/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import type { Words } from '../../web/locales/locale.ts';
import { type CheckoutView, isTakenByProvider, type Surplus } from './checkout-view.ts';
import { type Checkout, canBePaid, singleProviderOf } from './read-checkout.ts';

export interface StateWords {
  readonly heading: Html;
  readonly sentence: Html | null;
  readonly notice?: Html;
  readonly text: { readonly heading: string; readonly sentence: string; readonly notice?: string };
}

type Worded = Pick<Checkout, 'view' | 'payment' | 'account' | 'offers' | 'unservedCountry'> & {
  readonly charge: Pick<Charge, 'amountCents'>;
};

type StateName = Exclude<keyof Words['states'], 'littleArrived' | Surplus>;

export function wordsOf(checkout: Worded, language: Language): StateWords {
  const { view, offers } = checkout;
  const values = valuesOf(checkout, language);
  const name = stateNameOf(checkout);
  const words = stateWords(language, name, values);
  if (view.kind === 'paid' && view.surplus !== null) {
    const surplus = language.words.states[view.surplus];
    const text = { ...words.text, notice: fillText(surplus, values) };
    return { ...words, text, notice: fillIn(surplus, values) };
  }
  if (view.kind === 'at_provider' && isTakenByProvider(view))
    return takenWords(words, view.provider, language, offers);
  // Omits the sentence about who charges the card if the provider takes no cards.
  if (name === 'single' && !takesCards(singleProviderOf(checkout))) return { ...words, sentence: null };
  if (!('hasLittleArrived' in view) || !view.hasLittleArrived) return words;
  const { littleArrived } = language.words.states;
  return { ...words, sentence: html`${words.sentence ?? ''}${language.gap}${littleArrived}` };
}

/** Adds the usual time, and replaces the heading about a card if the provider takes no cards. */
function takenWords(
  words: StateWords,
  provider: ProviderId,
  language: Language,
  offers: Checkout['offers'],
): StateWords {
  const { approved, usual, once } = language.words.wait;
  const { usualMinutes } = customerFacts[sellerOf(provider, offers)];
  const [before = '', after = ''] = usual.split('{time}');
  const time =
    usualMinutes === null
      ? nothing
      : html`${before}<bdi class="whole">${formatMinutes(language, usualMinutes)}</bdi>${after}`;
  const sentence = html`${words.sentence}<br>${time}${language.gap}<span class="whole">${once}</span>`;
  if (takesCards(provider)) return { ...words, sentence };
  return { heading: html`${approved}`, sentence, text: { ...words.text, heading: approved } };
}

export function stateWords({ words: { states } }: Language, name: StateName, values: Values): StateWords {
  const own: string | { readonly heading: string; readonly sentence?: string } = states[name];
  const { heading, sentence = '' } =
    typeof own === 'string' ? { heading: states.nobody.heading, sentence: own } : own;
  return {
    heading: fillIn(heading, values),
    sentence: sentence === '' ? null : fillIn(sentence, values),
    text: { heading: fillText(heading, values), sentence: fillText(sentence, values) },
  };
}

function valuesOf(checkout: Worded, language: Language): Values {
  const { view, payment, charge, account, offers, unservedCountry = '' } = checkout;
  const provider = view.kind === 'at_provider' ? view.provider : singleProviderOf(checkout);
  const money = (cents: number) => formatMoneyAndCode(language, cents, payment.currency);
  const about = (units: bigint) => money(aboutCents(payment, units));
  const amountCents = view.kind === 'at_provider' ? charge.amountCents : payment.amountCents;
  const shared = {
    shop: account.name,
    provider: provider === null ? '' : nameOf(provider),
    amount: money(amountCents),
    country: unservedCountry,
    currency: payment.currency,
    minimum: formatMoneyAndCode(language, servedFromUsdCents(offers) ?? 0, 'USD'),
  };
  if (!('receivedUnits' in view)) return shared;
  if (view.kind === 'underpaid')
    return { ...shared, missing: canBePaid(checkout) ? money(charge.amountCents) : about(view.missingUnits) };
  const received = about(view.receivedUnits);
  const surplusUnits = view.receivedUnits > payment.usdUnits ? view.receivedUnits - payment.usdUnits : 0n;
  const holders = 'holders' in view ? formatList(language, view.holders.map(nameOf)) : '';
  return { ...shared, received, surplus: about(surplusUnits), holders };
}

function stateNameOf(checkout: Worded): StateName {
  const { view } = checkout;
  switch (view.kind) {
    case 'choose':
      return nameOfChoice(checkout);
    case 'at_provider':
      return nameOfVisit(view);
    case 'underpaid':
      return canBePaid(checkout) && view.canBeCharged ? 'underpaid' : 'incomplete';
    case 'closed_with_money':
      return 'closedWithMoney';
    case 'closed_and_released':
      return 'closedAndReleased';
    default:
      return view.kind;
  }
}

function nameOfChoice(checkout: Worded): StateName {
  const isSingle = singleProviderOf(checkout) !== null;
  if (canBePaid(checkout)) return isSingle ? 'single' : 'choose';
  if (checkout.unservedCountry !== undefined) return 'nobodyHere';
  if (servedFromUsdCents(checkout.offers) !== null) return 'nobodyBelow';
  if (exclusionOf(checkout.offers) === 'currency') return 'nobodyIn';
  return isSingle ? 'singleCannot' : 'nobody';
}

function nameOfVisit(view: Extract<CheckoutView, { kind: 'at_provider' }>): StateName {
  if (isTakenByProvider(view)) return 'taken';
  if (view.progress === 'failed') return 'declined';
  return view.isOpen ? 'waiting' : 'visitEnded';
}

export function takesCards(provider: ProviderId | null): boolean {
  return provider !== null && customerFacts[provider].means.some((means) => means === 'card');
}

export function nameOf(provider: ProviderId): string {
  return providerCatalog[provider].name;
}

export function refusalWords(
  language: Language,
  { name: provider, minimumUsdCents, refusal }: ProviderOffer,
  { charge }: Pick<Checkout, 'charge'>,
): Html {
  const { offers, problems } = language.words;
  const { currency } = charge;
  switch (refusal?.errorName) {
    case 'below_minimum': {
      const minimum = formatMoneyAndCode(language, refusal.minimumUsdCents ?? minimumUsdCents, 'USD');
      if (currency === 'USD') return fillIn(offers.onlyFrom, { minimum });
      const valueCents = Number(charge.usdUnits / UNITS_PER_CENT);
      return fillIn(offers.onlyFromThisIs, {
        minimum,
        value: formatMoneyAndCode(language, valueCents, 'USD'),
      });
    }
    case 'above_maximum':
      return fillIn(offers.onlyUpTo, {
        maximum: formatMoneyAndCode(language, refusal.maximumUsdCents ?? 0, 'USD'),
      });
    case 'currency_locked':
      return fillIn(offers.onlyCurrency, { currency: refusal.onlyCurrency ?? '' });
    default:
      return refusal?.isUnsoldCurrency === true
        ? fillIn(problems.onlyCurrency, { provider, currency })
        : html`${offers.inactive}`;
  }
}

/** Renders the error after a click. `provider` is null if unknown. */
export function problemWords(
  language: Language,
  error: ServiceError,
  provider: ProviderId | null,
  { payment, charge, account, offers }: Pick<Checkout, 'payment' | 'charge' | 'account' | 'offers'>,
): Html {
  const { problems } = language.words;
  if (provider === null) return html`${problems.noSuchProvider}`;
  const values = {
    provider: nameOf(provider),
    shop: account.name,
    currency: payment.currency,
    amount: formatMoneyAndCode(language, charge.amountCents, charge.currency),
  };
  const hasOthers = offers.some((offer) => offer.refusal === null && offer.provider !== provider);
  const step = fillIn(hasOthers ? problems.chooseOther : problems.contactShop, values);
  if (error instanceof RegionNotServedError)
    return html`${fillIn(problems.unserved, values)}${language.gap}${step}`;
  if (error instanceof HigherChargeError) {
    const amount = formatMoney(language, error.chargedCents, charge.currency);
    return html`${values.provider}: ${fillIn(language.words.offers.charges, { amount })}.`;
  }
  if (error.errorName !== 'provider_unavailable') {
    const reason = fillIn(problems[problemNames[error.errorName] ?? 'other'], values);
    return isRefusal(error) ? html`${reason}${language.gap}${step}` : reason;
  }
  const reason = fillIn(error.retryAfterSeconds === null ? problems.unreachable : problems.busy, values);
  return hasOthers ? html`${reason}${language.gap}${problems.orOther}` : reason;
}

/** Returns whether the error means that the provider does not accept the payment, not that a call failed. */
export function isRefusal({ errorName }: Pick<ServiceError, 'errorName'>): boolean {
  return ['provider_inactive', 'currency_locked', 'below_minimum', 'above_maximum'].includes(errorName);
}

const problemNames: Readonly<Partial<Record<ErrorName, keyof Words['problems']>>> = {
  provider_inactive: 'inactive',
  provider_unknown: 'otherProvider',
  currency_locked: 'onlyCurrency',
  below_minimum: 'belowMinimum',
  above_maximum: 'aboveMaximum',
  rate_limited: 'tooOften',
  payment_state_conflict: 'shopCannotReceive',
  invalid_request: 'countryMissing',
  chain_unreachable: 'networkDown',
};
