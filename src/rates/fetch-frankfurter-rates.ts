import type { Agent } from 'undici';
import { type Currency, currencies, USD_RATE_ONE, type UsdRate } from '../domain/money.ts';
import { getJson } from './get-json.ts';

/** The reference rates of one day. */
export interface DailyRates {
  /** Midnight UTC of the day they belong to. */
  readonly dateMs: number;
  readonly usdRates: ReadonlyMap<Currency, UsdRate>;
}

/** Rates are per USD with at most this many significant decimals; more would be noise. */
const DECIMALS = 8;

/** USD per unit from units per USD; null when it is not a positive number of a sane size. */
function invert(unitsPerUsd: unknown): UsdRate | null {
  if (typeof unitsPerUsd !== 'number' || !(unitsPerUsd > 1e-6 && unitsPerUsd < 1e9)) return null;
  const scaled = BigInt(unitsPerUsd.toFixed(DECIMALS).replace('.', ''));
  return (USD_RATE_ONE * 10n ** BigInt(DECIMALS) + scaled / 2n) / scaled;
}

/**
 * The European Central Bank's daily rates by Frankfurter: `GET /v1/latest?from=USD&to=EUR,CAD,INR`, no key
 * → `{base: "USD", date: "2026-11-20", rates: {EUR: 0.92, …}}`; on weekends and holidays the last date.
 */
export async function fetchFrankfurterRates(
  agent: Agent,
  baseUrl: string,
  timeoutMs: number,
): Promise<DailyRates> {
  const others = currencies.filter((currency) => currency !== 'USD');
  const answer = (await getJson(
    agent,
    `${baseUrl}/v1/latest?from=USD&to=${others.join(',')}`,
    timeoutMs,
  )) as {
    base?: unknown;
    date?: unknown;
    rates?: Record<string, unknown>;
  } | null;
  if (answer?.base !== 'USD') throw new Error('Frankfurter answered for another base than USD');
  const { date } = answer;
  const dateMs = typeof date === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(dateMs)) throw new Error('Frankfurter gave no date');
  const usdRates = new Map<Currency, UsdRate>();
  for (const currency of others) {
    const rate = invert(answer.rates?.[currency]);
    if (rate !== null) usdRates.set(currency, rate);
  }
  return { dateMs, usdRates };
}
