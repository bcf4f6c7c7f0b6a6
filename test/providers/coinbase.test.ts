import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { ProviderSettingError } from '../../src/providers/adapters/define-provider.ts';
import { serveRequests } from './serve-json.ts';
import { outcomeOf, someSession, useStage, webhookOfVisit } from './stage.ts';

const stage = useStage();

it('sends what locks the purchase, and no more of the customer than their country and IP address', async () => {
  const server = await serveRequests(({ path }) =>
    path.endsWith('/sessions')
      ? {
          session: { onrampUrl: 'https://pay.coinbase.com/buy?sessionToken=1' },
          quote: { purchaseAmount: '104.5', purchaseCurrency: 'USDC' },
        }
      : { purchase_amount: { value: '104.5', currency: 'USDC' } },
  );
  const adapter = stage.adapterOf('coinbase', { values: { BASE_URL: server.url } });
  const session = await adapter.startSession({ ...someSession, customerIp: '203.0.113.7' });
  expect(session.quotedUnits).toBe(104_500_000n);
  expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
    destinationAddress: someSession.depositAddress,
    destinationNetwork: 'polygon',
    purchaseCurrency: 'USDC',
    paymentAmount: '100.00',
    paymentCurrency: 'EUR',
    redirectUrl: someSession.returnUrl,
    partnerUserRef: someSession.paymentId,
    country: 'US',
    subdivision: 'CA',
    paymentMethod: 'CARD',
    clientIp: '203.0.113.7',
  });
});

it('has a price in the United States with the state, which the session carries', async () => {
  const { quotedUnits } = await stage
    .adapterOf('coinbase')
    .startSession({ ...someSession, customerCountry: 'US', customerState: 'NY' });
  expect(quotedUnits).not.toBeNull();
});

it.each([null, 'US'])(
  'goes without a quote where the country is %s, and says whether it is there',
  async (country) => {
    const adapter = stage.adapterOf('coinbase');
    const request = { ...someSession, customerCountry: country, customerState: null };
    expect(await adapter.quote(request)).toMatchObject({ deliveryUnits: null, minimumUsdCents: null });
    const { redirectUrl, quotedUnits } = await adapter.startSession(request);
    expect(quotedUnits).toBeNull();
    expect((await fetch(redirectUrl)).status).toBe(200);
    stage.onramps.setFault('coinbase', 'down');
    expect(await outcomeOf(adapter.quote(request))).toBe('provider_unavailable');
    stage.onramps.setFault('coinbase', 'up');
  },
);

it('carries a mark in the test environment, and knows the payment by it', async () => {
  const adapter = stage.adapterOf('coinbase', { values: { ENVIRONMENT: 'sandbox' } });
  const webhook = await webhookOfVisit(stage, adapter);
  expect(`${webhook.body}`).toContain(`sandbox-${someSession.paymentId}`);
  expect((await adapter.readWebhook?.(webhook))?.paymentId).toBe(someSession.paymentId);
});

const seedAndKey = Buffer.from(
  generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }).d ?? '',
  'base64url',
);
it.each([
  ['no key at all', 'a secret'],
  ['a seed alone', seedAndKey.toString('base64')],
  [
    'a seed with the public key of another',
    Buffer.concat([seedAndKey, Buffer.alloc(32, 1)]).toString('base64'),
  ],
  [
    'a key of another curve',
    generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
      .privateKey.export({ format: 'pem', type: 'sec1' })
      .toString(),
  ],
])('refuses to start with %s, and does not repeat it', (_what, API_SECRET) => {
  const create = () => stage.adapterOf('coinbase', { values: { API_SECRET } });
  expect(create).toThrow(ProviderSettingError);
  expect(create).toThrow('COINBASE_API_SECRET is no key of the right kind.');
});
