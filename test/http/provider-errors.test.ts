import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/payment/errors.ts';
import type { Currency } from '../../src/payment/money.ts';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import type { ProviderAdapter, ProviderSettings } from '../../src/providers/provider.ts';
import { type ApiService, useFreshApi, validRequest } from '../support/api-service.ts';
import type { QuoteAnswer } from '../support/quote-answer.ts';

let service = {} as ApiService;
useFreshApi((api) => (service = api));

const create = (change: object) => service.post({ ...validRequest, ...change });

async function refuses(change: object, code: string, error: string | RegExp) {
  const response = await create(change);
  const words = typeof error === 'string' ? error : expect.stringMatching(error);
  expect([response.statusCode, response.json()]).toEqual([400, { code, error: words }]);
}

it.each([...providerIds, 'multi'])('takes the provider %s', async (provider) => {
  const response = await create({ provider, currency: 'EUR' });
  expect([response.statusCode, response.json().provider]).toEqual([200, provider]);
});

const set = (provider: ProviderId, settings: Partial<ProviderSettings>) =>
  service.store.providers.writeProviderSettings(provider, settings);
const quote = (answer: () => Promise<QuoteAnswer>) => Object.assign(service.world, { quote: answer });
const fail = (...error: ConstructorParameters<typeof ServiceError>) =>
  quote(() => Promise.reject(new ServiceError(...error)));
const unavailable = (name: string) => `${name} is currently unavailable. Use another provider or "multi".`;
const wertSells = (...currenciesSold: Currency[]) => {
  const adapter = service.world.adapters.get('wert') as ProviderAdapter;
  service.world.adapters.set('wert', { ...adapter, currenciesSold });
};
const moonpay = { provider: 'moonpay' } as const;

it.each<[string, object, string, string | RegExp, (() => unknown)?]>([
  [
    'no provider',
    { provider: 'toString' },
    'provider_unknown',
    /^provider must be "multi" or one of: moonpay, /,
  ],
  [
    'one that takes another currency only',
    { provider: 'klarna', currency: 'USD' },
    'currency_locked',
    'Klarna supports only EUR; the currency given is USD.',
  ],
  [
    'one that the operator has switched off',
    { provider: 'transak' },
    'provider_inactive',
    unavailable('Transak'),
    () => set('transak', { active: false }),
  ],
  [
    'one that the merchant excludes',
    { provider: 'transak' },
    'provider_inactive',
    unavailable('Transak'),
    () => service.store.accounts.updateAccount(service.account.id, { excludedProviders: ['transak'] }),
  ],
  [
    'one without credentials',
    { provider: 'wert' },
    'provider_inactive',
    unavailable('Wert'),
    () => service.world.adapters.delete('wert'),
  ],
  [
    'one that does not take the currency, whatever the amount',
    { provider: 'wert', currency: 'INR', amount: '0.01' },
    'provider_inactive',
    'Wert does not take payments in INR.',
    () => wertSells('USD', 'EUR'),
  ],
  [
    'one that itself declines',
    { provider: 'wert' },
    'provider_inactive',
    unavailable('The provider'),
    () => fail('provider_inactive'),
  ],
  [
    'less than its minimum, in USD',
    { ...moonpay, amount: '18.00', currency: 'EUR' },
    'below_minimum',
    'The minimum of MoonPay is 20.00 USD; the amount given is 19.80 USD.',
  ],
  ['less without the fee on top', { ...moonpay, amount: '19.60' }, 'below_minimum', /19\.60 USD\.$/],
  [
    'less than the operator’s minimum',
    { ...moonpay, amount: '49.99' },
    'below_minimum',
    /^The minimum of MoonPay is 50\.00/,
    () => set('moonpay', { minimumUsdCents: 50_00 }),
  ],
  [
    'less than a higher minimum that the provider quotes',
    { ...moonpay, amount: '50.00' },
    'below_minimum',
    /^The minimum of MoonPay is 60\.00/,
    () => quote(async () => ({ deliveryUnits: null, minimumUsdCents: 60_00 })),
  ],
])('refuses %s: %j is %s', async (_name, change, code, error, arrange) => {
  await arrange?.();
  await refuses(change, code, error);
});

it.each([
  { ...moonpay, amount: '18.19', currency: 'EUR' },
  { ...moonpay, amount: '19.60', passFeeToCustomer: true },
])('takes the least that is enough: %j', async (change) => {
  expect((await create(change)).statusCode).toBe(200);
});

