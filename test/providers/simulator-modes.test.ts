/**
 * What accounts of 2026 require and the simulators enforce: the customer's IP address, the newest signatures, locks that
 * can be read back, every documented status, and native USDC.
 */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SimulatorMode } from '../../sandbox/protocols/simulated-protocol.ts';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import type { ProviderWebhook } from '../../src/providers/provider.ts';
import { serveRequests } from './serve-json.ts';
import { adapterWith, openFromCheckout, outcomeOf, someSession, useStage, webhookOfVisit } from './stage.ts';

const LOOPBACK = '127.0.0.1';
const BRIDGED = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';
const stage = useStage();
afterEach(() => {
  for (const id of providerIds) stage.onramps.setMode(id, {});
});

const inMode = (id: ProviderId, mode: SimulatorMode) => stage.onramps.setMode(id, mode);

/** The webhook about a card that was accepted, as the adapter reads it; null for one that says nothing. */
async function webhookOf(id: ProviderId): Promise<ProviderWebhook | null | undefined> {
  const adapter = stage.adapterOf(id);
  return await adapter.readWebhook?.(await webhookOfVisit(stage, adapter));
}

describe("the customer's IP address", () => {
  it.each(['moonpay', 'paypal'] as const)('binds the URL of %s, before the signature', async (id) => {
    inMode(id, { enforcesIp: true });
    const adapter = stage.adapterOf(id);
    const { redirectUrl } = await adapter.startSession({ ...someSession, customerIp: LOOPBACK });
    const key = stage.valuesOf(id)['SECRET_KEY'] ?? '';
    const { searchParams } = new URL(redirectUrl);
    expect(searchParams.get('allowedIpAddress')).toBe(
      createHmac('sha256', key).update(LOOPBACK).digest('base64'),
    );
    expect([...searchParams.keys()].at(-1)).toBe('signature');
    expect((await openFromCheckout(redirectUrl)).status).toBe(200);
    for (const customerIp of ['203.0.113.7', null]) {
      const other = await adapter.startSession({ ...someSession, customerIp });
      expect((await openFromCheckout(other.redirectUrl)).status).toBe(400);
    }
  });

  it.each(['moonpay', 'paypal'] as const)('%s sends customers of other regions back, signed', async (id) => {
    const { redirectUrl } = await stage.adapterOf(id).startSession(someSession);
    const { searchParams } = new URL(redirectUrl);
    const back = searchParams.get('unsupportedRegionRedirectUrl');
    expect(back).toBe(`${someSession.returnUrl}&unserved=${id}`);
    expect((await openFromCheckout(redirectUrl)).status).toBe(200);
    expect((await openFromCheckout(redirectUrl.replace('unserved%3D', 'unserved%3Dx'))).status).toBe(400);
  });

  it.each(['transak', 'stripe', 'coinbase'] as const)('is passed to %s', async (id) => {
    inMode(id, { enforcesIp: true });
    const adapter = stage.adapterOf(id);
    const known = { ...someSession, customerIp: '203.0.113.7' };
    expect(await outcomeOf(adapter.startSession(known))).toBe('answered');
    expect(await outcomeOf(adapter.startSession({ ...someSession, customerIp: null }))).toBe(
      'provider_unavailable',
    );
  });

  it.each(['moonpay', 'transak'] as const)(
    'is left out at %s where it is unknown, with a warning',
    async (id) => {
      const warnings: string[] = [];
      const adapter = adapterWith(id, stage.valuesOf(id), { warn: (message) => warnings.push(message) });
      await adapter.startSession({ ...someSession, customerIp: '203.0.113.7' });
      expect(warnings).toEqual([]);
      await adapter.startSession(someSession);
      expect(warnings).toEqual([expect.stringContaining('check TRUST_PROXY')]);
    },
  );

  it('keeps Banxa inactive in production, unless IP binding is off for the account', () => {
    const { BASE_URL: _, ...values } = stage.valuesOf('banxa');
    const blocked = (changes: Readonly<Record<string, string>>) =>
      adapterWith('banxa', { ...values, ...changes }).blockedBecause;
    expect(blocked({})).toContain('BANXA_IP_BINDING=off');
    expect(blocked({ IP_BINDING: 'off' })).toBeUndefined();
    expect(blocked({ ENVIRONMENT: 'sandbox' })).toBeUndefined();
    expect(stage.adapterOf('banxa').blockedBecause).toBeUndefined();
  });
});

