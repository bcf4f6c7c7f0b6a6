import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createLiveRates } from '../../src/rates/live-rates.ts';
import { type JsonServer, serveJson } from '../providers/serve-json.ts';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';

// The API as merchants see it, with live rates that come over HTTP from simulators of both sources.

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const NOW_MS = Date.UTC(2026, 10, 20, 12);

const well = {
  coinbase: '1.10',
  coinbaseStatus: 200,
  daily: 0.909,
  dailyStatus: 200,
  dailyDate: '2026-11-20',
};
let told: typeof well;
let sources: JsonServer;
let service: ApiService;
let rates: ReturnType<typeof createLiveRates>;
let elapsedMs: number;
let warnings: string[];

beforeAll(async () => {
  service = await createApiService({ requestsPerMinute: 10_000 });
  sources = await serveJson((path, query) => {
    if (path === '/v2/exchange-rates') {
      const data = { currency: query.get('currency'), rates: { USD: told.coinbase } };
      return { status: told.coinbaseStatus, body: { data } };
    }
    const daily = { EUR: told.daily, CAD: told.daily, INR: told.daily };
    return { status: told.dailyStatus, body: { base: 'USD', date: told.dailyDate, rates: daily } };
  });
});
afterAll(async () => {
  await service?.close();
  await sources?.stop();
});

beforeEach(async () => {
  told = { ...well };
  elapsedMs = 0;
  warnings = [];
  rates = createLiveRates({
    clock: { nowMs: () => NOW_MS + elapsedMs, monotonicMs: () => elapsedMs },
    warn: (message) => warnings.push(message),
    coinbaseBaseUrl: sources.url,
    frankfurterBaseUrl: sources.url,
  });
  service.world.rates = rates;
  return () => rates.stop();
});

const create = (currency: string) => service.post({ ...validRequest, currency });

async function expectConverted(): Promise<void> {
  const answer = await create('EUR');
  expect(answer.json()).toMatchObject({ amount: '100.00', status: 'unpaid' });
  const payment = await service.store.payments.findPaymentById(answer.json().payment_id);
  expect(payment?.usdUnits).toBe(110_000_000n);
}

async function expectFailed(): Promise<void> {
  const answer = await create('EUR');
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toEqual({
    code: 'conversion_failed',
    error: 'The amount could not be converted to USD. Retry shortly.',
  });
  // A dollar needs no rate.
  expect((await create('USD')).statusCode).toBe(200);
}

it('both sources agree: the amount is converted at the primary one', async () => {
  await expectConverted();
  expect(warnings).toEqual([]);
});

it('the cross-check is down: converted, with a warning', async () => {
  told.dailyStatus = 503;
  await expectConverted();
  expect(warnings.join()).toContain('without a cross-check');
});

it('the primary source is down: conversion_failed, whatever the cross-check says', async () => {
  told.coinbaseStatus = 503;
  await expectFailed();
});

it('both are down: conversion_failed, and it comes back with them', async () => {
  told.coinbaseStatus = 503;
  told.dailyStatus = 503;
  await expectFailed();
  Object.assign(told, well);
  elapsedMs += MINUTE_MS;
  await expectConverted();
});

it('they diverge by more than 2 %: conversion_failed', async () => {
  told.coinbase = '1.13';
  await expectFailed();
});

it('the rate has become stale while its source is down: used for ten minutes, then conversion_failed', async () => {
  await expectConverted();
  told.coinbaseStatus = 503;
  elapsedMs = 10 * MINUTE_MS;
  await expectConverted();
  elapsedMs += 1;
  await expectFailed();
});

it('the cross-check is stale: it is none, so a divergence from it stops nobody', async () => {
  told.dailyDate = new Date(NOW_MS - 8 * DAY_MS).toISOString().slice(0, 10);
  told.daily = 0.5;
  await expectConverted();
  expect(warnings.join()).toContain('without a cross-check');
});
