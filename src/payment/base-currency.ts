import { type Currency, USD_RATE_ONE, type UsdRate } from './money.ts';

// Reports also convert USDC amounts to the merchant's base currency, at the exchange rate of the hour in which the
// payment was created or paid. 1 USDC counts as 1 USD.

/** First exchange rate fetched in an hour. */
export interface HourlyRate {
  readonly currency: Currency;
  /** Start of the hour, UTC. */
  readonly hourMs: number;
  readonly usdRate: UsdRate;
}

const HOUR_MS = 3_600_000;

export function hourOf(timeMs: number): number {
  return timeMs - (timeMs % HOUR_MS);
}

/** Lists the rates of the hours whose start lies between `firstMs` and `lastMs`, inclusive. */
export type ListRates = (
  currency: Currency,
  firstMs: number,
  lastMs: number,
) => Promise<readonly HourlyRate[]>;

/** Returns a function that maps a time from `timesMs` to the rate of its hour; null if that hour has no rate. */
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

/** Converts USD to the rate's currency, both in 10⁻⁶ units. Rounds toward zero. */
export function inCurrency(usdUnits: bigint, rate: UsdRate): bigint {
  return (usdUnits * USD_RATE_ONE) / rate;
}
