import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/domain/errors.ts';
import { providerIds } from '../../src/domain/provider-catalogue.ts';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';

let service: ApiService;
beforeEach(async () => {
  service = await createApiService();
});
afterEach(() => service.close());

const create = (change: object) => service.post({ ...validRequest, ...change });

async function expectError(change: object, status: number, code: string, error: string | RegExp) {
  const response = await create(change);
  expect(response.json()).toEqual({
    code,
    error: typeof error === 'string' ? error : expect.stringMatching(error),
  });
  expect(response.statusCode).toBe(status);
}

it.each([...providerIds, 'multi'])('takes the provider %s', async (provider) => {
  const response = await create({ provider, currency: 'EUR' });
  expect(response.statusCode).toBe(200);
  expect(response.json().provider).toBe(provider);
});

it.each(['stipe', 'MoonPay', 'toString', '__proto__', 'x'.repeat(1000)])(
  'answers provider_unknown for %s',
  (provider) =>
    expectError({ provider }, 400, 'provider_unknown', /^provider must be "multi" or one of: moonpay, /),
);

it.each(['USD', 'CAD', 'INR'])('answers currency_locked for klarna in %s', (currency) =>
  expectError(
    { provider: 'klarna', currency },
    400,
    'currency_locked',
    `Klarna supports only EUR; the currency given is ${currency}.`,
  ),
);

it('answers provider_inactive while the operator has switched it off', async () => {
  await service.store.providers.writeProviderSettings('transak', { active: false });
  await expectError({ provider: 'transak' }, 400, 'provider_inactive', 'Transak is currently unavailable.');
  await service.store.providers.writeProviderSettings('transak', { active: true });
  expect((await create({ provider: 'transak' })).statusCode).toBe(200);
});

it('answers provider_inactive for a provider without credentials', async () => {
  service.world.adapters.delete('wert');
  await expectError({ provider: 'wert' }, 400, 'provider_inactive', 'Wert is currently unavailable.');
});

it('answers provider_inactive when the provider itself declines', async () => {
  service.world.quote = async () => {
    throw new ServiceError('provider_inactive');
  };
  await expectError({ provider: 'wert' }, 400, 'provider_inactive', 'The provider is currently unavailable.');
});

it('answers below_minimum, naming provider, minimum and the given amount in USD', async () => {
  await expectError(
    { provider: 'moonpay', amount: '18.00', currency: 'EUR' },
    400,
    'below_minimum',
    'The minimum of MoonPay is 20.00 USD; the amount given is 19.80 USD.',
  );
  expect((await create({ provider: 'moonpay', amount: '18.19', currency: 'EUR' })).statusCode).toBe(200);
});

it('judges the gross under fee pass-through against the minimum', async () => {
  await expectError({ provider: 'moonpay', amount: '19.60' }, 400, 'below_minimum', /19\.60 USD\.$/);
  expect((await create({ provider: 'moonpay', amount: '19.60', passFeeToCustomer: true })).statusCode).toBe(
    200,
  );
});

it("takes the operator's minimum over the catalogue's, and a higher one that the provider quotes", async () => {
  await service.store.providers.writeProviderSettings('moonpay', { minimumUsdCents: 50_00 });
  await expectError(
    { provider: 'moonpay', amount: '49.99' },
    400,
    'below_minimum',
    /^The minimum of MoonPay is 50\.00/,
  );
  service.world.quote = async () => ({ deliveryUnits: null, minimumUsdCents: 60_00 });
  await expectError(
    { provider: 'moonpay', amount: '50.00' },
    400,
    'below_minimum',
    /^The minimum of MoonPay is 60\.00/,
  );
});

it('answers conversion_failed while no rate is fresh', async () => {
  service.world.rates = {
    usdRate: () => {
      throw new ServiceError('conversion_failed', undefined, { cause: new Error('both sources are down') });
    },
  };
  await expectError(
    { currency: 'EUR' },
    400,
    'conversion_failed',
    'The amount could not be converted to USD. Please retry shortly.',
  );
  expect(service.logLines.join('')).toContain('both sources are down');
});

