import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { registerProviderWebhooks } from '../../src/api/provider-webhooks.ts';
import type { Store } from '../../src/app/store/store.ts';
import { registerCheckoutPages } from '../../src/pages/checkout/routes.ts';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import type { ProviderFault } from '../../src/payment/test-payments.ts';
import { createKeyedHash } from '../../src/platform/keyed-hash.ts';
import { createQuotes } from '../../src/providers/ask-quotes.ts';
import type { PostedWebhook } from '../../src/providers/provider.ts';
import { createStartSession } from '../../src/providers/start-session.ts';
import { createPageLimits } from '../../src/web/rate-windows.ts';
import { type ApiService, BASE_URL, createApiService, validRequest } from '../support/api-service.ts';
import { textOf } from '../support/page-text.ts';
import { RESERVED_ADDRESS, type World } from '../support/payment-context.ts';
import { useStage } from './stage.ts';

// API, pages and webhooks over a real store, with the real adapters at the simulated on-ramps; there is no chain.

const stage = useStage();
let service: ApiService;
const outcomes: string[] = [];
/** Moved on with each change of a provider, so that pages ask again. */
let movedMs = 0;
const monotonicMs = () => performance.now() + movedMs;

/** Answers at once or never: what is waited for is decided by the fault alone. */
const patienceMs = (fault: ProviderFault) => (fault === 'slow' ? 60 : 20_000);

function registerPages(server: FastifyInstance, store: Store, world: World): void {
  const providers = { adapters: world.adapters, settings: store.providers };
  const { payments, accounts } = store;
  const nowMs = Date.now;
  registerCheckoutPages(
    server,
    {
      recordOpened: () => {},
      payments,
      accounts,
      search: store.search,
      directory: providers,
      nowMs,
      expiryMs: 7 * 86_400_000,
      baseUrl: BASE_URL,
      token: RESERVED_ADDRESS,
      startSession: createStartSession({
        ipHash: createKeyedHash('IP addresses of customers', 'a secret of the tests'),
        customerHash: createKeyedHash('customers at providers', 'a secret of the tests'),
        payments,
        accounts,
        providers,
        nowMs,
        monotonicMs,
        token: { isBlocklisted: async () => false },
        checkoutPageUrl: ({ id }) => `${BASE_URL}/pay/${id}?returned=1`,
      }),
      quotes: createQuotes({ providers, nowMs, monotonicMs, keepMs: 20_000 }),
      emailHash: createKeyedHash('email of a checkout', 'a secret of the tests'),
      limits: createPageLimits(monotonicMs),
      pictures: {} as never,
      countryHeader: 'x-country',
      isTestMode: false,
      testPayments: null,
      explorerTransactionUrl: () => null,
    },
    [],
  );
  registerProviderWebhooks(server, {
    payments,
    adapters: world.adapters,
    nowMs,
    monotonicMs,
    usdc: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    observe: (_provider, outcome) => outcomes.push(outcome),
  });
}

beforeAll(async () => {
  service = await createApiService({ register: registerPages, requestsPerMinute: 10_000 });
});
afterAll(() => service?.close());

/** How a provider behaves from now on, with all others well. */
function behave(id: ProviderId, fault: ProviderFault): void {
  movedMs += 60_000;
  for (const each of providerIds) {
    service.world.adapters.set(
      each,
      stage.adapterOf(each, { timeoutMs: patienceMs(each === id ? fault : 'up') }),
    );
    stage.onramps.setFault(each, each === id ? fault : 'up');
  }
}

const create = (provider: string) => service.post({ ...validRequest, provider, currency: 'EUR' });
const openPage = (paymentId: string) =>
  service.server.inject({ url: `/pay/${paymentId}`, headers: { 'x-country': 'US-CA' } });
const click = (paymentId: string, provider: ProviderId) =>
  service.server.inject({
    method: 'POST',
    url: `/pay/${paymentId}/providers/${provider}`,
    headers: { 'x-country': 'US-CA', 'content-type': 'application/x-www-form-urlencoded' },
    payload: '',
  });

/** Whose webhooks tell of a provider's visits; those that tell nothing are left out. */
const tellers = new Map<ProviderId, ProviderId>([
  ...providerIds.filter((id) => id !== 'cryptocom').map((id) => [id, id] as const),
  ['paypal', 'moonpay'],
  ['klarna', 'banxa'],
]);

/** Wert's say nothing that could be known without asking Wert, which tells of now. */
const tellsOfNow: ReadonlySet<ProviderId> = new Set(['wert']);

async function post({ target, headers, body }: PostedWebhook): Promise<number> {
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  delete given['content-length'];
  const answer = await service.server.inject({
    method: 'POST',
    url: target,
    headers: given as Record<string, string>,
    payload: Buffer.from(body),
  });
  return answer.statusCode;
}

