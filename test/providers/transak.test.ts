import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ProviderWebhookRefusedError } from '../../src/providers/provider.ts';
import { serveJson, servePassThrough } from './serve-json.ts';
import {
  behindBreaker,
  openFromCheckout,
  outcomeOf,
  someSession,
  useStage,
  watchedAdapter,
} from './stage.ts';

const stage = useStage();

const REFRESH = '/api/partners/api/v2/refresh-token';
const refreshesIn = (said: readonly string[]) => said.filter((each) => each.includes(` ${REFRESH} `)).length;

it('fetches one access token for all who need it at the same time, and uses it again', async () => {
  const { said, adapter } = await watchedAdapter(stage, 'transak');
  const sessions = await Promise.all(Array.from({ length: 8 }, () => adapter.startSession(someSession)));
  await adapter.startSession(someSession);
  expect(new Set(sessions.map(({ redirectUrl }) => redirectUrl)).size).toBe(8);
  expect(refreshesIn(said)).toBe(1);
});

it('goes on when somebody else with the same account has ended the access token', async () => {
  const [mine, others] = [stage.adapterOf('transak'), stage.adapterOf('transak')];
  for (const adapter of [mine, others, mine, others]) {
    const { redirectUrl } = await adapter.startSession(someSession);
    expect((await openFromCheckout(redirectUrl)).status).toBe(200);
    stage.advance(60_000);
  }
});

it('ends no token younger than a minute, because other calls use it, whatever a session is refused with', async () => {
  const upstream = stage.valuesOf('transak')['BASE_URL'] as string;
  const body = JSON.stringify({ error: { message: 'This customer is not known.' } });
  const refresh: string[] = [];
  const { url } = await servePassThrough(upstream, (request) => {
    if (request.includes(REFRESH)) refresh.push(request);
    return request.includes('/auth/session') ? { status: 401, body } : null;
  });
  const adapter = stage.adapterOf('transak', { values: { BASE_URL: url } });
  const start = () => outcomeOf(adapter.startSession(someSession));
  for (let count = 0; count < 10; count++) expect(await start()).toBe('provider_inactive');
  expect(refresh).toHaveLength(1);
  stage.advance(60_000);
  await Promise.all(Array.from({ length: 10 }, start));
  expect(refresh).toHaveLength(2);
});

it('fetches another access token when the first is about to end', async () => {
  const { said, adapter } = await watchedAdapter(stage, 'transak');
  await adapter.startSession(someSession);
  stage.advance(7 * 24 * 60 * 60_000 - 30_000);
  await adapter.startSession(someSession);
  expect(refreshesIn(said)).toBe(2);
});

it('leads to an address that opens only from the checkout', async () => {
  const { redirectUrl } = await stage.adapterOf('transak').startSession(someSession);
  expect((await fetch(redirectUrl)).status).toBe(403);
  expect((await fetch(redirectUrl, { headers: { referer: 'https://elsewhere.example/' } })).status).toBe(403);
  expect((await openFromCheckout(redirectUrl)).status).toBe(200);
});