it('Crypto.com says when its page ends, and five minutes hold where it does not', async () => {
  let expiry: Readonly<Record<string, unknown>> = { expired_at: 2_000_000_000 };
  const server = await serveRequests(() => ({
    id: 'payment_1',
    payment_url: 'https://pay.crypto.com/1',
    wallet_address: someSession.depositAddress,
    crypto_currency: 'USDC',
    network: 'polygon',
    ...expiry,
  }));
  const adapter = stage.adapterOf('cryptocom', { values: { BASE_URL: server.url } });
  expect((await adapter.startSession(someSession)).expiresAtMs).toBe(2_000_000_000_000);
  expiry = {};
  const before = Date.now();
  const { expiresAtMs } = await adapter.startSession(someSession);
  expect(expiresAtMs - before).toBeGreaterThanOrEqual(5 * 60_000);
  expect(expiresAtMs - before).toBeLessThan(6 * 60_000);
});

describe('Stripe', () => {
  it.each(['crypto.onramp_session.updated', undefined])(
    'is understood whichever name its event has: %s',
    async (eventName) => {
      inMode('stripe', eventName === undefined ? {} : { eventName });
      expect(await webhookOf('stripe')).toMatchObject({ progress: 'delivering' });
    },
  );

  it('gets no email address where the account refuses the parameter', async () => {
    inMode('stripe', { refusesEmail: true });
    expect(await outcomeOf(stage.adapterOf('stripe').startSession(someSession))).toBe('answered');
  });
});

describe('Ramp Network', () => {
  it('is asked in minor units for native USDC alone, by card, in the country of the customer', async () => {
    const { redirectUrl } = await stage.adapterOf('rampnetwork').startSession(someSession);
    expect(Object.fromEntries(new URL(redirectUrl).searchParams)).toMatchObject({
      inAssetValue: '10000',
      inAsset: 'EUR',
      outAsset: 'MATIC_USDC',
      enabledCryptoAssets: 'MATIC_USDC',
      paymentMethodType: 'CARD_PAYMENT',
      selectedCountryCode: 'US',
    });
  });

  it('takes a signing key as PKCS #8 in base64', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const SIGNING_KEY = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const now = vi.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000);
    const urlWith = async (key: string) =>
      (await stage.adapterOf('rampnetwork', { values: { SIGNING_KEY: key } }).startSession(someSession))
        .redirectUrl;
    onTestFinished(() => now.mockRestore());
    expect(await urlWith(SIGNING_KEY)).toBe(await urlWith(pem));
  });
});

describe('webhooks', () => {
  it('of Coinbase are taken with the newer signature alone, which covers headers', async () => {
    inMode('coinbase', { signsNextVersion: true });
    expect(await webhookOf('coinbase')).toMatchObject({
      paymentId: someSession.paymentId,
      progress: 'delivering',
    });
    const posted = stage.webhooks.findLast(({ provider }) => provider === 'coinbase');
    if (posted === undefined) throw new Error('there is no webhook');
    const forged = { ...posted, headers: { ...posted.headers, 'x-event-id': 'another' } };
    await expect(stage.adapterOf('coinbase').readWebhook?.(forged)).rejects.toThrow(
      'not that of the webhook',
    );
  });

  it.each([
    ['coinbase', 'ONRAMP_TRANSACTION_STATUS_AWAITING_AUTH', 'paying'],
    ['coinbase', 'ONRAMP_TRANSACTION_STATUS_AWAITING_PAYMENT', 'paying'],
    ['banxa', 'cryptoTransferInitiated', 'delivering'],
    ['revolut', 'ORDER_CREATED', 'paying'],
  ] as const)('of %s with %s mean %s', async (id, status, progress) => {
    inMode(id, { status });
    expect(await webhookOf(id)).toMatchObject({ progress });
  });

  it.each([
    ['coinbase', 'ONRAMP_TRANSACTION_STATUS_UNSPECIFIED'],
    ['revolut', 'SELL_ORDER_COMPLETED'],
  ] as const)('of %s with %s say nothing', async (id, status) => {
    inMode(id, { status });
    expect(await webhookOf(id)).toBeNull();
  });

  it.each(['moonpay', 'rampnetwork', 'coinbase'] as const)(
    'of %s name the delivered contract',
    async (id) => {
      inMode(id, { tokenContract: BRIDGED });
      expect(await webhookOf(id)).toMatchObject({ tokenContract: BRIDGED });
    },
  );
});

