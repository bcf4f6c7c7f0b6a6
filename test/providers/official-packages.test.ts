/**
 * Signatures, tokens and webhook checks against the providers' own packages, in both directions. Nobody here wrote the
 * other side, so these tests find what adapters and simulators get wrong together.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { generateJwt } from '@coinbase/cdp-sdk/auth';
import { MoonPay } from '@moonpay/moonpay-node';
import { decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { ProviderWebhookRefusedError } from '../../src/providers/provider.ts';
import { serveRequests } from './serve-json.ts';
import { openFromCheckout, someSession, useStage, webhookOfVisit } from './stage.ts';
import { webhookCases } from './webhooks.ts';

const stage = useStage();

/** The same text with its last letter or digit changed. */
function altered(text: string): string {
  return text.replace(/[A-Za-z0-9](?=[^A-Za-z0-9]*$)/, (last) => (last === '7' ? '8' : '7'));
}

describe('@moonpay/moonpay-node', () => {
  const sdk = () => new MoonPay(stage.valuesOf('moonpay')['SECRET_KEY'] ?? '', { debug: false });

  it('finds our signature valid, and not after any parameter was changed', async () => {
    const session = { ...someSession, customerIp: '203.0.113.7' };
    const { redirectUrl } = await stage.adapterOf('moonpay').startSession(session);
    expect(sdk().url.isSignatureValid(redirectUrl)).toBe(true);
    for (const name of new URL(redirectUrl).searchParams.keys()) {
      const changed = new URL(redirectUrl);
      changed.searchParams.set(name, `${changed.searchParams.get(name)?.replace(/^./, '~')}`);
      expect([name, sdk().url.isSignatureValid(changed.href)]).toEqual([name, false]);
    }
    expect(new MoonPay('another key', { debug: false }).url.isSignatureValid(redirectUrl)).toBe(false);
  });

  it('signs a URL as the simulator expects it, which refuses it after a change', async () => {
    const unsigned = new URL((await stage.adapterOf('moonpay').startSession(someSession)).redirectUrl);
    unsigned.searchParams.delete('signature');
    const signed = sdk().url.generateSignature(unsigned.href, { returnFullUrl: true }) ?? '';
    expect((await openFromCheckout(signed)).status).toBe(200);
    expect(
      (await openFromCheckout(signed.replace(/baseCurrencyAmount=\d/, 'baseCurrencyAmount=2'))).status,
    ).toBe(400);
  });
});

describe('stripe', () => {
  const secret = () => stage.valuesOf('stripe')['WEBHOOK_SECRET'] ?? '';

  it('signs a webhook that the adapter takes, and refuses after one byte was changed', async () => {
    const nowMs = Date.now();
    const content = { paymentId: someSession.paymentId, status: 'fulfillment_complete', atMs: nowMs };
    const template = webhookCases.stripe?.sign(stage.valuesOf('stripe'), content, nowMs);
    const payload = `${template?.body}`;
    const header = Stripe.webhooks.generateTestHeaderString({ payload, secret: secret() });
    const read = (body: string, signature: string) =>
      stage.adapterOf('stripe').readWebhook?.({
        target: '/providers/stripe/webhooks',
        headers: { 'stripe-signature': signature },
        body: Buffer.from(body),
        receivedAtMs: nowMs,
      });
    expect(await read(payload, header)).toMatchObject({
      paymentId: someSession.paymentId,
      progress: 'delivered',
    });
    await expect(read(altered(payload), header)).rejects.toThrow(ProviderWebhookRefusedError);
    await expect(read(payload, altered(header))).rejects.toThrow(ProviderWebhookRefusedError);
  });

  it('verifies a webhook of the simulator, and refuses it after one byte was changed', async () => {
    const { body, headers } = await webhookOfVisit(stage, stage.adapterOf('stripe'));
    const construct = (payload: string, header = headers['stripe-signature'] ?? '') =>
      Stripe.webhooks.constructEvent(payload, header, secret());
    expect(construct(`${body}`).type).toBe('crypto.onramp_session_updated');
    expect(() => construct(altered(`${body}`))).toThrow(Stripe.errors.StripeSignatureVerificationError);
    const header = headers['stripe-signature']?.replace(/(?<==)[0-9a-f]{64}/g, altered);
    expect(() => construct(`${body}`, header)).toThrow(Stripe.errors.StripeSignatureVerificationError);
  });
});