describe("the limits of a provider's catalog", () => {
  const limit = (minimumCents: number, maximumCents: number | null, provider: ProviderId = 'wert') =>
    service.world.limits.set(provider, { minimumCents, maximumCents, isSold: true, readAtMs: 0 });

  it('decide in the currency of the payment, and are told in USD', async () => {
    limit(10_00, 200_00);
    await refuses(
      { provider: 'wert', amount: '9.99', currency: 'EUR' },
      'below_minimum',
      'The minimum of Wert is 11.00 USD; the amount given is 10.98 USD.',
    );
    expect((await create({ provider: 'wert', amount: '10.00', currency: 'EUR' })).statusCode).toBe(200);
    expect((await create({ provider: 'wert', amount: '200.00', currency: 'EUR' })).statusCode).toBe(200);
    const above = await create({ provider: 'wert', amount: '200.01', currency: 'EUR' });
    expect(above.statusCode).toBe(400);
    expect(above.json()).toEqual({
      error: 'The maximum of Wert is 220.00 USD; the amount given is 220.01 USD.',
    });
  });

  it("count instead of our own minimum, and the operator's may be higher", async () => {
    limit(5_00, null, 'moonpay');
    expect((await create({ ...moonpay, amount: '14.00' })).statusCode).toBe(200);
    await set('moonpay', { minimumUsdCents: 50_00 });
    await refuses({ ...moonpay, amount: '49.99' }, 'below_minimum', /^The minimum of MoonPay is 50\.00/);
  });

  it('are never read on a create', async () => {
    limit(10_00, 200_00);
    await create({ provider: 'wert' });
    await create({ provider: 'banxa' });
    await create({});
    expect(service.world.asked.catalogs).toBe(0);
  });
});

it('answers conversion_failed while no rate is fresh', async () => {
  const error = new ServiceError('conversion_failed', undefined, {
    cause: new Error('both sources are down'),
  });
  service.world.rates = { usdRate: () => Promise.reject(error) };
  await refuses(
    { currency: 'EUR' },
    'conversion_failed',
    'The amount could not be converted to USD. Retry shortly.',
  );
  expect(service.logLines.join('')).toContain('both sources are down');
});

it('answers provider_unavailable with 502 while the provider does not respond', async () => {
  fail('provider_unavailable', undefined, { cause: new Error('connect ECONNREFUSED') });
  const response = await create({ provider: 'stripe' });
  expect(response.statusCode).toBe(502);
  expect(response.json()).toEqual({
    code: 'provider_unavailable',
    error: 'The provider did not respond. Retry later or use "multi".',
  });
  expect(response.body).not.toContain('ECONNREFUSED');
  expect(service.logLines.join('')).toContain('ECONNREFUSED');
});

describe('a provider that is busy', () => {
  const becomeBusy = () =>
    fail('provider_unavailable', 'Wert is busy. Retry in 7 s or use "multi".', {
      retryAfterSeconds: 7,
      cause: new Error('the provider answered 429'),
    });

  it('answers 502 with Retry-After, and logs a line without a stack', async () => {
    becomeBusy();
    const response = await create({ provider: 'wert' });
    expect([response.statusCode, response.headers['retry-after']]).toEqual([502, '7']);
    const lines = service.logLines.filter((line) => line.includes('busy'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 30,
        status: 502,
        retryAfterSeconds: 7,
        msg: 'a provider is busy',
        reason: 'Wert is busy. Retry in 7 s or use "multi".',
      }),
    ]);
    expect(service.logLines.join('')).not.toMatch(/"stack"|the provider answered 429/);
  });

  it.each([
    ['takes the checkout if it answered within five minutes', 299_000, 200],
    ['refuses the checkout if its last answer is older', 301_000, 502],
  ])('%s', async (_promise, ageMs, status) => {
    becomeBusy();
    const adapter = service.world.adapters.get('wert');
    if (adapter === undefined) throw new Error('wert is not configured');
    const health = { isCircuitOpen: false, failuresInARow: 0, lastFailureAtMs: null, lastFailure: null };
    const lastAnswerAtMs = Date.now() - ageMs;
    service.world.adapters.set('wert', { ...adapter, health: () => ({ ...health, lastAnswerAtMs }) });
    expect((await create({ provider: 'wert' })).statusCode).toBe(status);
  });
});

it('asks no provider when the customer chooses on the page, and judges only our own limits', async () => {
  service.world.quote = async () => {
    throw new ServiceError('provider_unavailable');
  };
  expect([(await create({ amount: '0.01' })).statusCode, service.world.asked.quotes]).toEqual([200, 0]);
});

it('answers 500 without the cause when something unforeseen happens, and logs it with the request id', async () => {
  quote(() => Promise.reject(new TypeError('secret inner words')));
  const response = await create({ provider: 'stripe' });
  expect(response.statusCode).toBe(500);
  expect(response.json()).toEqual({ error: 'An unexpected error occurred. Retry with backoff.' });
  const line = service.logLines.find((entry) => entry.includes('secret inner words'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    level: 50,
    status: 500,
    requestId: response.headers['x-request-id'],
    route: '/api/v1/wallet',
  });
});

