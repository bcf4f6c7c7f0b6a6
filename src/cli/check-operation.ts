import { ServiceError } from '../domain/errors.ts';
import { type Currency, formatCents, usdUnits } from '../domain/money.ts';
import { createPaymentIdGenerator } from '../domain/payment-id.ts';
import { type ProviderId, providerCatalogue } from '../domain/provider-catalogue.ts';
import { checkProvider } from '../payments/check-provider.ts';
import { readMinimumUsdCents } from '../payments/provider-availability.ts';
import * as argument from './arguments.ts';
import type { Operation, OperationsContext } from './operations-context.ts';

/** What is tried unless an amount is named, or the provider's minimum where that is more. */
const USUAL_AMOUNT_CENTS = 50_00;
/** A tenth more than the minimum, which is in USD and the charge maybe not. */
const ABOVE_MINIMUM_PERCENT = 110;

/** `provider check`: a quote and a session with the operator's credentials, of which nothing is paid. */
export const checkOperation: Operation = async (context, args) => {
  const provider = argument.requiredProvider(args, 'provider');
  const { adapters } = context.directory;
  if (adapters === null || context.rates === undefined)
    throw new ServiceError('not_found', 'A check needs a running server, which has the credentials.');
  const [settlement] = await context.settlements.listSettlements();
  if (settlement === undefined) throw new ServiceError('not_found', 'The server has no fee wallet yet.');
  const currency = argument.optionalCurrency(args, 'currency') ?? currencyOf(provider);
  const amountCents =
    argument.optionalAmountCents(args, 'amount') ?? (await usualAmountCents(context, provider));
  const steps = await checkProvider({
    ...{ provider, currency, amountCents },
    adapter: adapters.get(provider),
    usdUnits: usdUnits(amountCents, await context.rates.usdRate(currency)),
    country: argument.optionalCountry(args, 'country'),
    wallet: settlement.feeWallet,
    paymentId: createPaymentIdGenerator(context.nowMs)(),
    returnUrl: context.baseUrl,
  });
  return {
    provider,
    amount: `${formatCents(amountCents)} ${currency}`,
    is_fine: steps.every(({ isFine }) => isFine),
    steps: steps.map(({ step, isFine, detail }) => ({ step, is_fine: isFine, detail })),
  };
};

function currencyOf(provider: ProviderId): Currency {
  return providerCatalogue[provider].onlyCurrency ?? 'USD';
}

async function usualAmountCents({ directory }: OperationsContext, provider: ProviderId): Promise<number> {
  const minimumCents = await readMinimumUsdCents(directory, provider);
  return Math.max(USUAL_AMOUNT_CENTS, Math.ceil((minimumCents * ABOVE_MINIMUM_PERCENT) / 100));
}