/** A visit whose card was declined first and accepted then; what the provider sent of it. */
async function payAt(id: ProviderId, isSent: (count: number) => boolean) {
  const { payment_id: paymentId } = (await create('multi')).json();
  const clicked = await click(paymentId, id);
  const page = await fetch(String(clicked.headers['location']), { headers: { referer: `${BASE_URL}/` } });
  stage.webhooks.length = 0;
  outcomes.length = 0;
  const pay = (card: string) =>
    fetch(page.url, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ card_number: card }) });
  await pay('4000000000000002');
  await pay('4242424242424242');
  await vi.waitFor(() => expect(isSent(stage.webhooks.length)).toBe(true), { timeout: 10_000, interval: 10 });
  return { paymentId, webhooks: [...stage.webhooks] };
}

describe.each([...tellers])('webhooks of %s', (id, teller) => {
  const expectTaken = async (paymentId: string) =>
    expect(textOf((await openPage(paymentId)).body)).toMatch(/is approved/);

  it('repeated: are all taken, and move the page once for each news', async () => {
    behave(id, 'notices-repeated');
    const { paymentId, webhooks } = await payAt(id, (count) => count >= 13);
    for (const webhook of webhooks) expect(await post(webhook)).toBe(200);
    expect(webhooks.map(({ provider }) => provider)).toEqual(Array(13).fill(teller));
    // Each news once, at a provider that is asked now once at the least; what comes again is known.
    const noted = outcomes.filter((outcome) => outcome === 'noted').length;
    if (!tellsOfNow.has(id)) expect(noted).toBe(2);
    expect(noted).toBeGreaterThan(0);
    expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(13 - noted);
    await expectTaken(paymentId);
  });

  it('forged: are refused with 401, and the page says what it said before', async () => {
    behave(id, 'notices-forged');
    const { paymentId, webhooks } = await payAt(id, (count) => count >= 2);
    // Without quotes, which may arrive meanwhile.
    const told = async () => textOf((await service.server.inject(`/pay/${paymentId}/status`)).json().detail);
    const before = await told();
    for (const webhook of webhooks) expect(await post(webhook)).toBe(401);
    expect(await told()).toBe(before);
    expect(textOf((await openPage(paymentId)).body)).toMatch(/Waiting for your payment/);
    expect(new Set(outcomes)).toEqual(new Set(['refused']));
  });
});

describe.each(providerIds.filter((id) => id !== 'cryptocom' && !['paypal', 'klarna'].includes(id)))(
  'hostile webhooks in the name of %s',
  (id) => {
    const depths = [
      ['a list that never ends', '['.repeat(60_000)],
      ['a list in a list', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
      ['an object with one', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
      ['an object in an object', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ] as const;
    const signature = Buffer.from([0x30, 6, 2, 1, 1, 2, 1, 1]).toString('base64');

    it.each(depths)('%s: refused with 401, whatever signature it carries', async (_what, body) => {
      behave(id, 'up');
      for (const headers of [{}, { 'x-body-signature': signature }]) {
        const answer = await service.server.inject({
          method: 'POST',
          url: `/providers/${id}/webhooks`,
          headers: { 'content-type': 'application/json', ...headers },
          payload: body,
        });
        expect(answer.statusCode).toBe(401);
      }
    });

    it('take a few lines of the log a minute, without a stack', async () => {
      behave(id, 'up');
      service.logLines.length = 0;
      for (let count = 0; count < 100; count++) {
        await service.server.inject({ method: 'POST', url: `/providers/${id}/webhooks`, payload: '{}' });
      }
      const lines = service.logLines.filter((line) => line.includes(`"provider":"${id}"`));
      expect(lines.length).toBeLessThanOrEqual(6);
      expect(lines.join('')).not.toMatch(/stack|\.ts:\d/);
    });
  },
);

it('forged webhooks of Transak, while its access token cannot be had, are answered 502 and bounded in the log', async () => {
  behave('transak', 'down');
  service.logLines.length = 0;
  outcomes.length = 0;
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const data = `${part({ alg: 'HS256' })}.${part({ eventID: 'ORDER_X' })}.${'A'.repeat(43)}`;
  for (let count = 0; count < 100; count++) {
    const { statusCode } = await service.server.inject({
      method: 'POST',
      url: '/providers/transak/webhooks',
      payload: JSON.stringify({ data }),
    });
    expect(statusCode).toBe(502);
  }
  expect(outcomes).toEqual(Array(100).fill('unverified'));
  const lines = service.logLines.filter((line) => line.includes('webhook'));
  expect(lines.length).toBeLessThanOrEqual(6);
  expect(lines.some((line) => /stack|\.ts:\d/.test(line))).toBe(false);
});

it('webhooks that are lost: the page goes on without them', async () => {
  behave('moonpay', 'notices-lost');
  const { payment_id: paymentId } = (await create('multi')).json();
  const location = String((await click(paymentId, 'moonpay')).headers['location']);
  const page = await fetch(location);
  stage.webhooks.length = 0;
  await fetch(page.url, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ card_number: '4242424242424242' }),
  });
  // The next one's webhooks are sent after those that are lost would have been.
  stage.onramps.setFault('moonpay', 'up');
  const { webhooks } = await payAt('stripe', (count) => count >= 5);
  expect(new Set(webhooks.map(({ provider }) => provider))).toEqual(new Set(['stripe']));
  const text = textOf((await openPage(paymentId)).body);
  expect(text).toContain('Waiting for your payment at MoonPay');
  expect(text).toContain('Charged, but nothing appears here?');
});
