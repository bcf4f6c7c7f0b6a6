import { expect, it } from 'vitest';
import { serveJson, serveRequests } from './serve-json.ts';
import { adapterWith, outcomeOf, someSession } from './stage.ts';

it('asks in minor units for a payment to the deposit address, and uses none for another wallet', async () => {
  let echo: Readonly<Record<string, string>> = { crypto_currency: 'USDC', network: 'POLYGON' };
  let wallet: string | undefined = someSession.depositAddress.toLowerCase();
  const server = await serveRequests(() => ({
    id: 'payment_1',
    payment_url: 'https://pay.crypto.com/1',
    wallet_address: wallet,
    ...echo,
  }));
  const adapter = adapterWith('cryptocom', { API_KEY: 'sk_1', ONRAMP: 'confirmed', BASE_URL: server.url });
  expect(await adapter.startSession(someSession)).toMatchObject({
    redirectUrl: 'https://pay.crypto.com/1',
    providerReference: 'payment_1',
    quotedUnits: null,
  });
  const [request] = server.requests;
  expect(request?.headers.authorization).toBe('Bearer sk_1');
  expect(JSON.parse(request?.body ?? '')).toEqual({
    amount: 100_00,
    currency: 'EUR',
    crypto_currency: 'USDC',
    network: 'polygon',
    wallet_address: someSession.depositAddress,
    order_id: someSession.paymentId,
    return_url: someSession.returnUrl,
    cancel_url: someSession.returnUrl,
  });
  // An account without the on-ramp ignores the wallet, and would take the money itself.
  wallet = undefined;
  expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
  wallet = someSession.depositAddress;
  for (const other of [{}, { crypto_currency: 'USDC', network: 'ethereum' }, { network: 'polygon' }]) {
    echo = other as typeof echo;
    expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
  }
  echo = { crypto_currency: 'USDC', network: 'polygon' };
  wallet = '0x52908400098527886E0F7030069857D2E4169EE7';
  expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
  expect(adapter.readWebhook).toBeUndefined();
});

it('uses no payment with the only documented answer, which names neither wallet nor network', async () => {
  const documented = {
    id: 'payment_1',
    amount: '100.00',
    currency: 'EUR',
    paymentUrl: 'https://js.crypto.com/sdk/payments/checkout/set_wallet?id=payment_1',
    cryptoCurrency: 'USDC',
    cryptoAmount: '104.5',
    expiredAt: '2026-12-01T00:00:00Z',
  };
  const server = await serveJson(() => ({ body: documented }));
  const adapter = adapterWith('cryptocom', { API_KEY: 'sk_1', ONRAMP: 'confirmed', BASE_URL: server.url });
  expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
});

it('is off in production until the answers of the account confirm the wallet, and on at a simulator', () => {
  const blocked = (values: Readonly<Record<string, string>>) =>
    adapterWith('cryptocom', { API_KEY: 'sk_1', ...values }).blockedBecause;
  expect(blocked({ ONRAMP: 'confirmed' })).toContain('confirms neither the wallet nor the network');
  expect(blocked({ ONRAMP: 'confirms-wallet' })).toBeUndefined();
  expect(blocked({ ONRAMP: 'confirmed', BASE_URL: 'http://127.0.0.1:1' })).toBeUndefined();
});

it.each([
  [200, 'answered'],
  [404, 'answered'],
  [405, 'answered'],
  [401, 'provider_inactive'],
  [403, 'provider_inactive'],
  [400, 'provider_unavailable'],
  [500, 'provider_unavailable'],
])('is asked before a checkout is made: %d is %s', async (status, outcome) => {
  const server = await serveJson(() => ({ status, body: {} }));
  const adapter = adapterWith('cryptocom', { API_KEY: 'sk_1', ONRAMP: 'confirmed', BASE_URL: server.url });
  expect(await outcomeOf(adapter.quote(someSession))).toBe(outcome);
  expect(server.asked).toEqual(['GET /api/api/payments?limit=1']);
});
