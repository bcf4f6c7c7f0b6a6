import type { ServiceError } from '../../domain/errors.ts';
import { formatCents, UNITS_PER_CENT } from '../../domain/money.ts';
import type { Payment } from '../../domain/payment.ts';
import { type ProviderId, providerCatalogue } from '../../domain/provider-catalogue.ts';
import type { ProviderOffer, Refusal } from '../../payments/provider-availability.ts';
import { type CheckoutView, isTakenByProvider } from './checkout-view.ts';
import { formatMoney, formatUsdc } from './format-money.ts';

/** What a state is called, and the sentence that says what it means for the customer. */
export interface StateWords {
  readonly heading: string;
  readonly sentence: string;
}

/** Whom the words of a view are about. */
export interface WordsContext {
  /** The merchant's name. */
  readonly shop: string;
  /** The payment's only provider, or null where the customer may choose. */
  readonly single: ProviderId | null;
  /** Whether any provider can serve the payment at the moment. */
  readonly canBePaid: boolean;
}

/** The words of a view. */
export function wordsOf(view: CheckoutView, context: WordsContext): StateWords {
  const words = wordsOfState(view, context);
  if (!('hasLittleArrived' in view) || !view.hasLittleArrived) return words;
  return {
    ...words,
    sentence: `${words.sentence} A little has arrived for this checkout, far from what it costs; the whole amount is still to be paid.`,
  };
}

function wordsOfState(view: CheckoutView, context: WordsContext): StateWords {
  const { shop } = context;
  switch (view.kind) {
    case 'choose':
      return wordsOfChoice(context);
    case 'at_provider':
      return wordsOfVisit(view, context);
    case 'underpaid':
      return {
        heading: 'Too little has arrived',
        sentence: `${formatUsdc(view.receivedUnits, 'down')} arrived, ${formatUsdc(view.missingUnits, 'up')} is missing. Please contact ${shop} and give the reference below; do not pay the whole amount again.`,
      };
    case 'seen':
      return {
        heading: 'Your payment has arrived',
        sentence: `It is about to be sent on to ${shop}. You need not do anything.`,
      };
    case 'sending':
      return {
        heading: `Your payment is being sent to ${shop}`,
        sentence: 'This takes less than a minute as a rule. You may close this page.',
      };
    case 'held':
      return {
        heading: 'Your payment has arrived, but is delayed',
        sentence: `It could not be passed on to ${shop} yet. It is safe and is tried again; do not pay a second time. If this lasts, contact ${shop} and give the reference below.`,
      };
    default:
      return wordsOfEnded(view, shop);
  }
}

/** A visit at a provider, of which the provider may have told; what it tells is repeated as its word, not as ours. */
function wordsOfVisit(
  view: Extract<CheckoutView, { kind: 'at_provider' }>,
  { shop, single }: WordsContext,
): StateWords {
  const name = nameOf(view.provider);
  if (isTakenByProvider(view)) {
    return {
      heading: `${name} has taken your payment`,
      sentence: `${name} says that it is on its way to ${shop}. It shows up here when it has arrived, usually within a few minutes. You need not do anything; do not pay again.`,
    };
  }
  if (view.told === 'failed') {
    return {
      heading: `${name} did not take your payment`,
      sentence: `${name} says that it did not go through. You can try again${single === null ? ', or choose another provider' : ''}.`,
    };
  }
  if (view.isOpen) {
    return {
      heading: `Waiting for your payment at ${name}`,
      sentence:
        'Paid already? Then there is nothing more to do: it shows up here, usually within a few minutes.',
    };
  }
  return {
    heading: `Your visit at ${name} has ended`,
    sentence: `If ${name} charged your card, do not pay again: delivery can take a while and shows up here. Otherwise you can start again.`,
  };
}

function wordsOfChoice({ shop, single, canBePaid }: WordsContext): StateWords {
  if (!canBePaid) {
    const who = single === null ? 'No provider' : nameOf(single);
    return {
      heading: 'This cannot be paid at the moment',
      sentence: `${who} ${single === null ? 'can' : 'cannot'} take this payment. Please contact ${shop}, or try again later.`,
    };
  }
  if (single === null) {
    return { heading: 'Choose how to pay', sentence: 'Your card is charged by the provider you choose.' };
  }
  return { heading: `Pay at ${nameOf(single)}`, sentence: `Your card is charged by ${nameOf(single)}.` };
}

function wordsOfEnded(
  view: Extract<
    CheckoutView,
    { kind: 'paid' | 'canceled' | 'expired' | 'closed_with_money' | 'closed_and_released' }
  >,
  shop: string,
): StateWords {
  switch (view.kind) {
    case 'paid':
      return { heading: 'Paid', sentence: `${shop} has received your payment. Thank you.` };
    case 'canceled':
      return {
        heading: 'This checkout was canceled',
        sentence: `Nothing had arrived for it. To pay, start again at ${shop}. If your card was charged nevertheless, give ${shop} the reference below.`,
      };
    case 'expired':
      return {
        heading: 'This checkout has expired',
        sentence: `Nothing arrived in time. To pay, start again at ${shop}. If your card was charged nevertheless, give ${shop} the reference below.`,
      };
    case 'closed_with_money':
      return {
        heading: 'Your payment needs a hand',
        sentence: `Something arrived after this checkout was closed, or it was not the whole amount. Please contact ${shop} and give the reference below; do not pay again.`,
      };
    case 'closed_and_released':
      return {
        heading: `${shop} has what you sent`,
        sentence: `It arrived too late or was not the whole amount, so the checkout does not count as paid. Please contact ${shop} and give the reference below.`,
      };
  }
}

export function nameOf(provider: ProviderId): string {
  return providerCatalogue[provider].name;
}

/** Why a provider cannot be chosen for this payment, as its customer should read it. */
export function refusalWords(offer: ProviderOffer & { refusal: Refusal }, payment: Payment): string {
  switch (offer.refusal.errorName) {
    case 'below_minimum':
      return `Only from $${formatCents(offer.minimumUsdCents)} USD${payment.currency === 'USD' ? '' : `; this is about $${formatCents(Number(payment.usdUnits / UNITS_PER_CENT))} USD`}`;
    case 'currency_locked':
      return `Only for payments in ${providerCatalogue[offer.provider].onlyCurrency}`;
    case 'provider_inactive':
      return 'Not available at the moment';
    default:
      return offer.refusal.message;
  }
}

/** What went wrong after a click, as the customer should read it. Null stands for a provider that does not exist. */
export function problemWords(error: ServiceError, provider: ProviderId | null, payment: Payment): string {
  if (provider === null) return 'There is no such provider. Please choose one below.';
  const name = nameOf(provider);
  switch (error.errorName) {
    case 'provider_unavailable':
      return `${name} could not be reached. Your card was not charged. Please try again in a moment${payment.provider === 'multi' ? ', or choose another provider' : ''}.`;
    case 'provider_inactive':
      return `${name} is not available at the moment. Your card was not charged.`;
    case 'currency_locked':
      return `${name} does not take payments in ${payment.currency}.`;
    case 'below_minimum':
      return `${formatMoney(payment.amountCents, payment.currency)} is less than ${name} accepts.`;
    case 'rate_limited':
      return `${name} was opened too often from this checkout. Please try again in an hour.`;
    default:
      return error.message;
  }
}
