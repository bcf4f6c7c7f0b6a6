import { beforeEach, expect, it } from 'vitest';
import { ServiceError } from '../payment/errors.ts';
import type { CatalogEntry, ProviderAdapter, QuoteRequest } from './provider.ts';
import {
  createKnownLimits,
  type KnownLimits,
  maximumUsdCentsFor,
  minimumUsdCentsFor,
} from './provider-limits-and-regions.ts';

const HOUR_MS = 3_600_000;
let nowMs: number;
let asked: string[];
let failures: number;
let catalog: (request: QuoteRequest) => Promise<CatalogEntry>;
let limits: KnownLimits;

const entry = (minimumCents: number, maximumCents: number | null): CatalogEntry => ({
  asset: 'usdc',
  tokenContract: null,
  minimumCents,
  maximumCents,
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  nowMs = 10 * HOUR_MS;
  asked = [];
  failures = 0;
  catalog = async () => entry(20_00, 2_000_00);
  const adapter = {
    currenciesSold: ['EUR'],
    readCatalog: (request: QuoteRequest) => {
      asked.push(`${request.currency} ${request.customerCountry}`);
      return catalog(request);
    },
  } as unknown as ProviderAdapter;
  limits = createKnownLimits({
    adapters: new Map([
      ['moonpay', adapter],
      ['wert', {} as ProviderAdapter],
    ]),
    nowMs: () => nowMs,
    onFailure: () => failures++,
  });
});

async function refresh(country: string | null = null): Promise<void> {
  limits.refresh('moonpay', 'EUR', country);
  await settled();
}

it('reads a catalog once in six hours, and makes no call to tell what it knows', async () => {
  expect(limits.known('moonpay', 'EUR', null)).toBeNull();
  expect(asked).toEqual([]);
  await Promise.all([refresh(), refresh(), refresh()]);
  expect(limits.known('moonpay', 'EUR', null)).toEqual({
    minimumCents: 20_00,
    maximumCents: 2_000_00,
    regionsNotServed: new Set(),
    isSold: true,
    readAtMs: nowMs,
  });
  nowMs += 6 * HOUR_MS - 1;
  await refresh();
  expect(asked).toEqual(['EUR null']);
  nowMs += 1;
  await refresh();
  expect(asked).toHaveLength(2);
  limits.refresh('moonpay', 'INR', null);
  expect(asked).toHaveLength(2);
  limits.refresh('wert', 'EUR', null);
  expect(limits.known('wert', 'EUR', null)).toBeNull();
});

it('keeps the last known limits, with their age, while a catalog cannot be read, and tries again after ten minutes', async () => {
  await refresh();
  const readAtMs = nowMs;
  catalog = () => Promise.reject(new Error('unreachable'));
  nowMs += 6 * HOUR_MS;
  await Promise.all([refresh(), refresh()]);
  expect([asked.length, failures]).toEqual([2, 1]);
  expect(limits.list('moonpay')).toMatchObject([{ currency: 'EUR', minimumCents: 20_00, readAtMs }]);
  nowMs += 10 * 60_000;
  await refresh();
  expect(failures).toBe(2);
});

it("tells a country's own limits, and those without a country where it does not know them", async () => {
  await refresh();
  catalog = async () => entry(50_00, null);
  await refresh('CH');
  nowMs += 10_000;
  catalog = () => Promise.reject(new ServiceError('provider_inactive'));
  await refresh('IN');
  expect(limits.known('moonpay', 'EUR', 'CH')).toMatchObject({ minimumCents: 50_00, maximumCents: null });
  expect(limits.known('moonpay', 'EUR', 'DE')).toMatchObject({ minimumCents: 20_00 });
  expect(limits.known('moonpay', 'EUR', 'IN')).toMatchObject({ isSold: false });
  expect(limits.known('moonpay', 'USD', 'CH')).toBeNull();
});

it("reads one country's catalog of a provider in ten seconds, whatever countries visitors name", async () => {
  for (let second = 0; second < 60; second++) {
    for (const country of ['AT', 'BE', 'CH', 'DE', 'ES', 'FR', 'IT']) await refresh(country);
    nowMs += 1_000;
  }
  expect(asked).toHaveLength(6);
});

it("converts limits at the charge's own rate, and never promises more than the catalog", () => {
  const charge = { amountCents: 100_00, currency: 'EUR', usdUnits: 110_333_333n } as const;
  expect(maximumUsdCentsFor(20_00, charge)).toBe(22_06);
  expect(minimumUsdCentsFor(120_00, charge)).toBe(132_40);
  // Rounding up must not refuse a charge that meets the minimum.
  const exact = { amountCents: 20_00, currency: 'EUR', usdUnits: 21_748_000n } as const;
  expect(minimumUsdCentsFor(20_00, exact)).toBe(21_74);
  expect(minimumUsdCentsFor(20_01, exact)).toBe(21_76);
});
