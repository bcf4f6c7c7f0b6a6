import type { MerchantTerms, ProviderChecks } from '../payment/create-payment.ts';
import { ServiceError } from '../payment/errors.ts';
import { type Currency, MAXIMUM_AMOUNT_CENTS } from '../payment/money.ts';
import { MULTI_PROVIDER, type ProviderId, providerCatalog } from '../payment/provider-catalog.ts';
import type { Quotes } from './ask-quotes.ts';
import {
  isEnabledFor,
  listOffers,
  type ProviderDirectory,
  requireActive,
  requireAmount,
} from './provider-availability.ts';

export function createProviderChecks(
  directory: ProviderDirectory,
  quotes: Pick<Quotes, 'requireServed'>,
): ProviderChecks {
  return {
    async requireChoice(merchant, provider, currency) {
      if (!isEnabledFor(merchant, provider)) {
        throw await disabledProvider(directory, merchant, provider, currency);
      }
      await requireActive(directory, merchant, provider, currency);
    },
    async requireDelivery({ id: accountId }, provider, charge) {
      await requireAmount(directory, provider, charge);
      await quotes.requireServed(provider, { ...charge, accountId });
    },
  };
}

/** Value of the amount with which providers are listed, above each one's minimum, in 10⁻⁶ USD. */
const HIGHEST_USD_UNITS = BigInt(MAXIMUM_AMOUNT_CENTS) * 10_000n;

/** Error that names the account's providers that would accept a payment in this currency. */
async function disabledProvider(
  directory: ProviderDirectory,
  merchant: MerchantTerms,
  provider: ProviderId,
  currency: Currency,
): Promise<ServiceError> {
  // Ignores limits, because a catalog's maximum would exclude that amount.
  const { limits: _, ...withoutLimits } = directory;
  const offers = await listOffers(withoutLimits, merchant, {
    amountCents: MAXIMUM_AMOUNT_CENTS,
    currency,
    usdUnits: HIGHEST_USD_UNITS,
    maxProviderFeeBasisPoints: null,
  });
  const working = offers.filter(({ refusal }) => refusal === null).map((offer) => offer.provider);
  const advice =
    working.length === 0
      ? 'Please contact support.'
      : `Use one of: ${[MULTI_PROVIDER, ...working].join(', ')}. Please contact support for others.`;
  const { name } = providerCatalog[provider];
  return new ServiceError('feature_disabled', `${name} is not enabled for the account. ${advice}`);
}