describe('@coinbase/cdp-sdk', () => {
  const apiKeyId = 'organizations/1/apiKeys/2';
  const target = { requestMethod: 'GET', requestPath: '/onramp/v1/buy/config' };
  const requestHost = 'api.developer.coinbase.com';

  /** The token that the adapter sends with that request. */
  async function tokenOf(API_SECRET: string): Promise<string> {
    const server = await serveRequests(() => ({ countries: [{ id: 'DE' }] }));
    const values = { API_KEY: apiKeyId, API_SECRET, BASE_URL: server.url };
    await stage.adapterOf('coinbase', { values }).quote({ ...someSession, customerCountry: null });
    return server.requests[0]?.headers.authorization?.replace(/^Bearer /, '') ?? '';
  }

  function ed25519Secret(): { readonly secret: string; readonly publicKey: KeyObject } {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
    const bytes = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
    return { secret: Buffer.concat(bytes).toString('base64'), publicKey };
  }

  function es256Secret(): { readonly secret: string; readonly publicKey: KeyObject } {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return { secret: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), publicKey };
  }

  /** As environments often hold a key. */
  function onOneLine() {
    const { secret, publicKey } = es256Secret();
    return { secret, given: secret.replaceAll('\n', '\\n'), publicKey };
  }

  it.each([
    ['EdDSA', ed25519Secret],
    ['ES256', es256Secret],
    ['ES256', onOneLine],
  ] as const)('makes the same token as the adapter with %s, but for nonce and time', async (alg, make) => {
    const { secret, publicKey, given = secret } = make() as ReturnType<typeof onOneLine>;
    const options = { ...target, requestHost, apiKeyId, apiKeySecret: secret };
    const [ours, theirs] = [await tokenOf(given), await generateJwt(options)];
    for (const token of [ours, theirs]) {
      await jwtVerify(token, publicKey, { algorithms: [alg], issuer: 'cdp', maxTokenAge: 120 });
      const [header = '', claims = '', signature = ''] = token.split('.');
      const other = Buffer.from(claims, 'base64url').toString().replace('GET', 'PUT');
      const forged = [header, Buffer.from(other).toString('base64url'), signature].join('.');
      await expect(jwtVerify(forged, publicKey)).rejects.toThrow('signature verification failed');
    }
    expect(comparable(ours)).toEqual(comparable(theirs));
  });

  it('is authorized by the simulator with its token, and not for another path or with another key', async () => {
    const { API_KEY = '', API_SECRET = '', BASE_URL = '' } = stage.valuesOf('coinbase');
    const statusFor = async (apiKeySecret: string, requestPath: string) => {
      const token = await generateJwt({
        ...target,
        requestHost,
        requestPath,
        apiKeySecret,
        apiKeyId: API_KEY,
      });
      const url = `${BASE_URL}/developer${target.requestPath}`;
      return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
    };
    expect(await statusFor(API_SECRET, target.requestPath)).toBe(200);
    expect(await statusFor(API_SECRET, '/onramp/v1/buy/quote')).toBe(401);
    expect(await statusFor(ed25519Secret().secret, target.requestPath)).toBe(401);
  });

  function comparable(token: string) {
    const { nonce, ...header } = decodeProtectedHeader(token) as Record<string, unknown>;
    const { iat = 0, nbf = 0, exp = 0, ...claims } = decodeJwt(token);
    return { header, claims, nonce: `${nonce}`.length, age: nbf - iat, lifetime: exp - iat };
  }
});

describe('jose', () => {
  const encoded = (text: string) => new TextEncoder().encode(text);

  it("signs a webhook of Transak's that the adapter takes, and refuses after one byte was changed", async () => {
    const token = 'the-access-token-of-the-moment';
    const server = await serveRequests(() => ({ data: { accessToken: token, expiresAt: 4_000_000_000 } }));
    const adapter = stage.adapterOf('transak', { values: { BASE_URL: server.url } });
    const webhookData = {
      partnerOrderId: someSession.paymentId,
      status: 'COMPLETED',
      walletAddress: someSession.depositAddress,
    };
    const signed = await new SignJWT({ webhookData, eventID: 'ORDER_COMPLETED' })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(encoded(token));
    const read = (data: string) =>
      adapter.readWebhook?.({
        target: '/providers/transak/webhooks',
        headers: {},
        body: Buffer.from(JSON.stringify({ data })),
        receivedAtMs: Date.now(),
      });
    expect(await read(signed)).toMatchObject({ paymentId: someSession.paymentId, progress: 'delivered' });
    const [header = '', claims = '', signature = ''] = signed.split('.');
    const changed = Buffer.from(claims, 'base64url').toString().replace('COMPLETED', 'CANCELLED');
    const forged = [header, Buffer.from(changed).toString('base64url'), signature].join('.');
    await expect(read(forged)).rejects.toThrow(ProviderWebhookRefusedError);
  });
});
