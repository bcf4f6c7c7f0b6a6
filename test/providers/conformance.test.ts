/**
 * What every adapter with a protocol of its own promises, each against the simulator of its provider over real HTTP.
 */
import { describe, expect, it, vi } from 'vitest';
import { UnknownStateError } from '../../src/payment/errors.ts';
import { isPlausibleQuote } from '../../src/payment/fees-and-paid-threshold.ts';
import { assumedDeliveryUnits, type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import {
  type PostedWebhook,
  type ProviderAdapter,
  ProviderWebhookRefusedError,
  type SessionRequest,
} from '../../src/providers/provider.ts';
import { serveJson, servePassThrough, serveRequests } from './serve-json.ts';
import { behindBreaker, openFromCheckout, outcomeOf, payWith, someSession, useStage } from './stage.ts';
import { webhookCases } from './webhooks.ts';

/** There is no parameter for it. */
const leadsNobodyBack: ReadonlySet<ProviderId> = new Set(['stripe']);
/** Its price is learnt on its own page; any answer but a refusal says that it is there. */
const quotesNothing: ReadonlySet<ProviderId> = new Set(['cryptocom']);
const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
const { paymentId } = someSession;

const stage = useStage();

describe.each(providerIds)('the adapter of %s', (id: ProviderId) => {
  it('quotes what the provider would deliver', async () => {
    const quote = await stage.adapterOf(id).quote(someSession);
    const delivery = quotesNothing.has(id) ? null : assumedDeliveryUnits(id, someSession.usdUnits);
    expect(quote.deliveryUnits).toBe(delivery);
    expect(quote.chargedCents).toBe(someSession.amountCents);
    if (quote.minimumUsdCents !== null) expect(quote.minimumUsdCents).toBeGreaterThan(0);
  });

  it('leads to a page with the right purchase, locked to the deposit address, and back', async () => {
    const session = await stage.adapterOf(id).startSession(someSession);
    expect(session.expiresAtMs).toBeGreaterThan(Date.now());
    expect(session.providerReference).toMatch(/^[\x21-\x7e]+$/);
    if (session.quotedUnits !== null)
      expect(isPlausibleQuote(id, session.quotedUnits, someSession.usdUnits)).toBe(true);
    const page = await openFromCheckout(session.redirectUrl);
    expect(page.status).toBe(200);
    const text = await page.text();
    expect(text).toContain('SIMULATED ON-RAMP');
    expect(text).toContain('100.00 EUR');
    expect(text).toContain(someSession.depositAddress);
    expect(stage.onramps.findOrder(page.url)).toMatchObject({
      provider: id,
      amountCents: 100_00,
      currency: 'EUR',
      walletAddress: someSession.depositAddress,
      externalId: paymentId,
      returnUrl: leadsNobodyBack.has(id) ? '' : someSession.returnUrl,
    });
  });

  it('gives out no address in which somebody else could be paid', async () => {
    const { redirectUrl } = await stage.adapterOf(id).startSession(someSession);
    const somebody = '0x52908400098527886E0F7030069857D2E4169EE7';
    const pieces = redirectUrl.split(someSession.depositAddress);
    // Either the address is not in it at all, or changing it is found out.
    if (pieces.length > 1) expect((await openFromCheckout(pieces.join(somebody))).status).toBe(400);
    const added = new URL(redirectUrl);
    added.searchParams.append('walletAddress', somebody);
    const page = await openFromCheckout(added.href);
    expect(page.status === 200 && (await page.text()).includes(somebody)).toBe(false);
  });

  it('says that the provider is inactive when the credentials are wrong', async () => {
    const adapter = stage.adapterOf(id, { values: { API_KEY: 'wrong' } });
    expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_inactive');
  });

  it('says in time that the provider is down or slow, and comes back', async () => {
    // Ten minutes is what the slow one takes, which no test has.
    const adapter = stage.adapterOf(id, { timeoutMs: 300 });
    for (const fault of ['down', 'slow'] as const) {
      stage.onramps.setFault(id, fault);
      expect(await outcomeOf(adapter.quote(someSession))).toBe('provider_unavailable');
      expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
    }
    stage.onramps.setFault(id, 'up');
    expect(await outcomeOf(stage.adapterOf(id).startSession(someSession))).toBe('answered');
  });
});

it.each([
  // A customer may stay at Banxa for longer than its link opens.
  ['banxa', 60_000, 60 * 60_000],
  ['coinbase', 5 * 60_000, 5 * 60_000],
  ['transak', 5 * 60_000, 5 * 60_000],
] as const)(
  '%s leads to an address that opens once, within %d ms, each time to another',
  async (id, lifetimeMs, visitMs) => {
    const adapter = stage.adapterOf(id);
    expect(adapter.opensOnce).toBe(true);
    const startedAtMs = Date.now();
    const [first, second, late] = [
      await adapter.startSession(someSession),
      await adapter.startSession(someSession),
      await adapter.startSession(someSession),
    ];
    expect(Math.abs(first.expiresAtMs - startedAtMs - visitMs)).toBeLessThan(2_000);
    const statusOf = async ({ redirectUrl }: typeof first) => (await openFromCheckout(redirectUrl)).status;
    expect([await statusOf(first), await statusOf(first), await statusOf(second)]).toEqual([200, 410, 200]);
    stage.advance(lifetimeMs);
    expect(await statusOf(late)).toBe(410);
    stage.advance(-lifetimeMs);
  },
);

describe.each(providerIds)('an answer that %s should not give', (id: ProviderId) => {
  it.each([
    ['nothing', 200, ''],
    ['null', 200, 'null'],
    ['a list', 200, '[]'],
    ['an empty object', 200, '{}'],
    ['a page', 200, '<html></html>'],
    ['more than anybody needs', 200, `"${'x'.repeat(100_000)}"`],
    ['a way elsewhere', 302, '{}'],
    ['an unknown refusal', 418, '{"message":"I am a teapot"}'],
    ['a failure', 500, '{"data":{}}'],
  ])('is %s, and it is provider_unavailable', async (_what, status, body) => {
    const provider = await serveJson(() => ({ status, body }));
    const adapter = stage.adapterOf(id, { values: { BASE_URL: provider.url } });
    if (!quotesNothing.has(id))
      expect(await outcomeOf(adapter.quote(someSession))).toBe('provider_unavailable');
    expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
  });
});

/**
 * Opens the circuit or not: ten calls of one kind, after which the provider answers with a status and a page or JSON
 * wherever `isMeant` says so, and the simulator everywhere else.
 */
async function circuitAfter(
  id: ProviderId,
  { status, body }: { readonly status: number; readonly body: string },
  isMeant: (request: string) => boolean,
  call: (adapter: ProviderAdapter, request: SessionRequest) => Promise<unknown>,
) {
  // Ramp Network accepts 100 requests a minute.
  stage.advance(60_000);
  const upstream = stage.valuesOf(id)['BASE_URL'] as string;
  const proxy = await servePassThrough(upstream, (request) => (isMeant(request) ? { status, body } : null));
  const adapter = behindBreaker(stage.adapterOf(id, { values: { BASE_URL: proxy.url } }));
  for (let count = 10; count < 20; count++) {
    const request = {
      ...someSession,
      amountCents: 100_00 + count,
      paymentId: paymentId.replace(/..$/, `${count}`),
    };
    await outcomeOf(call(adapter, request));
  }
  return adapter.health?.().isCircuitOpen;
}

const refusals = [400, 402, 404, 405, 406, 409, 410, 418, 422, 451];
const namesCustomer = (request: string) =>
  request.toLowerCase().includes(someSession.depositAddress.toLowerCase());

describe.each(providerIds)('a refusal by %s', (id: ProviderId) => {
  it.each([
    ['JSON', '{}'],
    ['a page', '<html>Not in your region</html>'],
    ['a long page', 'x'.repeat(100_000)],
  ])('of one customer takes it from nobody else, whatever the status: %s', async (_what, body) => {
    for (const status of [200, 204, 302, ...refusals, 401, 403])
      expect(
        await circuitAfter(id, { status, body }, namesCustomer, ({ startSession }, request) =>
          startSession(request),
        ),
        `status ${status}`,
      ).toBe(false);
  });

  it('of what names no customer is an outage if it says that the address is gone', async () => {
    for (const status of refusals) {
      // Its own trial takes these for the answer that there is no list.
      const isOutage = [404, 405, 410].includes(status) && !(quotesNothing.has(id) && status !== 410);
      const answer = { status, body: '{}' };
      expect(
        await circuitAfter(
          id,
          answer,
          () => true,
          ({ quote }, request) => quote({ ...request, customerCountry: null }),
        ),
        `status ${status}`,
      ).toBe(isOutage);
    }
  });
});

describe('a total that the provider states', () => {
  const answerWith = (total: number) =>
    ({
      moonpay: { quoteCurrencyAmount: 104, totalAmount: total },
      coinbase: {
        purchase_amount: { value: '104' },
        payment_total: { value: `${total}`, currency: 'EUR' },
        session: { onrampUrl: 'https://pay.coinbase.com/buy?sessionToken=1' },
        quote: { purchaseAmount: '104', paymentTotal: `${total}`, paymentCurrency: 'EUR' },
      },
      rampnetwork: { CARD_PAYMENT: { cryptoAmount: '104000000', fiatValue: total } },
    }) as const;
  const ids = Object.keys(answerWith(0)) as (keyof ReturnType<typeof answerWith>)[];
  const adapterOf = async (id: (typeof ids)[number], total: number) => {
    const provider = await serveRequests(() => answerWith(total)[id]);
    return stage.adapterOf(id, { values: { BASE_URL: provider.url } });
  };

  it.each(ids)('is the charge at %s', async (id) => {
    const adapter = await adapterOf(id, 103.5);
    expect(await adapter.quote(someSession)).toMatchObject({ chargedCents: 103_50 });
    expect(await adapter.startSession(someSession)).toMatchObject({ chargedCents: 103_50 });
  });

  it.each(ids)('is not believed at %s beyond half and twice the amount', async (id) => {
    for (const total of [49.99, 200.01]) {
      const adapter = await adapterOf(id, total);
      expect(await outcomeOf(adapter.quote(someSession))).toBe('provider_unavailable');
      expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
    }
  });
});

describe('an answer', () => {
  const quoted = { purchase_amount: { value: '104' }, session: { onrampUrl: 'https://pay.coinbase.com/1' } };
  const sold = { destination_currency: 'usdc', destination_amount: '96.00', source_total_amount: '100.00' };
  const started = { checkoutUrl: 'https://checkout.banxa.com/1', id: '1' };
  const outcomesOf = async (id: ProviderId, answer: unknown) => {
    const provider = await serveRequests(() => answer);
    const { quote, startSession } = stage.adapterOf(id, { values: { BASE_URL: provider.url } });
    return [await outcomeOf(quote(someSession)), await outcomeOf(startSession(someSession))];
  };

  it.each([
    ['moonpay', { quoteCurrencyAmount: 104, baseCurrency: null, totalAmount: null }],
    ['moonpay', { quoteCurrencyAmount: '104', baseCurrency: { code: 'eur', minBuyAmount: 0 } }],
    ['coinbase', { ...quoted, payment_total: null, quote: null }],
    ['banxa', { cryptoAmount: '104', fiat: null, fiatAmount: null, ...started }],
  ] as const)('of %s with null or zero in place of what is optional is used: %j', async (id, answer) => {
    expect(await outcomesOf(id, answer)).toEqual(['answered', 'answered']);
  });

  it.each([
    ['moonpay', { quoteCurrencyAmount: 104, baseCurrency: { code: 'usd' } }],
    ['transak', { response: { cryptoAmount: 104, fiatCurrency: 'USD' } }],
    ['transak', { response: { cryptoAmount: 104, cryptoCurrency: 'USDT' } }],
    ['banxa', { cryptoAmount: '104', fiat: 'USD', ...started }],
    ['stripe', { destination_network_quotes: { polygon: [sold] }, source_currency: 'usd' }],
  ] as const)('of %s for another currency or coin is not used: %j', async (id, answer) => {
    expect(await outcomesOf(id, answer)).toEqual(['provider_unavailable', 'provider_unavailable']);
  });

  it('of Coinbase that quotes another coin is not used', async () => {
    const answer = { ...quoted, purchase_amount: { value: '104', currency: 'ETH' } };
    expect((await outcomesOf('coinbase', answer))[0]).toBe('provider_unavailable');
  });
});

it.each([
  ['moonpay', 'INR'],
  ['coinbase', 'INR'],
  ['revolut', 'INR'],
  ['stripe', 'CAD'],
  ['stripe', 'INR'],
  // It sells by UPI only and not by card.
  ['transak', 'INR'],
] as const)('%s is not asked for %s, which it does not take', async (id, currency) => {
  const provider = await serveJson(() => ({ body: {} }));
  const adapter = stage.adapterOf(id, { values: { BASE_URL: provider.url } });
  await expect(adapter.quote({ ...someSession, currency })).rejects.toMatchObject({
    errorName: 'provider_inactive',
    message: expect.stringContaining(`does not take payments in ${currency}.`),
  });
  expect(provider.asked).toEqual([]);
});

it('Transak whose access tokens are refused with 404 is down, although a customer asked', async () => {
  const isToken = (request: string) => request.includes('/refresh-token');
  const call = ({ startSession }: ProviderAdapter, request: SessionRequest) => startSession(request);
  expect(await circuitAfter('transak', { status: 404, body: '{}' }, isToken, call)).toBe(true);
});

it('Revolut that has no price for a country is still there for others', async () => {
  const isQuote = (request: string) => request.includes('/quote');
  const call = ({ quote }: ProviderAdapter, request: SessionRequest) => quote(request);
  expect(await circuitAfter('revolut', { status: 404, body: '{}' }, isQuote, call)).toBe(false);
});

it.each(providerIds)(
  '%s that answers 429, with a page, is busy for the seconds that it names',
  async (id) => {
    const provider = await serveJson(() => ({
      status: 429,
      headers: { 'retry-after': '7', 'content-type': 'text/html' },
      body: '<html>Too Many Requests</html>',
    }));
    const adapter = stage.adapterOf(id, { values: { BASE_URL: provider.url } });
    const busy = { errorName: 'provider_unavailable', retryAfterSeconds: 7 };
    await expect(adapter.startSession(someSession)).rejects.toMatchObject(busy);
    await expect(adapter.quote(someSession)).rejects.toMatchObject(busy);
  },
);

describe.each(Object.entries(webhookCases))('a webhook of %s', (name, webhookCase) => {
  const id = name as ProviderId;
  const state = Object.keys(webhookCase.states)[0] as string;
  const content = { paymentId, status: state, atMs: NOW_MS - 2_000 };
  const read = async (webhook: PostedWebhook) => {
    const { answer, values: own } = webhookCase;
    const values = { ...own, ...(answer === undefined ? {} : { BASE_URL: (await serveJson(answer)).url }) };
    return stage.adapterOf(id, { values }).readWebhook?.(webhook);
  };
  const authentic = () => webhookCase.sign(stage.valuesOf(id), content, NOW_MS);

  it.each(Object.entries(webhookCase.states))(
    'that says %s is understood as %s',
    async (status, progress) => {
      const webhook = webhookCase.sign(stage.valuesOf(id), { ...content, status }, NOW_MS);
      expect(await read(webhook)).toMatchObject({ paymentId, progress });
    },
  );

  it('with a state that nobody knows is loud', async () => {
    const webhook = webhookCase.sign(stage.valuesOf(id), { ...content, status: 'newWord' }, NOW_MS);
    await expect(read(webhook)).rejects.toThrow(UnknownStateError);
  });

  it('that says nothing of a payment is passed over', async () => {
    expect(await read(webhookCase.irrelevant(stage.valuesOf(id), NOW_MS))).toBeNull();
  });

  it('is refused when it was forged with another key, or there is no signature', async () => {
    for (const key of webhookCase.keys) {
      const values = { ...stage.valuesOf(id), [key]: `${stage.valuesOf(id)[key]}x` };
      await expect(read(webhookCase.sign(values, content, NOW_MS))).rejects.toThrow(
        ProviderWebhookRefusedError,
      );
    }
    const { unsigned = (webhook: PostedWebhook) => ({ ...webhook, headers: {} }) } = webhookCase;
    await expect(read(unsigned(authentic()))).rejects.toThrow(ProviderWebhookRefusedError);
    await expect(read({ ...authentic(), headers: {}, body: Buffer.alloc(0) })).rejects.toThrow(
      ProviderWebhookRefusedError,
    );
  });

  it('is refused when a single byte of it was altered', async () => {
    const { body } = authentic();
    for (const place of [0, Math.floor(body.length / 2), body.length - 1]) {
      const altered = Buffer.from(body);
      altered[place] = (altered[place] ?? 0) ^ 1;
      await expect(read({ ...authentic(), body: altered })).rejects.toThrow(ProviderWebhookRefusedError);
    }
  });

  it('of the simulated on-ramp is authentic and tells of a declined and of an accepted card', async () => {
    const adapter = stage.adapterOf(id);
    const { redirectUrl } = await adapter.startSession(someSession);
    const { url } = await openFromCheckout(redirectUrl);
    stage.webhooks.length = 0;
    await payWith(url, '4000000000000002');
    await payWith(url, '4242424242424242');
    await vi.waitFor(() => expect(stage.webhooks.length).toBe(5), { timeout: 60_000, interval: 20 });
    const told = await Promise.all(stage.webhooks.map((webhook) => adapter.readWebhook?.(webhook)));
    expect(told.map((each) => each?.paymentId)).toEqual(Array(5).fill(paymentId));
    const progresses = told.map((each) => each?.progress);
    // Asked now, each of them tells of now, and there is no earlier news.
    if (webhookCase.tellsOfNow === true) expect(progresses).toEqual(Array(5).fill('delivering'));
    else {
      expect(progresses).toEqual(['failed', 'failed', 'delivering', 'delivering', 'failed']);
      expect(told[4]?.atMs).toBeLessThanOrEqual(told[3]?.atMs ?? 0);
    }
  });
});

const aging = Object.entries(webhookCases).filter(([, { growsOld }]) => growsOld);
it.each(aging)(
  'a webhook of %s is refused when it is played again later, or with another time',
  async (name, webhookCase) => {
    const id = name as ProviderId;
    const read = async (webhook: PostedWebhook) => stage.adapterOf(id).readWebhook?.(webhook);
    const [status = ''] = Object.keys(webhookCase.states);
    const content = { paymentId, status, atMs: NOW_MS - 2_000 };
    const authentic = () => webhookCase.sign(stage.valuesOf(id), content, NOW_MS);

    const later = { ...authentic(), receivedAtMs: NOW_MS + 5 * 60_000 + 1_000 };
    await expect(read(later)).rejects.toThrow(ProviderWebhookRefusedError);
    const early = { ...authentic(), receivedAtMs: NOW_MS - 5 * 60_000 - 1_000 };
    await expect(read(early)).rejects.toThrow(ProviderWebhookRefusedError);
    const headers = Object.fromEntries(
      Object.entries(authentic().headers).map(([header, value]) => [
        header,
        value?.replaceAll(String(Math.floor(NOW_MS / 1000)), String(Math.floor(NOW_MS / 1000) + 600)),
      ]),
    );
    await expect(read({ ...later, headers })).rejects.toThrow(ProviderWebhookRefusedError);
  },
);