describe("the customer's IP address", () => {
  const IP = '81.2.69.142';
  /** What each call carried, by the end of its path. */
  async function recorded() {
    const { said, adapter } = await watchedAdapter(stage, 'transak');
    const seen = () =>
      said
        .splice(0)
        .map((request) => [
          /\/([\w-]+)(?:\?\S*)? \{/.exec(request)?.[1],
          /"x-user-ip":"([^"]+)"/.exec(request)?.[1],
        ]);
    return { seen, adapter };
  }

  it('is on every call for a customer, and on none without one', async () => {
    const { seen, adapter } = await recorded();
    await adapter.startSession({ ...someSession, customerIp: IP });
    expect(seen()).toEqual([
      ['quotes', IP],
      ['refresh-token', IP],
      ['session', IP],
    ]);
    await adapter.quote({ ...someSession, customerCountry: null });
    expect(seen()).toEqual([['quotes', undefined]]);
  });

  it('is required from some date on: what is refused without it is no outage, and the operator reads why', async () => {
    stage.onramps.setMode('transak', { enforcesIp: true });
    const warnings: string[] = [];
    const adapter = behindBreaker(stage.adapterOf('transak', { warn: (text) => warnings.push(text) }));
    // A merchant's create: there is no price, and a checkout can be made.
    for (let count = 0; count < 6; count++)
      expect((await adapter.quote({ ...someSession, customerCountry: null })).deliveryUnits).toBeNull();
    expect(warnings[0]).toContain('x-user-ip');
    for (let count = 0; count < 6; count++)
      expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
    expect(adapter.health?.()).toMatchObject({
      isCircuitOpen: false,
      failuresInARow: 0,
      lastFailure: expect.stringContaining('check TRUST_PROXY'),
    });
    const session = { ...someSession, customerIp: IP };
    expect(await outcomeOf(adapter.startSession(session))).toBe('answered');
    stage.onramps.setMode('transak', {});
  });

  it.each(['/quotes', '/refresh-token', '/session'])(
    'that is refused at %s takes it from nobody else',
    async (path) => {
      const upstream = stage.valuesOf('transak')['BASE_URL'] as string;
      const refused = '45.10.20.66';
      const { url } = await servePassThrough(upstream, (request) =>
        request.includes(path) && request.includes(refused) ? { status: 404, body: '{}' } : null,
      );
      const adapter = behindBreaker(stage.adapterOf('transak', { values: { BASE_URL: url } }));
      const visit = (customerIp: string) => outcomeOf(adapter.startSession({ ...someSession, customerIp }));
      for (let count = 0; count < 10; count++) expect(await visit(refused)).toBe('provider_unavailable');
      expect(await visit(IP)).toBe('answered');
      expect(adapter.health?.().isCircuitOpen).toBe(false);
    },
  );

  it.each([401, 403, 422])('is told apart from wrong credentials where the refusal is %d', async (status) => {
    const body = { error: { message: 'The header X-User-IP is required.' } };
    const server = await serveJson((path) =>
      path.includes('/quotes') ? { body: { response: { cryptoAmount: 104.5 } } } : { status, body },
    );
    const adapter = stage.adapterOf('transak', { values: { BASE_URL: server.url } });
    expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
  });
});

it('asks for the price in the country of the customer, and charges its total', async () => {
  const server = await serveJson(() => ({ body: { response: { cryptoAmount: 104.5, fiatAmount: 105 } } }));
  const adapter = stage.adapterOf('transak', { values: { BASE_URL: server.url } });
  expect(await adapter.quote(someSession)).toMatchObject({ chargedCents: 105_00 });
  await adapter.quote({ ...someSession, customerCountry: null });
  expect(server.asked.map((each) => /quoteCountryCode=\w+/.exec(each)?.[0])).toEqual([
    'quoteCountryCode=US',
    undefined,
  ]);
});

it('makes no call for what is no JWT, and one in a while for what is, when its token cannot be had', async () => {
  const server = await serveJson(() => ({ status: 500, body: {} }));
  const { readWebhook } = stage.adapterOf('transak', { values: { BASE_URL: server.url } });
  const posted = (data: unknown) => ({
    target: '/providers/transak/webhooks',
    headers: {},
    body: Buffer.from(JSON.stringify({ data })),
    receivedAtMs: Date.now(),
  });
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = (alg: string) => {
    const text = `${encoded({ alg, typ: 'JWT' })}.${encoded({ eventID: 'ORDER_COMPLETED' })}`;
    return `${text}.${createHmac('sha256', 'a guess').update(text).digest('base64url')}`;
  };
  for (const data of [undefined, 'hello', 'a.b.c', signed('none'), signed('RS256'), `${signed('HS256')}.x`])
    await expect(readWebhook?.(posted(data))).rejects.toThrow(ProviderWebhookRefusedError);
  expect(server.asked).toEqual([]);
  const forge = () => outcomeOf(Promise.resolve(readWebhook?.(posted(signed('HS256')))));
  for (let count = 0; count < 20; count++) expect(await forge()).toBe('provider_unavailable');
  expect(server.asked).toHaveLength(1);
  stage.advance(30_000);
  await Promise.all(Array.from({ length: 20 }, forge));
  expect(server.asked).toHaveLength(2);
});
