import { createServer, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFixedRates } from '../../sandbox/fixed-rates.ts';
import { ServiceError } from '../../src/payment/errors.ts';
import type { Currency } from '../../src/payment/money.ts';
import { createLiveRates, type LiveRatesOptions } from '../../src/rates/live-rates.ts';
import { listenOnLoopback } from '../support/listen-on-loopback.ts';

const DAY_MS = 24 * 60 * 60_000;
const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

/** Both services behind one loopback server, each of which can be told what to answer. */
interface Sources {
  coinbaseUsd: string;
  coinbaseStatus: number;
  coinbaseHangs: boolean;
  coinbaseText: string | null;
  frankfurterEur: number;
  frankfurterDate: string;
  frankfurterStatus: number;
  coinbaseCalls: number;
  frankfurterCalls: number;
}

let sources: Sources;
let baseUrl: string;
let elapsedMs: number;
let movedDays: number;
let warnings: string[];
let rates: ReturnType<typeof createLiveRates>;

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function start(options: Partial<LiveRatesOptions> = {}): typeof rates {
  return createLiveRates({
    clock: { nowMs: () => NOW_MS + elapsedMs + movedDays * DAY_MS, monotonicMs: () => elapsedMs },
    warn: (message) => warnings.push(message),
    coinbaseBaseUrl: `${baseUrl}/coinbase`,
    frankfurterBaseUrl: `${baseUrl}/frankfurter`,
    timeoutMs: 2_000,
    ...options,
  });
}

async function errorNameOf(currency: Currency): Promise<string> {
  try {
    await rates.usdRate(currency);
  } catch (error) {
    if (error instanceof ServiceError) return error.errorName;
    throw error;
  }
  return 'none';
}

beforeEach(async () => {
  sources = {
    coinbaseUsd: '1.1',
    coinbaseStatus: 200,
    coinbaseHangs: false,
    coinbaseText: null,
    frankfurterEur: 0.91,
    frankfurterDate: '2026-11-20',
    frankfurterStatus: 200,
    coinbaseCalls: 0,
    frankfurterCalls: 0,
  };
  elapsedMs = 0;
  movedDays = 0;
  warnings = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/coinbase/v2/exchange-rates') {
      sources.coinbaseCalls++;
      if (sources.coinbaseHangs) return;
      const currency = url.searchParams.get('currency');
      const body = { data: { currency, rates: { USD: sources.coinbaseUsd } } };
      answer(response, sources.coinbaseStatus, sources.coinbaseText ?? body);
    } else if (url.pathname === '/frankfurter/v1/latest') {
      sources.frankfurterCalls++;
      const given = { EUR: sources.frankfurterEur, CAD: sources.frankfurterEur, INR: sources.frankfurterEur };
      const body = { base: 'USD', date: sources.frankfurterDate, rates: given };
      answer(response, sources.frankfurterStatus, body);
    } else {
      answer(response, 404, {});
    }
  });
  baseUrl = await listenOnLoopback(server);
  rates = start();
});

afterEach(async () => {
  await rates.stop();
});

