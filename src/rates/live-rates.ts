import { type Agent, request } from 'undici';
import { ServiceError } from '../payment/errors.ts';
import {
  BASIS_POINTS,
  type Currency,
  currencies,
  formatRate,
  parseUsdRate,
  USD_RATE_ONE,
  type UsdRate,
} from '../payment/money.ts';
import type { Clock } from '../platform/clock.ts';
import type { EgressProxy } from '../platform/egress-proxy.ts';
import { createOutgoingAgent } from '../platform/outgoing-calls.ts';
import { DAY_MS } from '../platform/time-zone.ts';
import { createTtlCache } from '../platform/ttl-cache.ts';

export interface LiveRatesOptions extends Readonly<Partial<typeof DEFAULTS>> {
  readonly clock: Clock;
  /** Called for problems that do not reach a caller as an error, such as a missing cross-check or a failed refresh. */
  readonly warn: (message: string, cause: unknown) => void;
}

const DEFAULTS = {
  /** Base URL without a trailing slash, like `frankfurterBaseUrl`. */
  coinbaseBaseUrl: 'https://api.coinbase.com',
  frankfurterBaseUrl: 'https://api.frankfurter.dev',
  timeoutMs: 5_000,
  /** Interval at which all rates are refreshed, so that a request seldom waits for the network. */
  refreshMs: 60_000,
  maximumAgeMs: 10 * 60_000,
  proxy: null as EgressProxy | null,
  /** Returns the rates of the last seven days, in any order. */
  recentRates: async (_currency: Currency): Promise<readonly UsdRate[]> => [],
};

/** Maximum difference between both sources. Above it, neither is trusted. */
const MAXIMUM_DIVERGENCE_BASIS_POINTS = 200n;
/** Maximum difference of an unchecked rate from the median of seven days. These currencies move less in a day. */
const MAXIMUM_UNCHECKED_MOVE_BASIS_POINTS = 500n;
/** Plausible range of an unchecked rate without recent rates, in 10⁻⁸ USD: wider than that of the last ten years. */
const plausibleRates: Readonly<Record<Currency, readonly [minimum: UsdRate, maximum: UsdRate]>> = {
  USD: [USD_RATE_ONE, USD_RATE_ONE],
  EUR: [90_000_000n, 140_000_000n],
  CAD: [60_000_000n, 90_000_000n],
  INR: [900_000n, 1_500_000n],
};
/** Maximum age of daily rates. They are published on working days, so a rate is almost six days old at Easter. */
const MAXIMUM_DAILY_AGE_MS = 6 * DAY_MS;
const DAILY_REFRESH_MS = 60 * 60_000;

function diverges(primary: UsdRate, check: UsdRate, maximumBasisPoints: bigint): boolean {
  const difference = primary > check ? primary - check : check - primary;
  return difference * BigInt(BASIS_POINTS) > check * maximumBasisPoints;
}

/** Throws unless a single source's rate is near the median of seven days, which the source can move only slowly. */
function requirePlausible(currency: Currency, rate: UsdRate, recent: readonly UsdRate[]): void {
  const median = recent.toSorted((a, b) => (a < b ? -1 : 1))[recent.length >> 1];
  const [minimum, maximum] = plausibleRates[currency];
  const isPlausible =
    median === undefined
      ? rate >= minimum && rate <= maximum
      : !diverges(rate, median, MAXIMUM_UNCHECKED_MOVE_BASIS_POINTS);
  if (isPlausible) return;
  const expected =
    median === undefined
      ? `from ${formatRate(minimum)} to ${formatRate(maximum)}`
      : `within 5 % of ${formatRate(median)}, the median of the last seven days`;
  throw new Error(
    `one source alone says ${currency} is worth ${formatRate(rate)} USD, which is not ${expected}`,
  );
}

/**
 * Creates a reader of Coinbase's rates, which are cross-checked with the European Central Bank's and used up to
 * `maximumAgeMs`. If the sources diverge, there is no rate, not even an older one, because either may have been wrong
 * for an unknown time. Without the second source, a rate must be plausible.
 */
