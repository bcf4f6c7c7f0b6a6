import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProviderSettingError } from '../../src/providers/adapters/define-provider.ts';
import { serveRequests } from './serve-json.ts';
import { outcomeOf, type Stage, someSession, startStage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const readPart = (part = '') =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;

/** A session with this secret at a server that takes everything, and what was sent. */
async function startSessionWith(API_SECRET: string) {
  const server = await serveRequests(({ path }) =>
    path.endsWith('/sessions')
      ? {
          session: { onrampUrl: 'https://pay.coinbase.com/buy?sessionToken=1' },
          quote: { purchaseAmount: '104.5', purchaseCurrency: 'USDC' },
        }
      : { purchase_amount: { value: '104.5', currency: 'USDC' } },
  );
  try {
    const adapter = stage.adapterOf('coinbase', { values: { BASE_URL: server.url, API_SECRET } });
    return {
      session: await adapter.startSession({ ...someSession, customerIp: '203.0.113.7' }),
      requests: server.requests,
    };
  } finally {
    await server.stop();
  }
}

interface Signer {
  readonly algorithm: string;
  /** As the operator puts it into the configuration. */
  readonly secret: () => string;
  readonly publicKey: () => KeyObject;
}

const elliptic = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const secretOfSandbox = () => stage.valuesOf('coinbase')['API_SECRET'] ?? '';
const signers: readonly Signer[] = [
  {
    algorithm: 'EdDSA',
    secret: secretOfSandbox,
    publicKey() {
      const x = Buffer.from(secretOfSandbox(), 'base64').subarray(32).toString('base64url');
      return createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
    },
  },
  {
    algorithm: 'ES256',
    secret: () => elliptic.privateKey.export({ format: 'pem', type: 'sec1' }).toString(),
    publicKey: () => elliptic.publicKey,
  },
  {
    algorithm: 'ES256',
    // On one line, as environments often hold it.
    secret: () =>
      elliptic.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString().replaceAll('\n', '\\n'),
    publicKey: () => elliptic.publicKey,
  },
];

describe.each(signers)('a token signed by $algorithm', ({ algorithm, secret, publicKey }) => {
  it('names the one call that it is for, for two minutes, and verifies with the public key', async () => {
    const { requests } = await startSessionWith(secret());
    const key = publicKey();
    const nonces = requests.map(({ headers, path }) => {
      const [header, claims, signature] = (headers.authorization ?? '').replace('Bearer ', '').split('.');
      const signed = Buffer.from(`${header}.${claims}`);
      const given = Buffer.from(signature ?? '', 'base64url');
      const isSigned =
        algorithm === 'EdDSA'
          ? verify(null, signed, key, given)
          : verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, given);
      expect(isSigned).toBe(true);
      const { alg, kid, typ, nonce } = readPart(header);
      const keyId = stage.valuesOf('coinbase')['API_KEY'];
      expect({ alg, kid, typ }).toEqual({ alg: algorithm, kid: keyId, typ: 'JWT' });
      const host = path.endsWith('/sessions') ? 'api.cdp.coinbase.com' : 'api.developer.coinbase.com';
      const { sub, iss, uris, nbf, exp } = readPart(claims);
      const own = path.replace(/^\/(platform|developer)/, '');
      expect({ sub, iss, uris }).toEqual({ sub: keyId, iss: 'cdp', uris: [`POST ${host}${own}`] });
      expect(Number(exp) - Number(nbf)).toBe(120);
      return nonce;
    });
    expect(new Set(nonces).size).toBe(nonces.length);
    expect(nonces).toHaveLength(1);
  });
});

it('sends what locks the purchase, and no more of the customer than their country and IP address', async () => {
  const { session, requests } = await startSessionWith(stage.valuesOf('coinbase')['API_SECRET'] ?? '');
  expect(session.quotedUnits).toBe(104_500_000n);
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
    destinationAddress: someSession.depositAddress,
    destinationNetwork: 'polygon',
    purchaseCurrency: 'USDC',
    paymentAmount: '100.00',
    paymentCurrency: 'EUR',
    redirectUrl: someSession.returnUrl,
    partnerUserRef: someSession.paymentId,
    country: 'DE',
    paymentMethod: 'CARD',
    clientIp: '203.0.113.7',
  });
});

it.each([null, 'US'])(
  'goes without a quote where the country is %s, and says whether it is there',
  async (country) => {
    const adapter = stage.adapterOf('coinbase');
    const request = { ...someSession, customerCountry: country };
    expect(await adapter.quote(request)).toEqual({ deliveryUnits: null, minimumUsdCents: null });
    const { redirectUrl, quotedUnits } = await adapter.startSession(request);
    expect(quotedUnits).toBeNull();
    expect((await fetch(redirectUrl)).status).toBe(200);
    stage.onramps.setFault('coinbase', 'down');
    expect(await outcomeOf(adapter.quote(request))).toBe('provider_unavailable');
    stage.onramps.setFault('coinbase', 'up');
  },
);

it('leads to an address that opens once, within five minutes', async () => {
  const adapter = stage.adapterOf('coinbase');
  expect(adapter.opensOnce).toBe(true);
  const { redirectUrl } = await adapter.startSession(someSession);
  expect((await fetch(redirectUrl)).status).toBe(200);
  expect((await fetch(redirectUrl)).status).toBe(410);
  const late = await adapter.startSession(someSession);
  stage.advance(5 * 60_000);
  expect((await fetch(late.redirectUrl)).status).toBe(410);
});

it('is not asked for INR, which it does not take', async () => {
  expect(await outcomeOf(stage.adapterOf('coinbase').quote({ ...someSession, currency: 'INR' }))).toBe(
    'provider_inactive',
  );
});

it('carries a mark in the test environment, and knows the payment by it', async () => {
  const adapter = stage.adapterOf('coinbase', { values: { ENVIRONMENT: 'sandbox' } });
  const { redirectUrl } = await adapter.startSession(someSession);
  const { url } = await fetch(redirectUrl);
  expect(stage.onramps.findOrder(url)?.externalId).toBe(`sandbox-${someSession.paymentId}`);
  stage.webhooks.length = 0;
  await fetch(url, { method: 'POST', body: new URLSearchParams({ card_number: '4242424242424242' }) });
  await expect.poll(() => stage.webhooks.length, { timeout: 60_000 }).toBeGreaterThan(0);
  const webhook = stage.webhooks[0];
  if (webhook === undefined) throw new Error('there is no webhook');
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
