import { describe, expect, it } from 'vitest';
import { currencies } from '../../src/payment/money.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import { requireCurrency } from '../../src/providers/provider-availability.ts';
import { serveRequests } from './serve-json.ts';
import { adapterWith, outcomeOf, someSession, useStage } from './stage.ts';

const stage = useStage();

it('leads to an address that opens once, each time another', async () => {
  const adapter = stage.adapterOf('banxa');
  expect(adapter.opensOnce).toBe(true);
  const [first, second] = [await adapter.startSession(someSession), await adapter.startSession(someSession)];
  expect((await fetch(first.redirectUrl)).status).toBe(200);
  expect((await fetch(first.redirectUrl)).status).toBe(410);
  expect((await fetch(second.redirectUrl)).status).toBe(200);
});

it('leads to an address that expires a minute after the order', async () => {
  const startedAtMs = Date.now();
  const { redirectUrl, expiresAtMs } = await stage.adapterOf('banxa').startSession(someSession);
  expect(expiresAtMs - startedAtMs).toBeLessThan(62_000);
  stage.advance(60_000);
  expect((await fetch(redirectUrl)).status).toBe(410);
  stage.advance(-60_000);
});

it('has the limits of the card in the currency, and none where they are not stated', async () => {
  expect(await stage.adapterOf('banxa').readCatalog?.(someSession)).toMatchObject({
    minimumCents: 20_00,
    maximumCents: 15_000_00,
  });
  // As a production client reads it: camel case, and amounts as texts.
  const limits = { name: 'Credit Debit Card', minimum: '10', maximum: '50000' };
  const fiats = [
    { id: 'USD', supportedPaymentMethods: [{ id: 'debit-credit-card', ...limits }] },
    { id: 'EUR', description: 'Euro', symbol: '€' },
  ];
  const coins = [{ id: 'USDC', blockchains: [{ id: 'MATIC', address: null }] }];
  const server = await serveRequests(({ path }) => (path.endsWith('/fiats/buy') ? fiats : coins));
  const { readCatalog } = stage.adapterOf('banxa', { values: { BASE_URL: server.url } });
  expect(await readCatalog?.({ ...someSession, currency: 'USD' })).toMatchObject({
    minimumCents: 10_00,
    maximumCents: 50_000_00,
  });
  expect(await readCatalog?.(someSession)).toMatchObject({ minimumCents: null, maximumCents: null });
});

describe('PayPal by way of Banxa', () => {
  const open = (settings: Readonly<Record<string, string>>) =>
    adapterWith('paypal', {
      ...stage.valuesOf('banxa'),
      ROUTE: 'banxa',
      PAYMENT_METHOD: 'paypal',
      ...settings,
    });

  it('takes euros alone, in the EU and the EEA alone, and asks Banxa nothing for others', async () => {
    const server = await serveRequests(() => ({ cryptoAmount: '104.5' }));
    const adapter = open({ BASE_URL: server.url });
    expect(adapter.onlyCurrency).toBe('EUR');
    for (const currency of ['USD', 'CAD', 'INR'] as const)
      expect(await outcomeOf(adapter.quote({ ...someSession, currency }))).toBe('provider_inactive');
    for (const customerCountry of ['GB', 'US', 'CH'])
      await expect(adapter.startSession({ ...someSession, customerCountry })).rejects.toThrow(
        `PayPal does not serve customers in ${customerCountry}.`,
      );
    expect(server.asked).toEqual([]);
    for (const customerCountry of ['DE', 'NO', null])
      expect(await outcomeOf(adapter.quote({ ...someSession, customerCountry }))).toBe('answered');
  });

  it('refuses a create in another currency as locked, and the lock is not that of MoonPay', () => {
    const through = (adapter: ProviderAdapter) => new Map([['paypal' as const, adapter]]);
    expect(() => requireCurrency(through(open({})), 'paypal', 'EUR')).not.toThrow();
    expect(() => requireCurrency(through(open({})), 'paypal', 'USD')).toThrow(
      'PayPal supports only EUR; the currency given is USD.',
    );
    const byMoonpay = stage.adapterOf('paypal');
    expect(byMoonpay.currenciesSold).toEqual(currencies);
    for (const currency of currencies)
      expect(() => requireCurrency(through(byMoonpay), 'paypal', currency)).not.toThrow();
  });
});

it.each([
  ['at the top', (quote: unknown) => quote],
  ['below data', (data: unknown) => ({ data })],
])('reads a quote that stands %s, for the configured chain', async (_where, wrap) => {
  const server = await serveRequests(({ path }) =>
    path.endsWith('/buy') && !path.includes('quotes')
      ? { id: 'order_1', checkoutUrl: 'https://checkout.banxa.com/1' }
      : wrap({ cryptoAmount: '104.50000000' }),
  );
  const adapter = stage.adapterOf('banxa', { values: { BASE_URL: server.url, BLOCKCHAIN: 'POLYGON' } });
  expect(await adapter.startSession(someSession)).toMatchObject({
    redirectUrl: 'https://checkout.banxa.com/1',
    providerReference: 'order_1',
    quotedUnits: 104_500_000n,
  });
  const [quote, order] = server.requests;
  expect(quote?.path).toBe('/api/sandbox-shop/v2/quotes/buy');
  expect(quote?.query.get('blockchain')).toBe('POLYGON');
  expect(order?.path).toBe('/api/sandbox-shop/v2/buy');
  expect(JSON.parse(order?.body ?? '')).toEqual({
    paymentMethodId: 'debit-credit-card',
    crypto: 'USDC',
    blockchain: 'POLYGON',
    fiat: 'EUR',
    fiatAmount: '100.00',
    walletAddress: someSession.depositAddress,
    redirectUrl: someSession.returnUrl,
    externalCustomerId: someSession.paymentId,
    externalOrderId: someSession.paymentId,
    email: someSession.email,
  });
});
