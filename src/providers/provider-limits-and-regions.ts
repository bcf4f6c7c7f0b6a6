import { LRUCache } from 'lru-cache';
import { ServiceError } from '../payment/errors.ts';
import { type Currency, currencies, UNITS_PER_CENT } from '../payment/money.ts';
import type { Payment } from '../payment/payment.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import type { CatalogEntry, ProviderAdapters, ServedRegions } from './provider.ts';

export interface ProviderLimits
  extends Pick<CatalogEntry, 'minimumCents' | 'maximumCents' | 'regionsNotServed'> {
  readonly isSold: boolean;
  readonly readAtMs: number;
}

export type KnownLimits = ReturnType<typeof createKnownLimits>;

export interface KnownLimitsOptions {
  readonly adapters: ProviderAdapters;
  readonly nowMs: () => number;
  /** Called if a catalog cannot be read. The last known limits stay in use. */
  readonly onFailure: (provider: ProviderId, error: unknown) => void;
}

/** Lifetime of limits. They rarely change, and a quote that contradicts them takes precedence. */
const KEEP_MS = 6 * 3_600_000;
const RETRY_MS = 10 * 60_000;
/** Room for eleven providers, four currencies, and the 45 most recent customer countries. */
const MAXIMUM_ENTRIES = 2_000;
/** Minimum interval between a provider's catalog reads by country, because a visitor can claim any country. */
const COUNTRY_INTERVAL_MS = 10_000;

/** Caches the limits of providers with a readable catalog, so that looking them up makes no call. */
export function createKnownLimits({ adapters, nowMs, onFailure }: KnownLimitsOptions) {
  const entries = new LRUCache<string, ProviderLimits>({ max: MAXIMUM_ENTRIES });
  const triedAtMs = new LRUCache<string, number>({ max: MAXIMUM_ENTRIES });
  const nextCountryAtMs = new Map<ProviderId, number>();

  async function read(provider: ProviderId, currency: Currency, country: string | null): Promise<void> {
    const key = keyOf(provider, currency, country);
    try {
      // Any amount works, because a catalog depends only on currency and country.
      const request = { amountCents: 100_00, currency, usdUnits: 100_000_000n, customerCountry: country };
      const limits = await adapters.get(provider)?.readCatalog?.(request);
      if (limits === undefined) return;
      const { minimumCents, maximumCents, regionsNotServed = new Set() } = limits;
      entries.set(key, { minimumCents, maximumCents, regionsNotServed, isSold: true, readAtMs: nowMs() });
    } catch (error) {
      const isRefused = error instanceof ServiceError && error.errorName === 'provider_inactive';
      // Wrong credentials cause the same error, but then the provider cannot serve this country either.
      if (isRefused && country !== null)
        entries.set(key, { minimumCents: null, maximumCents: null, isSold: false, readAtMs: nowMs() });
      else onFailure(provider, error);
    }
  }

  return {
    /** Returns the last known limits for the country, or else for no country. Null if there are none. */
    known: (provider: ProviderId, currency: Currency, country: string | null): ProviderLimits | null =>
      entries.get(keyOf(provider, currency, country)) ?? entries.get(keyOf(provider, currency, null)) ?? null,
    /** Reads missing or outdated limits in the background. Never throws. */
    refresh(provider: ProviderId, currency: Currency, country: string | null): void {
      const { readCatalog, currenciesSold } = adapters.get(provider) ?? {};
      if (readCatalog === undefined || currenciesSold?.includes(currency) === false) return;
      const key = keyOf(provider, currency, country);
      const isFresh = (entries.get(key)?.readAtMs ?? Number.NEGATIVE_INFINITY) > nowMs() - KEEP_MS;
      const isTried = (triedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) > nowMs() - RETRY_MS;
      const isTooSoon = country !== null && (nextCountryAtMs.get(provider) ?? 0) > nowMs();
      if (isFresh || isTried || isTooSoon) return;
      triedAtMs.set(key, nowMs());
      if (country !== null) nextCountryAtMs.set(provider, nowMs() + COUNTRY_INTERVAL_MS);
      void read(provider, currency, country);
    },
    list: (provider: ProviderId) =>
      currencies.flatMap((currency) => {
        const limits = entries.get(keyOf(provider, currency, null));
        return limits === undefined ? [] : [{ ...limits, currency }];
      }),
  };
}

function keyOf(provider: ProviderId, currency: Currency, country: string | null): string {
  return `${provider} ${currency} ${country ?? ''}`;
}

/** Returns the customer's region if the provider is known not to serve it, otherwise null. */
export function unservedRegionOf(
  { countriesServed, regionsNotServed }: ServedRegions,
  country: string | null,
  state: string | null,
): string | null {
  if (country === null) return null;
  if (countriesServed?.has(country) === false) return country;
  return [country, `${country}-${state}`].find((region) => regionsNotServed?.has(region)) ?? null;
}

export type ChargedAmount = Pick<Payment, 'amountCents' | 'currency' | 'usdUnits'>;

/** Converts a minimum to USD cents at the charge's rate. Rounds up, unless the charge already meets the minimum. */
export function minimumUsdCentsFor(minimumCents: number, charge: ChargedAmount): number {
  const divisor = BigInt(charge.amountCents) * UNITS_PER_CENT;
  const scaled = BigInt(minimumCents) * charge.usdUnits;
  return Number((charge.amountCents >= minimumCents ? scaled : scaled + divisor - 1n) / divisor);
}

/** Converts a maximum to USD cents at the charge's rate, rounded down. */
export function maximumUsdCentsFor(maximumCents: number, { amountCents, usdUnits }: ChargedAmount): number {
  return Number((BigInt(maximumCents) * usdUnits) / (BigInt(amountCents) * UNITS_PER_CENT));
}
