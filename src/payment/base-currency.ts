import { type Currency, USD_RATE_ONE, type UsdRate } from './money.ts';

// Reports also show USDC amounts in the merchant's base currency, at the exchange rate of the hour of creation or
// payment. 1 USDC counts as 1 USD.

/** The first rate read in an hour. */
export interface HourlyRate {
  readonly currency: Currency;
  /** Start of the hour, UTC. */
  readonly hourMs: number;
  readonly usdRate: UsdRate;
}

/** Retention of exchange rates, longer than that of books in most countries. */
export const RATE_RETENTION_MS = 11 * 366 * 86_400_000;

const HOUR_MS = 3_600_000;

export function hourOf(timeMs: number): number {
  return timeMs - (timeMs % HOUR_MS);
}

/** Lists a currency's rates from the first to the last hour. */
export type ListRates = (
  currency: Currency,
  firstMs: number,
  lastMs: number,
) => Promise<readonly HourlyRate[]>;

/** Reads a currency's rates at these times, USD for one unit; the function returns null for hours without one. */
export async function ratesAt(
  listRates: ListRates,
  currency: Currency,
  timesMs: readonly number[],
): Promise<(timeMs: number) => UsdRate | null> {
  if (currency === 'USD') return () => USD_RATE_ONE;
  if (timesMs.length === 0) return () => null;
  const hoursMs = timesMs.map(hourOf).sort((a, b) => a - b);
  const rates = await listRates(currency, hoursMs[0] as number, hoursMs.at(-1) as number);
  const byHour = new Map(rates.map(({ hourMs, usdRate }) => [hourMs, usdRate]));
  return (timeMs) => byHour.get(hourOf(timeMs)) ?? null;
}

/** The value of USD in another currency, both in 10⁻⁶ units; rounded toward zero. */
export function inCurrency(usdUnits: bigint, rate: UsdRate): bigint {
  return (usdUnits * USD_RATE_ONE) / rate;
}