export function createLiveRates(given: LiveRatesOptions) {
  const options: Required<LiveRatesOptions> = { ...DEFAULTS, ...given };
  const { clock, warn } = options;
  const agent = createOutgoingAgent({
    allowH2: false,
    proxy: options.proxy,
    connections: 4,
    maxResponseSize: MAXIMUM_ANSWER_BYTES,
  });
  const { monotonicMs } = clock;
  const known = new Map<Currency, { readonly rate: UsdRate; readonly fetchedAtMs: number }>();
  // Keeps no results, because only concurrent callers share a fetch.
  const fetches = createTtlCache<UsdRate>({ monotonicMs, keepMs: 0, maximumEntries: currencies.length });
  const dailyFetches = createTtlCache<DailyRates>({
    monotonicMs,
    keepMs: DAILY_REFRESH_MS,
    maximumEntries: 1,
  });
  let daily: DailyRates | null = null;

  /** Returns the daily rate of a currency; null if none is recent enough. */
  async function readDailyRate(currency: Currency): Promise<UsdRate | null> {
    const fetchDaily = () =>
      fetchFrankfurterRates(agent, options).catch((error: unknown) => {
        warn('the exchange rates that serve as a cross-check could not be fetched', error);
        throw error;
      });
    daily = await dailyFetches.fetchOrReuse('daily', fetchDaily).catch(() => daily);
    if (daily === null || clock.nowMs() - daily.dateMs > MAXIMUM_DAILY_AGE_MS) return null;
    return daily.usdRates.get(currency) ?? null;
  }

  async function fetchChecked(currency: Currency): Promise<UsdRate> {
    // The age of a rate counts from the request.
    const fetchedAtMs = clock.monotonicMs();
    const [rate, check] = await Promise.all([
      fetchCoinbaseRate(agent, options.coinbaseBaseUrl, currency, options.timeoutMs),
      readDailyRate(currency),
    ]);
    if (check === null) {
      requirePlausible(currency, rate, await options.recentRates(currency));
      warn(`the rate of ${currency} was taken without a cross-check`, null);
    } else if (diverges(rate, check, MAXIMUM_DIVERGENCE_BASIS_POINTS)) {
      known.delete(currency);
      throw new Error(`both sources diverge on ${currency}: ${rate} against ${check} (10⁻⁸ USD)`);
    }
    known.set(currency, { rate, fetchedAtMs });
    return rate;
  }

  const refresh = (currency: Currency) => fetches.fetchOrReuse(currency, () => fetchChecked(currency));

  /** Fetches the rates of all currencies into the cache. Resolves when all fetches have succeeded or failed. */
  async function refreshAll(): Promise<void> {
    const others = currencies.filter((currency) => currency !== 'USD');
    await Promise.all(
      others.map((currency) =>
        refresh(currency).catch((error: unknown) =>
          warn(`the rate of ${currency} could not be refreshed`, error),
        ),
      ),
    );
  }

  // Keeps rates fresh while there are no requests, so that the first one does not wait for the network.
  const timer = setInterval(() => void refreshAll(), options.refreshMs);
  timer.unref();

  return {
    async usdRate(currency: Currency): Promise<UsdRate> {
      if (currency === 'USD') return USD_RATE_ONE;
      const rate = known.get(currency);
      const ageMs = rate === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - rate.fetchedAtMs;
      if (rate === undefined || ageMs > options.maximumAgeMs)
        return refresh(currency).catch((cause: unknown) => {
          throw new ServiceError('conversion_failed', undefined, { cause });
        });
      return rate.rate;
    },
    refreshAll,
    async stop(): Promise<void> {
      clearInterval(timer);
      await agent.destroy();
    },
  };
}

/**
 * Fetches the USD value of a currency unit from Coinbase: `GET /v2/exchange-rates?currency=EUR` (no key, continuous) →
 * `{data: {currency: "EUR", rates: {USD: "1.0874", …}}}`. Throws if the answer has no rate of this currency.
 */
async function fetchCoinbaseRate(
  agent: Agent,
  baseUrl: string,
  currency: Currency,
  timeoutMs: number,
): Promise<UsdRate> {
  const answer = (await getJson(agent, `${baseUrl}/v2/exchange-rates?currency=${currency}`, timeoutMs)) as {
    data?: { currency?: unknown; rates?: { USD?: unknown } };
  } | null;
  if (answer?.data?.currency !== currency)
    throw new Error(`Coinbase answered for another currency than ${currency}`);
  const text = answer.data.rates?.USD;
  const rate = typeof text === 'string' ? parseUsdRate(text) : null;
  if (rate === null) throw new Error(`Coinbase gave no rate for ${currency}`);
  return rate;
}

interface DailyRates {
  /** Midnight UTC of the rates' day. */
  readonly dateMs: number;
  readonly usdRates: ReadonlyMap<Currency, UsdRate>;
}

/** Decimals of a rate per USD. More would be noise. */
const DECIMALS = 8;

/** Converts units per USD to USD per unit; null for an implausible number. */
function invert(unitsPerUsd: unknown): UsdRate | null {
  if (typeof unitsPerUsd !== 'number' || !(unitsPerUsd > 1e-6 && unitsPerUsd < 1e9)) return null;
  const scaled = BigInt(unitsPerUsd.toFixed(DECIMALS).replace('.', ''));
  return (USD_RATE_ONE * 10n ** BigInt(DECIMALS) + scaled / 2n) / scaled;
}

/**
 * Fetches the European Central Bank's daily rates from Frankfurter: `GET /v1/latest?from=USD&to=EUR,CAD,INR`, no key →
 * `{base: "USD", date: "2026-11-20", rates: {EUR: 0.92, …}}`. On weekends and holidays, returns the last working day.
 */
async function fetchFrankfurterRates(
  agent: Agent,
  { frankfurterBaseUrl: baseUrl, timeoutMs, clock }: Required<LiveRatesOptions>,
): Promise<DailyRates> {
  const others = currencies.filter((currency) => currency !== 'USD');
  const url = `${baseUrl}/v1/latest?from=USD&to=${others.join(',')}`;
  const answer = (await getJson(agent, url, timeoutMs)) as {
    base?: unknown;
    date?: unknown;
    rates?: Record<string, unknown>;
  } | null;
  if (answer?.base !== 'USD') throw new Error('Frankfurter answered for another base than USD');
  const { date } = answer;
  const dateMs = typeof date === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date) : Number.NaN;
  // A date in the far future would never be too old.
  if (!(dateMs <= clock.nowMs() + DAY_MS)) throw new Error('Frankfurter gave no date');
  const usdRates = new Map<Currency, UsdRate>();
  for (const currency of others) {
    const rate = invert(answer.rates?.[currency]);
    if (rate !== null) usdRates.set(currency, rate);
  }
  return { dateMs, usdRates };
}

const MAXIMUM_ANSWER_BYTES = 256 * 1024;

/** Sends one bounded GET that must answer 200 with JSON. Does not follow redirects. */
async function getJson(agent: Agent, url: string, timeoutMs: number): Promise<unknown> {
  const { statusCode, body } = await request(url, {
    dispatcher: agent,
    method: 'GET',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
  return JSON.parse(text) as unknown;
}
