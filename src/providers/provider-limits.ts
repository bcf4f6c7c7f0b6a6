import { LRUCache } from 'lru-cache';
import { ServiceError } from '../payment/errors.ts';
import { type Currency, currencies, UNITS_PER_CENT } from '../payment/money.ts';
import type { Payment } from '../payment/payment.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import type { CatalogEntry, ProviderAdapters } from './provider.ts';

/** A provider's purchase limits from its own catalog. */
export interface ProviderLimits extends Pick<CatalogEntry, 'minimumCents' | 'maximumCents'> {
  /** Whether it sells at all in this currency and country. */
  readonly isSold: boolean;
  readonly readAtMs: number;
}

export type KnownLimits = ReturnType<typeof createKnownLimits>;

export interface KnownLimitsOptions {
  readonly adapters: ProviderAdapters;
  readonly nowMs: () => number;
  /** Called with a catalog that could not be read; its last known limits stay. */
  readonly onFailure: (provider: ProviderId, error: unknown) => void;
}

/** Limits change rarely, and a quote that contradicts them takes precedence. */
const KEEP_MS = 6 * 3_600_000;
/** Delay before an unreadable catalog is read again. */
const RETRY_MS = 10 * 60_000;
/** Eleven providers, four currencies, and the 45 most recent countries of customers. */
const MAXIMUM_ENTRIES = 2_000;
/** Interval of a provider's catalog reads for countries, because a visitor may claim any. */
const COUNTRY_INTERVAL_MS = 10_000;

/** Keeps the limits of providers with a readable catalog. Looking up the limits makes no call. */
export function createKnownLimits({ adapters, nowMs, onFailure }: KnownLimitsOptions) {
  const entries = new LRUCache<string, ProviderLimits>({ max: MAXIMUM_ENTRIES });
  const triedAtMs = new LRUCache<string, number>({ max: MAXIMUM_ENTRIES });
  const nextCountryAtMs = new Map<ProviderId, number>();

  async function read(provider: ProviderId, currency: Currency, country: string | null): Promise<void> {
    const key = keyOf(provider, currency, country);
    try {
      // The amount does not matter to a catalog; only currency and country do.
      const request = { amountCents: 100_00, currency, usdUnits: 100_000_000n, customerCountry: country };
      const limits = await adapters.get(provider)?.readCatalog?.(request);
      if (limits === undefined) return;
      const { minimumCents, maximumCents } = limits;
      entries.set(key, { minimumCents, maximumCents, isSold: true, readAtMs: nowMs() });
    } catch (error) {
      const isRefused = error instanceof ServiceError && error.errorName === 'provider_inactive';
      // Wrong credentials look the same, and then the provider cannot serve either.
      if (isRefused && country !== null)
        entries.set(key, { minimumCents: null, maximumCents: null, isSold: false, readAtMs: nowMs() });
      else onFailure(provider, error);
    }
  }

  return {
    /** Last known limits; without the country's, those without a country, or null. */
    known: (provider: ProviderId, currency: Currency, country: string | null): ProviderLimits | null =>
      entries.get(keyOf(provider, currency, country)) ?? entries.get(keyOf(provider, currency, null)) ?? null,
    /** Reads missing or outdated limits in the background. Never fails. */
    refresh(provider: ProviderId, currency: Currency, country: string | null): void {
      if (adapters.get(provider)?.readCatalog === undefined) return;
      const key = keyOf(provider, currency, country);
      const isFresh = (entries.get(key)?.readAtMs ?? Number.NEGATIVE_INFINITY) > nowMs() - KEEP_MS;
      const isTried = (triedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) > nowMs() - RETRY_MS;
      const isTooSoon = country !== null && (nextCountryAtMs.get(provider) ?? 0) > nowMs();
      if (isFresh || isTried || isTooSoon) return;
      triedAtMs.set(key, nowMs());
      if (country !== null) nextCountryAtMs.set(provider, nowMs() + COUNTRY_INTERVAL_MS);
      void read(provider, currency, country);
    },
    /** Known limits without a country, for the operator. */
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

/** A charge with a known value in USD. */
export type ChargedAmount = Pick<Payment, 'amountCents' | 'currency' | 'usdUnits'>;

/**
 * Converts a minimum in cents of the charge's currency to USD cents, at the charge's own rate. Rounds up, so that this
 * amount is accepted, except for a charge that already meets the minimum, which rounding must not refuse.
 */
export function minimumUsdCentsFor(minimumCents: number, charge: ChargedAmount): number {
  const divisor = BigInt(charge.amountCents) * UNITS_PER_CENT;
  const scaled = BigInt(minimumCents) * charge.usdUnits;
  return Number((charge.amountCents >= minimumCents ? scaled : scaled + divisor - 1n) / divisor);
}

/** Converts a maximum in the same way, rounding down. */
export function maximumUsdCentsFor(maximumCents: number, { amountCents, usdUnits }: ChargedAmount): number {
  return Number((BigInt(maximumCents) * usdUnits) / (BigInt(amountCents) * UNITS_PER_CENT));
}