describe("the provider's own catalog", () => {
  const published = [
    ...(['moonpay', 'paypal', 'rampnetwork', 'revolut', 'transak'] as const),
    ...(['coinbase', 'banxa', 'klarna'] as const),
  ];

  it.each(published)('of %s names native USDC and the limits', async (id) => {
    const entry = await stage.adapterOf(id).readCatalog?.(someSession);
    expect(entry?.tokenContract).toBe('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359');
    expect(entry?.maximumCents).toBeGreaterThan(entry?.minimumCents as number);
  });

  it.each([
    ['moonpay', 'IN'],
    ['moonpay', 'CA'],
    ['moonpay', 'US-NY'],
    ['paypal', 'IN'],
    ['revolut', 'IN'],
    ['transak', 'IN'],
    ['transak', 'US-NY'],
    ['banxa', 'CA'],
    ['banxa', 'US-NY'],
  ] as const)('of %s hides it from customers in %s, whom it does not serve', async (id, region) => {
    const [customerCountry, customerState = null] = region.split('-') as [string, string?];
    const { readCatalog } = stage.adapterOf(id);
    await expect(readCatalog?.({ ...someSession, customerCountry, customerState })).rejects.toMatchObject({
      errorName: 'provider_inactive',
      message: expect.stringContaining(`does not serve customers in ${region}.`),
    });
    expect(await outcomeOf(Promise.resolve(readCatalog?.(someSession)))).toBe('answered');
  });

  it.each(published)('of %s is refused with bridged USDC, by name', async (id) => {
    inMode(id, { tokenContract: BRIDGED });
    await expect(stage.adapterOf(id).readCatalog?.(someSession)).rejects.toMatchObject({
      errorName: 'provider_unavailable',
      cause: expect.objectContaining({ message: expect.stringContaining('bridged USDC (USDC.e') }),
    });
  });
});

describe('an API that answers otherwise than it used to', () => {
  /** Its quote needs no field of the answer. */
  const readsNoQuote: ReadonlySet<ProviderId> = new Set(['cryptocom']);
  const modes: readonly SimulatorMode[] = [
    { pageStatus: 200 },
    { pageStatus: 403 },
    { pageStatus: 502 },
    { changedShape: 'renamed' },
    { changedShape: 'null' },
    { changedShape: 'wrapped' },
  ];

  it.each(providerIds)('at %s gives no quote, no session and no limits', async (id) => {
    const adapter = stage.adapterOf(id);
    const calls = [
      () => adapter.startSession(someSession),
      ...(readsNoQuote.has(id) ? [] : [() => adapter.quote(someSession)]),
      ...(adapter.readCatalog === undefined ? [] : [() => adapter.readCatalog?.(someSession)]),
    ];
    for (const mode of modes) {
      inMode(id, mode);
      for (const call of calls)
        expect([mode, await outcomeOf(Promise.resolve(call()))]).toEqual([mode, 'provider_unavailable']);
    }
    inMode(id, {});
    for (const call of calls) expect(await outcomeOf(Promise.resolve(call()))).toBe('answered');
  });
});