it('answers provider_unavailable with 502 while the provider does not respond', async () => {
  service.world.quote = async () => {
    throw new ServiceError('provider_unavailable', undefined, { cause: new Error('connect ECONNREFUSED') });
  };
  const response = await create({ provider: 'stripe' });
  expect(response.statusCode).toBe(502);
  expect(response.json()).toEqual({
    code: 'provider_unavailable',
    error: 'The provider did not respond. Retry later or use "multi".',
  });
  expect(response.body).not.toContain('ECONNREFUSED');
  expect(service.logLines.join('')).toContain('ECONNREFUSED');
});

it('asks no provider when the customer chooses on the page, and judges only our own limits', async () => {
  service.world.quote = async () => {
    throw new ServiceError('provider_unavailable');
  };
  expect((await create({ amount: '0.01' })).statusCode).toBe(200);
  expect(service.world.asked.quotes).toBe(0);
});

it('answers 500 without the cause when something unforeseen happens, and logs it with the request id', async () => {
  service.world.quote = async () => {
    throw new TypeError('secret inner words');
  };
  const response = await create({ provider: 'stripe' });
  expect(response.statusCode).toBe(500);
  expect(response.json()).toEqual({ error: 'An unexpected error occurred. Please retry with backoff.' });
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
    { providers: ['wert' as const] },
    { provider: 'stripe' },
    'Stripe is not enabled for the account. These would work: multi, wert. Please contact support for others.',
  ],
  [
    { providers: ['wert' as const, 'klarna' as const] },
    { provider: 'stripe' },
    'Stripe is not enabled for the account. These would work: multi, wert. Please contact support for others.',
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

describe('what a payment without a chosen provider is expected to bring', () => {
  const enoughOf = async (change: object = {}) => {
    const { payment_id } = (await create(change)).json();
    return (await service.store.payments.findPaymentById(payment_id))?.enoughUnits;
  };
  /** The assumed delivery for 100 USD, less the tolerance of 2 %. */
  const [atFivePercent, atTwoAndAHalf] = [93_100_000n, 95_550_000n];

  it('is the least of the providers that can serve it', async () => {
    expect(await enoughOf()).toBe(atFivePercent);
    await service.store.accounts.updateAccount(service.account.id, { providers: ['revolut', 'wert'] });
    expect(await enoughOf()).toBe(atFivePercent);
  });

  it('leaves out what is not enabled for the account, switched off, without credentials or too dear', async () => {
    await service.store.accounts.updateAccount(service.account.id, {
      providers: ['revolut', 'wert', 'transak', 'moonpay', 'klarna'],
    });
    service.world.adapters.delete('wert');
    await service.store.providers.writeProviderSettings('transak', { active: false });
    await service.store.providers.writeProviderSettings('moonpay', { minimumUsdCents: 100_01 });
    // Klarna, at 4.5 %, takes only EUR.
    expect(await enoughOf()).toBe(atTwoAndAHalf);
    await service.store.providers.writeProviderSettings('transak', { active: true });
    expect(await enoughOf()).toBe(atFivePercent);
  });

  it('takes in a provider whose minimum the operator has lowered', async () => {
    await service.store.accounts.updateAccount(service.account.id, { providers: ['revolut', 'transak'] });
    expect(await enoughOf({ amount: '8.00' })).toBe(7_644_000n);
    await service.store.providers.writeProviderSettings('transak', { minimumUsdCents: 1_00 });
    expect(await enoughOf({ amount: '8.00' })).toBe(7_448_000n);
  });

  it('is the whole value while no provider can serve it', async () => {
    service.world.adapters.clear();
    expect(await enoughOf()).toBe(98_000_000n);
  });
});
