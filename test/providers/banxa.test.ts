import { expect, it } from 'vitest';
import { serveRequests } from './serve-json.ts';
import { someSession, useStage } from './stage.ts';

const stage = useStage();

it('leads to an address that opens once, each time another', async () => {
  const adapter = stage.adapterOf('banxa');
  expect(adapter.opensOnce).toBe(true);
  const [first, second] = [await adapter.startSession(someSession), await adapter.startSession(someSession)];
  expect((await fetch(first.redirectUrl)).status).toBe(200);
  expect((await fetch(first.redirectUrl)).status).toBe(410);
  expect((await fetch(second.redirectUrl)).status).toBe(200);
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
