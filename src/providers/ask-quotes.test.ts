import { beforeEach, expect, it } from 'vitest';
import { ServiceError } from '../payment/errors.ts';
import type { Currency } from '../payment/money.ts';
import { type ProviderId, providerIds } from '../payment/provider-catalog.ts';
import type { Charge } from '../payment/session-charge.ts';
import { busy, ProviderBusyError } from './adapters/provider-http.ts';
import { createQuotes, type Quotes } from './ask-quotes.ts';
import type { ProviderAdapter, Quote, QuoteRequest } from './provider.ts';
import { createKnownLimits } from './provider-limits-and-regions.ts';

let clockMs: number;
let calls: string[];
let answer: (request: QuoteRequest) => Promise<Quote>;
let quotes: Quotes;
let isSkipped: boolean;

const settled = () => new Promise((resolve) => setImmediate(resolve));
const chargeOf = (cents: number, currency: Currency = 'USD'): Charge => ({
  accountId: 'account',
  amountCents: cents,
  currency,
  usdUnits: BigInt(cents) * 10_000n,
  maxProviderFeeBasisPoints: 3_000,
  receivedUnits: 0n,
});
/** Delivers 95 % of the charge, less 2 USD, in 10⁻⁶. */
const delivered = (cents: number) => BigInt(cents) * 9_500n - 2_000_000n;
const quoteOf = ({ amountCents }: QuoteRequest, deliveryUnits: bigint): Quote => ({
  chargedCents: amountCents,
  deliveryUnits,
  minimumUsdCents: null,
});
const delivers = async (request: QuoteRequest) => quoteOf(request, delivered(request.amountCents));
const failing = (error: ServiceError) => () => Promise.reject(error);

beforeEach(() => {
  clockMs = 1_000_000;
  calls = [];
  answer = delivers;
  isSkipped = false;
  const adapters = new Map<ProviderId, ProviderAdapter>(
    providerIds.map((id) => [
      id,
      {
        id,
        isSkipped: () => isSkipped,
        quote: (request: QuoteRequest) => {
          calls.push(`${id} quote ${request.customerCountry}`);
          return answer(request);
        },
        readCatalog: async ({ customerCountry }: QuoteRequest) => {
          calls.push(`${id} catalog ${customerCountry}`);
          return { asset: 'usdc', tokenContract: null, minimumCents: 1_00, maximumCents: null };
        },
      } as Partial<ProviderAdapter> as ProviderAdapter,
    ]),
  );
  const nowMs = () => clockMs;
  const limits = createKnownLimits({ adapters, nowMs, onFailure: () => {} });
  const providers = { adapters, limits, settings: {} as never };
  quotes = createQuotes({ providers, nowMs, monotonicMs: nowMs, keepMs: 20_000 });
});

async function view(cents: number, country: string | null = null, currency: Currency = 'USD') {
  const outcomes = providerIds.map((id) => quotes.peek(id, chargeOf(cents, currency), country));
  await settled();
  return outcomes;
}
const unitsOf = (cents: number, country: string | null = null) => {
  const outcome = quotes.peek('wert', chargeOf(cents), country);
  return outcome.kind === 'quoted' ? outcome.quote.deliveryUnits : outcome;
};

it('makes a bounded number of calls for pages of sixty countries, and for a thousand amounts', async () => {
  const countries = Array.from({ length: 60 }, (_, index) => `C${index}`);
  for (const country of countries) {
    clockMs += 100;
    await view(50_00, country);
  }
  // Two quotes and one catalog read per provider within six seconds.
  expect(calls).toHaveLength(3 * providerIds.length);
  calls.length = 0;
  for (let count = 0; count < 1_000; count++) {
    clockMs += 60;
    await view(10_00 + count * 7);
  }
  expect(calls.filter((call) => call.startsWith('wert quote')).length).toBeLessThanOrEqual(4);
  expect(calls.filter((call) => call.startsWith('wert catalog'))).toHaveLength(1);
});

it('estimates other charges by the share of one quote, and by share and fixed part of two', async () => {
  expect(unitsOf(100_00)).toBeNull();
  await settled();
  expect(unitsOf(100_00)).toBe(delivered(100_00));
  // With a single quote, the delivery is proportional to the charge.
  expect(unitsOf(200_00)).toBe(2n * delivered(100_00));
  // A country without quotes of its own uses the quotes requested without a country.
  expect(unitsOf(100_00, 'DE')).toBe(delivered(100_00));
  clockMs += 20_000;
  await view(200_00);
  for (const cents of [10_00, 55_55, 150_00, 999_99]) expect(unitsOf(cents)).toBe(delivered(cents));
  // An old quote does not reveal a fixed fee, because rates have moved since.
  clockMs += 10 * 60_000;
  await view(400_00);
  expect(unitsOf(800_00)).toBe(2n * delivered(400_00));
});