it.each([
  [{ suspended: true }, {}, 'The account is suspended. Please contact support.'],
  [{ features: [] }, {}, 'Card checkout is not enabled for the account. Please contact support.'],
  [
    { features: ['card_checkout' as const] },
    { passFeeToCustomer: true },
    'passFeeToCustomer is not enabled for the account. Please contact support.',
  ],
  [
    { providers: ['wert' as const, 'klarna' as const] },
    { provider: 'stripe' },
    'Stripe is not enabled for the account. Use one of: multi, wert. Please contact support for others.',
  ],
  [
    { providers: ['klarna' as const] },
    { provider: 'stripe' },
    'Stripe is not enabled for the account. Please contact support.',
  ],
])('answers 403 without a code for an account with %j', async (account, change, error) => {
  const { apiKey } = await service.addAccount(account);
  const response = await service.post({ ...validRequest, ...change }, { 'x-api-key': apiKey });
  expect(response.statusCode).toBe(403);
  expect(response.json()).toEqual({ error });
});

describe('a provider whose fee does not fit the maximum', () => {
  const thresholdOf = async (response: Awaited<ReturnType<typeof create>>) => {
    expect(response.statusCode).toBe(200);
    return (await service.store.payments.findPaymentById(response.json().payment_id))?.paidThresholdUnits;
  };

  it('answers below_minimum and names the amount from which it fits, by the catalog', async () => {
    await set('moonpay', { minimumUsdCents: 1_00 });
    await refuses(
      { ...moonpay, amount: '13.29' },
      'below_minimum',
      'The minimum of MoonPay is 13.30 USD, from which its fee is at most 30 %; the amount given is 13.29 USD.',
    );
    expect(await thresholdOf(await create({ provider: 'moonpay', amount: '13.30' }))).toBe(13_034_000n);
  });

  it('answers below_minimum and names about where it fits, by its own quote', async () => {
    quote(async () => ({ deliveryUnits: 6_500_000n, minimumUsdCents: null }));
    await refuses(
      { provider: 'wert', amount: '10.00' },
      'below_minimum',
      'The fee quoted by Wert is at most 30 % from about 11.67 USD; the amount given is 10.00 USD.',
    );
    quote(async () => ({ deliveryUnits: 7_000_000n, minimumUsdCents: null }));
    expect(await thresholdOf(await create({ provider: 'wert', amount: '10.00' }))).toBe(9_800_000n);
  });

  it('is judged by the maximum of the account, and says when no amount helps', async () => {
    await service.store.accounts.updateAccount(service.account.id, { maxProviderFeeBasisPoints: 450 });
    await refuses(
      { provider: 'moonpay', amount: '88.66' },
      'below_minimum',
      'The minimum of MoonPay is 88.67 USD, from which its fee is at most 4.5 %; the amount given is 88.66 USD.',
    );
    await refuses(
      { provider: 'wert' },
      'provider_inactive',
      'Wert is unavailable: its fee exceeds the maximum provider fee of 4.5 % for every amount.',
    );
  });
});

describe('the paid threshold at creation', () => {
  const created = async (change: object = {}) => {
    const response = await create(change);
    expect(response.statusCode).toBe(200);
    const payment = await service.store.payments.findPaymentById(response.json().payment_id);
    if (payment === null) throw new Error('not stored');
    return payment;
  };

  it('takes the account’s own tolerance, and later changes and replays leave it as it was', async () => {
    await service.store.accounts.updateAccount(service.account.id, {
      toleranceBasisPoints: 50,
      maxProviderFeeBasisPoints: 1_000,
    });
    const headers = { 'x-api-key': service.apiKey, 'idempotency-key': 'kept-terms' };
    const first = await service.post({ ...validRequest, provider: 'multi' }, headers);
    await service.store.accounts.updateAccount(service.account.id, {
      toleranceBasisPoints: 1_000,
      maxProviderFeeBasisPoints: null,
    });
    const again = await service.post({ ...validRequest, provider: 'multi' }, headers);
    expect(again.json()).toEqual(first.json());
    const payment = await service.store.payments.findPaymentById(first.json().payment_id);
    expect(payment).toMatchObject({
      paidThresholdUnits: 99_500_000n,
      toleranceBasisPoints: 50,
      maxProviderFeeBasisPoints: 1_000,
    });
    expect(await created({ provider: 'multi' })).toMatchObject({ paidThresholdUnits: 90_000_000n });
  });
});