describe('live exchange rates', () => {
  it('are those of the primary source, checked against the daily ones', async () => {
    expect(await rates.usdRate('EUR')).toBe(110_000_000n);
    expect(warnings).toEqual([]);
    expect(sources.frankfurterCalls).toBe(1);
  });

  it('need no network for a dollar', async () => {
    expect(await rates.usdRate('USD')).toBe(100_000_000n);
    expect(sources.coinbaseCalls).toBe(0);
  });

  it('are fetched once for concurrent and soon following callers', async () => {
    await Promise.all([rates.usdRate('EUR'), rates.usdRate('EUR'), rates.usdRate('EUR')]);
    await rates.usdRate('EUR');
    expect([sources.coinbaseCalls, sources.frankfurterCalls]).toEqual([1, 1]);
  });

  it.each([
    ['a little less than 2 %', '1.1208', 'none'],
    ['a little more than 2 %', '1.1211', 'conversion_failed'],
    ['more than 2 % downwards', '1.0768', 'conversion_failed'],
    ['a factor of ten', '11', 'conversion_failed'],
  ])('that differ by %s end as %s → %s', async (_what, coinbaseUsd, expected) => {
    sources.coinbaseUsd = coinbaseUsd;
    expect(await errorNameOf('EUR')).toBe(expected);
  });

  it('are believed with a warning when the cross-check is missing', async () => {
    sources.frankfurterStatus = 500;
    expect(await rates.usdRate('EUR')).toBe(110_000_000n);
    expect(warnings.some((warning) => warning.includes('without a cross-check'))).toBe(true);
  });

  it.each([
    ['a ten-thousandth at the first start', '0.0001', [], 'conversion_failed'],
    ['a third more at the first start', '1.45', [], 'conversion_failed'],
    ['a plausible one at the first start', '1.2', [], 'none'],
    ['4.9 % less than in the last days', '1.0462', [1.1, 1.09, 1.11], 'none'],
    ['5.1 % less than in the last days', '1.0438', [1.1, 1.09, 1.11], 'conversion_failed'],
    ['5.1 % more than in the last days', '1.1562', [1.1, 1.09, 1.11], 'conversion_failed'],
    ['like a single hour of the last days', '1.3', [1.1, 1.3, 1.09], 'conversion_failed'],
  ])('of the primary source alone: %s → %s', async (_what, coinbaseUsd, recent, expected) => {
    await rates.stop();
    const recentRates = async () => recent.map((rate) => BigInt(Math.round(rate * 1e8)));
    rates = start({ recentRates });
    sources.frankfurterStatus = 503;
    sources.coinbaseUsd = coinbaseUsd;
    expect(await errorNameOf('EUR')).toBe(expected);
  });

  it('are kept for their ten minutes when the primary source alone says something implausible', async () => {
    await rates.usdRate('EUR');
    sources.frankfurterStatus = 503;
    sources.coinbaseUsd = '0.0001';
    // The daily rates have become too old by the clock of the day, not by that of the cache.
    movedDays = 7;
    elapsedMs = 60_001;
    await rates.refreshAll();
    expect(await rates.usdRate('EUR')).toBe(110_000_000n);
    expect(warnings.some((warning) => warning.includes('could not be refreshed'))).toBe(true);
  });

  it('are not checked against daily rates that name a day to come', async () => {
    sources.frankfurterDate = '2026-11-25';
    await rates.usdRate('EUR');
    expect(warnings.some((warning) => warning.includes('without a cross-check'))).toBe(true);
  });

  it.each([
    ['six days', '2026-11-15', 0],
    ['more than six days', '2026-11-13', 1],
  ])(
    'are checked against daily rates of %s old: %s warns %i times',
    async (_what, frankfurterDate, count) => {
      sources.frankfurterDate = frankfurterDate;
      await rates.usdRate('EUR');
      expect(warnings).toHaveLength(count);
    },
  );

  it.each([
    ['answers an error', () => ({ coinbaseStatus: 500 })],
    ['answers no JSON', () => ({ coinbaseText: '<html>' })],
    ['answers null', () => ({ coinbaseText: 'null' })],
    [
      'answers for another currency',
      () => ({ coinbaseText: '{"data":{"currency":"GBP","rates":{"USD":"1.1"}}}' }),
    ],
    ['answers a number', () => ({ coinbaseText: '{"data":{"currency":"EUR","rates":{"USD":1.1}}}' })],
    ['answers zero', () => ({ coinbaseUsd: '0' })],
    ['answers a negative rate', () => ({ coinbaseUsd: '-1.1' })],
    ['answers an exponent', () => ({ coinbaseUsd: '1e9' })],
  ])('are conversion_failed when the primary source %s', async (_what, change) => {
    Object.assign(sources, change());
    expect(await errorNameOf('EUR')).toBe('conversion_failed');
  });

  it('are conversion_failed when the primary source does not answer in time', async () => {
    sources.coinbaseHangs = true;
    await rates.stop();
    rates = start({ timeoutMs: 50 });
    expect(await errorNameOf('EUR')).toBe('conversion_failed');
  });

  it('come from the cache while the source is down, up to the age limit and not beyond', async () => {
    expect(await rates.usdRate('EUR')).toBe(110_000_000n);
    sources.coinbaseStatus = 500;
    elapsedMs = 10 * 60_000;
    expect(await rates.usdRate('EUR')).toBe(110_000_000n);
    elapsedMs += 1;
    expect(await errorNameOf('EUR')).toBe('conversion_failed');
  });

  it('are refreshed while nobody asks', async () => {
    await rates.stop();
    rates = start({ refreshMs: 20 });
    await vi.waitFor(() => expect(sources.coinbaseCalls).toBeGreaterThanOrEqual(6), 30_000);
  });

  it('that begin to diverge are not answered from the cache either', async () => {
    await rates.usdRate('EUR');
    sources.coinbaseUsd = '2';
    elapsedMs = 60_001;
    await rates.refreshAll();
    expect(await errorNameOf('EUR')).toBe('conversion_failed');
  });

  it('do not use daily rates that have become too old', async () => {
    await rates.usdRate('EUR');
    sources.frankfurterStatus = 500;
    elapsedMs = 7 * DAY_MS;
    await rates.usdRate('EUR');
    expect(warnings.some((warning) => warning.includes('without a cross-check'))).toBe(true);
  });
});

describe('fixed exchange rates', () => {
  it('fail and recover on demand, except for the dollar', async () => {
    const fixed = createFixedRates();
    fixed.setFault('down');
    await expect(fixed.usdRate('EUR')).rejects.toThrow(ServiceError);
    expect(await fixed.usdRate('USD')).toBe(100_000_000n);
    fixed.setFault('up');
    expect(await fixed.usdRate('EUR')).toBe(109_000_000n);
  });

  it('answer late on demand', async () => {
    const fixed = createFixedRates(30);
    fixed.setFault('slow');
    const startedAtMs = performance.now();
    expect(await fixed.usdRate('EUR')).toBe(109_000_000n);
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(25);
  });
});
