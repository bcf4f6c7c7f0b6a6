import { expect, it } from 'vitest';
import { type PostedWebhook, ProviderWebhookRefusedError } from '../../src/providers/provider.ts';
import { serveRequests } from './serve-json.ts';
import { outcomeOf, someSession, useStage } from './stage.ts';

const stage = useStage();

/** The example that Revolut publishes with its documentation of signatures. */
const published = {
  secret: 'wsk_r59a4HfWVAKycbCaNO1RvgCJec02gRd8',
  time: '1683650202360',
  signature: 'v1=bca326fb378d0da7f7c490ad584a8106bab9723d8d9cdd0d50b4c5b3be3837c0',
  body: '{"data":{"id":"645a7696-22f3-aa47-9c74-cbae0449cc46","new_state":"completed","old_state":"pending","request_id":"app_charges-9f5d5eb3-1e06-46c5-b1c0-3914763e0bcb"},"event":"TransactionStateChanged","timestamp":"2023-05-09T16:36:38.028960Z"}',
};

it("takes Revolut's published example for authentic, and nothing but it", async () => {
  const adapter = stage.adapterOf('revolut', { values: { WEBHOOK_SECRET: published.secret } });
  const webhook: PostedWebhook = {
    target: '/providers/revolut/webhooks',
    headers: { 'revolut-request-timestamp': published.time, 'revolut-signature': published.signature },
    body: Buffer.from(published.body),
    receivedAtMs: Number(published.time) + 2_000,
  };
  // Authentic, and of no order of ours.
  expect(await adapter.readWebhook?.(webhook)).toBeNull();
  const others: PostedWebhook[] = [
    { ...webhook, body: Buffer.from(published.body.replace('completed', 'Completed')) },
    { ...webhook, headers: { ...webhook.headers, 'revolut-request-timestamp': '1683650202361' } },
    {
      ...webhook,
      headers: { ...webhook.headers, 'revolut-signature': published.signature.replace('v1', 'v2') },
    },
    { ...webhook, receivedAtMs: Number(published.time) + 5 * 60_000 + 1 },
  ];
  for (const other of others)
    await expect(adapter.readWebhook?.(other)).rejects.toThrow(ProviderWebhookRefusedError);
  const second = { ...webhook.headers, 'revolut-signature': `v1=${'0'.repeat(64)},${published.signature}` };
  expect(await adapter.readWebhook?.({ ...webhook, headers: second })).toBeNull();
});

it('says without a country from what amount it sells, and starts nothing', async () => {
  const adapter = stage.adapterOf('revolut');
  expect(adapter.needsCountry).toBe(true);
  const { customerCountry: _, ...request } = someSession;
  // 6 EUR at 1.09.
  expect(await adapter.quote(request)).toMatchObject({ deliveryUnits: null, minimumUsdCents: 654 });
  await expect(adapter.startSession(request)).rejects.toThrow();
});

it('takes the asset from the configuration, and uses no address that is not locked to the deposit address and the purchase', async () => {
  const own = someSession.depositAddress.toLowerCase();
  const locks = 'disableWalletAddress=true&disableFiatAmount=true&disableCryptoCurrency=true';
  const purchase = `amount=10000&fiatCurrency=EUR&cryptoCurrency=B&walletAddress=${own}`;
  let query = `${purchase}&${locks}`;
  let smartContractAddress: unknown = '0x3C499c542cEF5E3811e1192ce70d8cC03d5c3359';
  const server = await serveRequests(({ path }) => {
    if (path.endsWith('/config'))
      return {
        crypto: [
          { id: 'A', currency: 'USDC', blockchain: 'ETHEREUM' },
          { id: 'B', currency: 'USDC', blockchain: 'POLYGON', smartContractAddress },
        ],
      };
    if (path.endsWith('/buy')) return { ramp_redirect_url: `https://ramp.revolut.com/?${query}` };
    return { crypto: { amount: 104.5, currencyId: 'B' } };
  });
  const start = (request = someSession) =>
    outcomeOf(stage.adapterOf('revolut', { values: { BASE_URL: server.url } }).startSession(request));
  expect(await start()).toBe('answered');
  expect(Object.fromEntries(server.requests.at(-1)?.query ?? [])).toEqual({
    fiat: 'EUR',
    amount: '100.00',
    crypto: 'B',
    payment: 'card',
    region: 'US',
    wallet: someSession.depositAddress,
    orderId: someSession.paymentId,
    partnerRedirectUrl: someSession.returnUrl,
  });
  for (const other of [
    locks,
    `${purchase.replace(own, '0x52908400098527886E0F7030069857D2E4169EE7')}&${locks}`,
    `${purchase}&walletAddress=${own}&${locks}`,
    `${purchase}&${locks.replace('disableFiatAmount=true', 'disableFiatAmount=false')}`,
    `${purchase}&disableWalletAddress=true&disableFiatAmount=true`,
    // What is locked must be what was asked for: in minor units, the currency, the asset, and each once.
    ...['amount=100', 'amount=100.00', 'amount=10001', 'amount=', 'amount=10000&amount=20000'].map(
      (amount) => `${purchase.replace('amount=10000', amount)}&${locks}`,
    ),
    `${purchase.replace('fiatCurrency=EUR', 'fiatCurrency=USD')}&${locks}`,
    `${purchase.replace('&fiatCurrency=EUR', '')}&${locks}`,
    `${purchase.replace('cryptoCurrency=B', 'cryptoCurrency=A')}&${locks}`,
    `${purchase.replace('&cryptoCurrency=B', '')}&${locks}`,
  ]) {
    query = other;
    expect(await start()).toBe('provider_unavailable');
  }
  query = `${purchase}&${locks}`;
  smartContractAddress = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';
  expect(await start()).toBe('provider_unavailable');
});