it('believes no quote of more than the charge, and keeps the estimate below it', async () => {
  answer = async (request) => quoteOf(request, 2n * request.usdUnits);
  await view(100_00);
  expect(unitsOf(100_00)).toBeNull();
  answer = async (request) => quoteOf(request, request.amountCents === 100_00 ? 95_000_000n : 1n);
  for (const cents of [50_00, 100_00]) {
    clockMs += 20_000;
    await view(cents);
  }
  expect(unitsOf(1_000_00)).toBe(1_020_000_000n);
});

it('estimates what the customer is charged in all by the last quote', async () => {
  answer = async (request) => ({ ...quoteOf(request, 95_000_000n), chargedCents: 105_00 });
  await view(100_00);
  const outcome = quotes.peek('wert', chargeOf(60_00), 'DE');
  expect(outcome).toMatchObject({ kind: 'quoted', quote: { chargedCents: 63_00 } });
});

it('refuses by an estimate only what the last quotes show, never a larger charge by the share of a small one', async () => {
  await view(5_00);
  expect(unitsOf(5_00)).toMatchObject({ kind: 'refused', refusal: { errorName: 'below_minimum' } });
  expect(unitsOf(4_00)).toMatchObject({ kind: 'refused' });
  expect(unitsOf(50_00)).toBe(27_500_000n);
  answer = failing(new ServiceError('below_minimum'));
  clockMs += 20_000;
  await view(30_00);
  expect([unitsOf(29_00), unitsOf(31_00)]).toMatchObject([{ kind: 'refused' }, 17_050_000n]);
});

it('marks a provider whose last call failed, until one is answered, and not for our own limit', async () => {
  await view(100_00);
  for (const [error, kind] of [
    [new ServiceError('provider_unavailable'), 'silent'],
    [busy('wert', 7), 'silent'],
    [busy('wert', 7, new ProviderBusyError(7)), 'busy'],
    [new ServiceError('provider_inactive'), 'refused'],
  ] as const) {
    answer = failing(error);
    clockMs += 20_000;
    await view(100_00);
    expect(unitsOf(100_00)).toMatchObject({ kind });
  }
  answer = delivers;
  clockMs += 20_000;
  await view(100_00);
  expect(unitsOf(100_00)).toBe(delivered(100_00));
  // An outage applies to every country.
  isSkipped = true;
  expect(unitsOf(100_00, 'FR')).toEqual({ kind: 'silent' });
});

it('decides a create by the last answers where our own share of calls is used up, and fails without one', async () => {
  const create = (cents: number, currency: Currency = 'USD') =>
    quotes.requireServed('wert', chargeOf(cents, currency));
  await create(100_00);
  await expect(create(5_00)).rejects.toMatchObject({ errorName: 'below_minimum' });
  answer = failing(busy('wert', 7));
  await create(90_00);
  await expect(create(4_00)).rejects.toMatchObject({ errorName: 'below_minimum' });
  await expect(create(90_00, 'EUR')).rejects.toMatchObject({
    errorName: 'provider_unavailable',
    retryAfterSeconds: 7,
  });
  answer = failing(busy('wert', 9, new ProviderBusyError(9)));
  await expect(create(90_00)).rejects.toMatchObject({ retryAfterSeconds: 9 });
  answer = failing(new ServiceError('provider_unavailable'));
  await expect(create(90_00)).rejects.toMatchObject({ errorName: 'provider_unavailable' });
  answer = failing(busy('wert', 7));
  await expect(create(90_00)).rejects.toMatchObject({ errorName: 'provider_unavailable' });
});

it('keeps what means deliver apart, and estimates means that were never asked for by the usual ones', async () => {
  const charge = chargeOf(100_00);
  const units = (means: 'card' | 'apple_pay' | null = null) => {
    const outcome = quotes.peek('banxa', charge, 'DE', means);
    return outcome.kind === 'quoted' ? outcome.quote.deliveryUnits : outcome.kind;
  };
  answer = async (request) => quoteOf(request, request.means === 'apple_pay' ? 80_000_000n : 90_000_000n);
  units();
  await settled();
  expect([units(), units('card')]).toEqual([90_000_000n, 90_000_000n]);
  // The default means and `card` share one call. Apple Pay shows their price until it has a quote of its own.
  expect(calls.filter((call) => call.includes('quote'))).toHaveLength(1);
  clockMs += 5_000;
  expect(units('apple_pay')).toBe(90_000_000n);
  await settled();
  expect([units('apple_pay'), units()]).toEqual([80_000_000n, 90_000_000n]);
});
