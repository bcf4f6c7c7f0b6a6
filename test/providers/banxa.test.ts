import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { currencies } from '../../src/payment/money.ts';
import { DeclinedRequestError } from '../../src/providers/adapters/provider-http.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import { onlyCurrencyOf } from '../../src/providers/provider-availability.ts';
import { serveJson, serveRequests } from './serve-json.ts';
import { adapterWith, outcomeOf, someSession, useStage } from './stage.ts';

const stage = useStage();

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
      ...settings,
    });

  it('takes euros alone, in the EU and the EEA alone, and asks Banxa nothing for others', async () => {
    const server = await serveRequests(() => ({ cryptoAmount: '104.5' }));
    const adapter = open({ BASE_URL: server.url });
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

  it("has Banxa's public name, unless it is set", async () => {
    const server = await serveRequests(() => ({ cryptoAmount: '104.5' }));
    const inNorway = { ...someSession, customerCountry: 'NO' };
    await open({ BASE_URL: server.url }).quote(inNorway);
    await open({ BASE_URL: server.url, PAYMENT_METHOD: 'PRIMERPAYPAL' }).quote(inNorway);
    expect(server.requests.map(({ query }) => query.get('paymentMethodId'))).toEqual([
      'paypal',
      'PRIMERPAYPAL',
    ]);
  });

  it('locks the currency, as by way of MoonPay it does not', () => {
    const lockOf = (adapter: ProviderAdapter) => onlyCurrencyOf(new Map([['paypal', adapter]]), 'paypal');
    expect([lockOf(open({})), lockOf(stage.adapterOf('paypal'))]).toEqual(['EUR', null]);
    expect(stage.adapterOf('paypal').currenciesSold).toEqual(currencies);
  });
});

it.each([
  ['at the top', (answer: unknown) => answer],
  ['below data', (data: unknown) => ({ data, errors: [] })],
])(
  'reads a quote with its total and an order that stand %s, for the configured chain',
  async (_where, wrap) => {
    const server = await serveRequests(({ path }) =>
      wrap(
        path.endsWith('/v2/buy')
          ? { id: 'order_1', checkoutUrl: 'https://checkout.banxa.com/1' }
          : { cryptoAmount: '104.50000000', fiatAmount: '105.00' },
      ),
    );
    const adapter = stage.adapterOf('banxa', { values: { BASE_URL: server.url, BLOCKCHAIN: 'POLYGON' } });
    expect(await adapter.startSession(someSession)).toMatchObject({
      chargedCents: 105_00,
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
    });
  },
);

it('takes an answer with errors for a refusal, whatever its status', async () => {
  const errors = [{ status: '40103', code: '4002', title: 'The key sk_live_1 is not known' }];
  const server = await serveRequests(() => ({ data: { cryptoAmount: '104.5' }, errors }));
  const { quote, readCatalog } = stage.adapterOf('banxa', { values: { BASE_URL: server.url } });
  for (const call of [quote, readCatalog])
    await expect(call?.(someSession)).rejects.toMatchObject({
      errorName: 'provider_unavailable',
      cause: new DeclinedRequestError('banxa answered 422 4002'),
    });
});

describe('a customer in a country where Banxa sells no stablecoins', () => {
  const refusal = {
    errorName: 'provider_inactive',
    message: expect.stringContaining('Banxa does not serve customers in'),
  };

  it.each([
    ['as a number', { code: 5034, message: 'Coin restriction' }],
    ['as a text', { code: '5034' }],
    ['in a list', { errors: [{ status: '422', code: '5034' }] }],
    ['below error', { error: { code: 5034 } }],
  ])('is told so where the order is refused with the code %s', async (_where, body) => {
    const server = await serveJson((path) =>
      path.includes('quotes') ? { body: { cryptoAmount: '104.5' } } : { status: 422, body },
    );
    const adapter = stage.adapterOf('banxa', { values: { BASE_URL: server.url } });
    await expect(adapter.startSession(someSession)).rejects.toMatchObject(refusal);
  });

  it('is refused by the on-ramp, and the adapter knows it of Canada', async () => {
    stage.onramps.setMode('banxa', { customerRegion: 'CA' });
    const { quote, startSession } = stage.adapterOf('banxa');
    await expect(startSession(someSession)).rejects.toMatchObject(refusal);
    stage.onramps.setMode('banxa', {});
    for (const call of [quote, startSession])
      await expect(call({ ...someSession, customerCountry: 'CA' })).rejects.toMatchObject(refusal);
  });
});

it.each([
  ['2026-01-16 04:04:21', '2026-01-16T04:04:21Z'],
  ['2026-01-1604:04:21', '2026-01-16T04:04:21Z'],
  ['2026-01-16T04:04:21.250Z', '2026-01-16T04:04:21Z'],
  ['2026-01-16T04:04:21+10:00', '2026-01-15T18:04:21Z'],
  ['2026-01-16T04:04:21-0500', '2026-01-16T09:04:21Z'],
])('reads the time %s of a webhook', async (date, time) => {
  const body = JSON.stringify({
    order_id: 'order_1',
    status: 'complete',
    status_date: date,
    external_id: someSession.paymentId,
  });
  const target = '/providers/banxa/webhooks';
  const signature = createHmac('sha256', stage.valuesOf('banxa')['WEBHOOK_SECRET'] ?? '')
    .update(`POST\n${target}\n1\n${body}`)
    .digest('hex');
  const webhook = await stage.adapterOf('banxa').readWebhook?.({
    target,
    headers: { authorization: `Bearer key:${signature}:1` },
    body: Buffer.from(body),
    receivedAtMs: 5_000,
  });
  expect(webhook?.atMs).toBe(Date.parse(time));
});
