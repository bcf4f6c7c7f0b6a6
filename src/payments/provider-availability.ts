import type { Account } from '../domain/account.ts';
import { ServiceError } from '../domain/errors.ts';
import { type Currency, formatCents, UNITS_PER_CENT } from '../domain/money.ts';
import type { ProviderAdapters, Quote, QuoteRequest } from '../domain/ports/provider.ts';
import type { ProviderSettings, ProviderStore } from '../domain/ports/provider-store.ts';
import { type ProviderId, providerCatalogue, providerIds } from '../domain/provider-catalogue.ts';

/** What is needed to judge whether a provider can serve a payment. */
export interface ProviderDirectory {
  readonly adapters: ProviderAdapters;
  readonly settings: ProviderStore;
}

/** One row of the selector: the provider, and why it cannot be chosen (null when it can). */
export interface ProviderOffer {
  readonly provider: ProviderId;
  readonly name: string;
  readonly minimumUsdCents: number;
  readonly refusal: Refusal | null;
}

/** Why a provider cannot serve: what a `ServiceError` would say, without the costs of an error (its stack). */
export type Refusal = Pick<ServiceError, 'errorName' | 'message'>;

/** Whether an account may use a provider at all. */
export function isEnabledFor(account: Account, provider: ProviderId): boolean {
  return account.providers === null || account.providers.includes(provider);
}

/** The operator's minimum, or else the catalogue's, in USD cents. */
export async function readMinimumUsdCents(
  directory: Pick<ProviderDirectory, 'settings'>,
  provider: ProviderId,
): Promise<number> {
  const settings = await directory.settings.readProviderSettings(provider);
  return settings.minimumUsdCents ?? providerCatalogue[provider].minimumUsdCents;
}

/** Active means: it has credentials, and the operator has not switched it off. */
async function isProviderActive(directory: ProviderDirectory, provider: ProviderId): Promise<boolean> {
  if (!directory.adapters.has(provider)) return false;
  return (await directory.settings.readProviderSettings(provider)).active !== false;
}

/** Throws `currency_locked` where the provider takes another currency only. */
export function requireCurrency(provider: ProviderId, currency: Currency): void {
  throwRefusal(refusalOfCurrency(provider, currency));
}

function refusalOfCurrency(provider: ProviderId, currency: Currency): Refusal | null {
  const { name, onlyCurrency } = providerCatalogue[provider];
  if (onlyCurrency === null || onlyCurrency === currency) return null;
  const message = `${name} supports only ${onlyCurrency}; the currency given is ${currency}.`;
  return { errorName: 'currency_locked', message };
}

/** Throws `provider_inactive` while the provider is switched off or has no credentials. */
export async function requireActive(directory: ProviderDirectory, provider: ProviderId): Promise<void> {
  if (!(await isProviderActive(directory, provider))) throwRefusal(inactive(provider));
}

function inactive(provider: ProviderId): Refusal {
  return {
    errorName: 'provider_inactive',
    message: `${providerCatalogue[provider].name} is currently unavailable.`,
  };
}

/** Throws `below_minimum`, naming provider, minimum and the given amount in USD. */
export function requireMinimum(provider: ProviderId, minimumUsdCents: number, usdUnits: bigint): void {
  throwRefusal(refusalOfAmount(provider, minimumUsdCents, usdUnits));
}

function refusalOfAmount(provider: ProviderId, minimumUsdCents: number, usdUnits: bigint): Refusal | null {
  if (usdUnits >= BigInt(minimumUsdCents) * UNITS_PER_CENT) return null;
  const [minimum, given] = [minimumUsdCents, Number(usdUnits / UNITS_PER_CENT)].map(formatCents);
  const { name } = providerCatalogue[provider];
  return {
    errorName: 'below_minimum',
    message: `The minimum of ${name} is ${minimum} USD; the amount given is ${given} USD.`,
  };
}

function throwRefusal(refusal: Refusal | null): void {
  if (refusal !== null) throw new ServiceError(refusal.errorName, refusal.message);
}

/** Asks the provider whether it would serve this amount; throws as the adapter does, or `below_minimum`. */
export async function requireQuote(
  directory: ProviderDirectory,
  provider: ProviderId,
  request: QuoteRequest,
): Promise<Quote> {
  const adapter = directory.adapters.get(provider);
  if (adapter === undefined) throw new ServiceError('provider_inactive');
  const quote = await adapter.quote(request);
  if (quote.minimumUsdCents !== null) requireMinimum(provider, quote.minimumUsdCents, request.usdUnits);
  return quote;
}

/** Every provider the account may use, in catalogue order, each with the reason why it cannot serve this payment. */
export async function listOffers(
  directory: ProviderDirectory,
  account: Account,
  request: Pick<QuoteRequest, 'currency' | 'usdUnits'>,
): Promise<readonly ProviderOffer[]> {
  const offers: ProviderOffer[] = [];
  for (const provider of providerIds) {
    if (!isEnabledFor(account, provider)) continue;
    const { name, minimumUsdCents: usualMinimum } = providerCatalogue[provider];
    const stored = directory.settings.readProviderSettings(provider);
    // Awaiting what is at hand costs a turn for each of eleven providers.
    const settings = stored instanceof Promise ? await stored : stored;
    const minimumUsdCents = settings.minimumUsdCents ?? usualMinimum;
    const isActive = directory.adapters.has(provider) && settings.active !== false;
    const refusal =
      refusalOfCurrency(provider, request.currency) ??
      (isActive ? refusalOfAmount(provider, minimumUsdCents, request.usdUnits) : inactive(provider));
    offers.push({ provider, name, minimumUsdCents, refusal });
  }
  return offers;
}

/**
 * The providers that `listOffers` would offer, without the reasons against the others: every create without a chosen
 * provider asks, so this waits for nothing where the settings are at hand, and reckons in numbers.
 */
export function listCapable(
  { adapters, settings }: ProviderDirectory,
  account: Account,
  { currency, usdUnits }: Pick<QuoteRequest, 'currency' | 'usdUnits'>,
): readonly ProviderId[] | Promise<readonly ProviderId[]> {
  const eligible: CatalogueRow[] = [];
  const stored: (ProviderSettings | Promise<ProviderSettings>)[] = [];
  for (const row of catalogueRows) {
    const isForCurrency = row.onlyCurrency === null || row.onlyCurrency === currency;
    if (!isForCurrency || !adapters.has(row.provider) || !isEnabledFor(account, row.provider)) continue;
    eligible.push(row);
    stored.push(settings.readProviderSettings(row.provider));
  }
  const chargedCents = Number(usdUnits / UNITS_PER_CENT);
  const choose = (all: readonly ProviderSettings[]) => {
    const capable: ProviderId[] = [];
    all.forEach(({ active, minimumUsdCents }, index) => {
      const row = eligible[index] as CatalogueRow;
      const minimumCents = minimumUsdCents ?? row.minimumUsdCents;
      if (active !== false && chargedCents >= minimumCents) capable.push(row.provider);
    });
    return capable;
  };
  return stored.every(isAtHand) ? choose(stored) : Promise.all(stored).then(choose);
}

function isAtHand(settings: ProviderSettings | Promise<ProviderSettings>): settings is ProviderSettings {
  return !(settings instanceof Promise);
}

/** The catalogue to be walked through: to look up each of its rows by name takes longer than all the rest. */
const catalogueRows = providerIds.map((provider) => ({ provider, ...providerCatalogue[provider] }));
type CatalogueRow = (typeof catalogueRows)[number];
