import type { ServiceError } from '../../domain/errors.ts';
import { UNITS_PER_CENT } from '../../domain/money.ts';
import { MULTI_PROVIDER, type ProviderId, providerCatalogue } from '../../domain/provider-catalogue.ts';
import type { ProviderOffer, Refusal } from '../../payments/provider-availability.ts';
import { type Html, html } from '../design/html.ts';
import { fillIn } from './fill-in.ts';
import { formatMoneyAndCode } from './format-money.ts';
import type { Language } from './languages.ts';
import type { Checkout } from './read-checkout.ts';
import { nameOf } from './state-words.ts';

/** Why a provider cannot be chosen for this payment, as its customer should read it. */
export function refusalWords(
  language: Language,
  { provider, minimumUsdCents, refusal }: ProviderOffer & { readonly refusal: Refusal },
  { payment }: Pick<Checkout, 'payment'>,
): Html {
  const { offers } = language.words;
  switch (refusal.errorName) {
    case 'below_minimum': {
      const minimum = formatMoneyAndCode(language, refusal.minimumUsdCents ?? minimumUsdCents, 'USD');
      if (payment.currency === 'USD') return fillIn(offers.onlyFrom, { minimum });
      const valueCents = Number(payment.usdUnits / UNITS_PER_CENT);
      return fillIn(offers.onlyFromThisIs, {
        minimum,
        value: formatMoneyAndCode(language, valueCents, 'USD'),
      });
    }
    case 'currency_locked':
      return fillIn(offers.onlyCurrency, { currency: providerCatalogue[provider].onlyCurrency ?? '' });
    default:
      return html`${offers.inactive}`;
  }
}

/** What went wrong after a click, as the customer should read it. Null stands for a provider that does not exist. */
export function problemWords(
  language: Language,
  error: ServiceError,
  provider: ProviderId | null,
  { payment, account }: Pick<Checkout, 'payment' | 'account'>,
): Html {
  const { problems } = language.words;
  if (provider === null) return html`${problems.noSuchProvider}`;
  const values = {
    provider: nameOf(provider),
    shop: account.name,
    currency: payment.currency,
    amount: formatMoneyAndCode(language, payment.amountCents, payment.currency),
  };
  const isOneOfSeveral = payment.provider === MULTI_PROVIDER;
  switch (error.errorName) {
    case 'provider_unavailable':
      if (error.retryAfterSeconds !== null)
        return fillIn(isOneOfSeveral ? problems.busyOfSeveral : problems.busy, values);
      return fillIn(isOneOfSeveral ? problems.unreachableOfSeveral : problems.unreachable, values);
    case 'provider_inactive':
      return fillIn(problems.inactive, values);
    case 'provider_unknown':
      return fillIn(problems.otherProvider, values);
    case 'currency_locked':
      return fillIn(problems.onlyCurrency, values);
    case 'below_minimum':
      return fillIn(problems.belowMinimum, values);
    case 'rate_limited':
      return fillIn(problems.tooOften, values);
    case 'payment_state_conflict':
      return fillIn(problems.shopCannotReceive, values);
    case 'invalid_request':
      return fillIn(problems.countryMissing, values);
    case 'chain_unreachable':
      return fillIn(problems.networkDown, values);
    default:
      return fillIn(problems.other, values);
  }
}
