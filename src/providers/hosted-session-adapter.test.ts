import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ServiceError, UnknownStateError } from '../domain/errors.ts';
import type { SessionRequest } from '../domain/ports/provider.ts';
import { createHostedSessionAdapter } from './hosted-session-adapter.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const servers: Server[] = [];

async function serve(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => answer(request, response, body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/moonpay`;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

function json(status: number, body: unknown): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

const request: SessionRequest = {
  amountCents: 10_00,
  currency: 'EUR',
  usdUnits: 10_900_000n,
  paymentId: '01234567-89ab-7cde-8f01-23456789abcd',
  depositAddress: '0x00000000000000000000000000000000000000AA',
  email: 'a@example.com',
  returnUrl: 'http://localhost:3000/pay/1',
};

const goodSession = {
  id: 'order_1',
  url: 'https://pay.example.com/1',
  expires_at: '2026-11-21T10:00:00.000Z',
  delivery_amount: '9.500000',
};

async function adapterFor(answer: Answer, options: { timeoutMs?: number; quoteCacheMs?: number } = {}) {
  const baseUrl = await serve(answer);
  return createHostedSessionAdapter({
    id: 'moonpay',
    baseUrl,
    apiKey: 'key_1',
    timeoutMs: 2_000,
    ...options,
  });
}

async function errorOf(promise: Promise<unknown>): Promise<ServiceError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('a quote', () => {
  it('is asked for with key, amount, currency and USD value, and understood', async () => {
    let seen = '';
    const adapter = await adapterFor((incoming, response, body) => {
      seen = `${incoming.method} ${incoming.url} ${incoming.headers.authorization}`;
      json(200, { status: 'available', delivery_amount: '10.355000', minimum_usd: '5.00' })(
        incoming,
        response,
        body,
      );
    });
    expect(await adapter.quote(request)).toEqual({ deliveryUnits: 10_355_000n, minimumUsdCents: 500 });
    expect(seen).toBe('GET /moonpay/quote?amount=10.00&currency=EUR&usd_value=10.900000 Bearer key_1');
  });

  it('is fetched once for concurrent and soon following callers, and anew for another amount', async () => {
    let count = 0;
    const adapter = await adapterFor((incoming, response, body) => {
      count++;
      json(200, { status: 'available', delivery_amount: null, minimum_usd: null })(incoming, response, body);
    });
    await Promise.all([adapter.quote(request), adapter.quote(request), adapter.quote(request)]);
    await adapter.quote(request);
    expect(count).toBe(1);
    await adapter.quote({ ...request, usdUnits: 11_000_000n });
    expect(count).toBe(2);
  });

  it('that failed is not kept', async () => {
    let status = 503;
    const adapter = await adapterFor((incoming, response, body) =>
      json(status, { status: 'available', delivery_amount: '1.00', minimum_usd: null })(
        incoming,
        response,
        body,
      ),
    );
    expect((await errorOf(adapter.quote(request))).errorName).toBe('provider_unavailable');
    status = 200;
    expect((await adapter.quote(request)).deliveryUnits).toBe(1_000_000n);
  });

  it('that does not come in time is provider_unavailable', async () => {
    const adapter = await adapterFor(() => undefined, { timeoutMs: 50 });
    expect((await errorOf(adapter.quote(request))).errorName).toBe('provider_unavailable');
  });

  it('that drips without an end is cut at the time limit', async () => {
    const adapter = await adapterFor(
      (_incoming, response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write(' '), 10);
        response.on('close', () => clearInterval(timer));
      },
      { timeoutMs: 100 },
    );
    expect((await errorOf(adapter.quote(request))).errorName).toBe('provider_unavailable');
  });

  it('with a status nobody knows is loud', async () => {
    const adapter = await adapterFor(json(200, { status: 'perhaps' }));
    const error = await errorOf(adapter.quote(request));
    expect(error.errorName).toBe('provider_unavailable');
    expect(error.cause).toBeInstanceOf(UnknownStateError);
  });
});

describe('a refusal', () => {
  it.each([
    ['suspended', 403, 'provider_inactive'],
    ['unauthorized', 401, 'provider_inactive'],
  ])('%s is %s %s', async (code, status, errorName) => {
    const adapter = await adapterFor(json(status, { error: { code } }));
    expect((await errorOf(adapter.quote(request))).errorName).toBe(errorName);
    expect((await errorOf(adapter.startSession(request))).errorName).toBe(errorName);
  });

  it('below the minimum names provider, minimum and given amount', async () => {
    const adapter = await adapterFor(json(422, { error: { code: 'below_minimum', minimum_usd: '20.00' } }));
    const error = await errorOf(adapter.quote(request));
    expect(error.errorName).toBe('below_minimum');
    expect(error.message).toBe('The minimum of MoonPay is 20.00 USD; the amount given is 10.90 USD.');
  });

  it.each([
    [{ error: { code: 'new_word' } }, UnknownStateError],
    [{ error: 'text' }, Error],
    [[], Error],
  ])('that nobody knows (%j) is provider_unavailable with its cause', async (body, cause) => {
    const adapter = await adapterFor(json(422, body));
    const error = await errorOf(adapter.quote(request));
    expect(error.errorName).toBe('provider_unavailable');
    expect(error.cause).toBeInstanceOf(cause);
  });

  it.each([
    ['a code', 422, JSON.stringify({ error: { code: 'key_1 is suspended' } })],
    ['a status', 200, JSON.stringify({ status: 'no: key_1' })],
    ['no JSON', 401, 'key_1 is wrong'],
  ])('that repeats the key as %s leaves it out of the error', async (_what, status, text) => {
    const adapter = await adapterFor((_request, response) => void response.writeHead(status).end(text));
    const { cause } = await errorOf(adapter.quote(request));
    expect(cause).toBeInstanceOf(Error);
    expect((cause as Error).message).not.toContain('key_1');
  });
});

describe('a session', () => {
  it('is started with the deposit address, the payment id and the way back', async () => {
    let seen: unknown;
    const adapter = await adapterFor((incoming, response, body) => {
      seen = JSON.parse(body);
      json(201, goodSession)(incoming, response, body);
    });
    expect(await adapter.startSession(request)).toEqual({
      redirectUrl: 'https://pay.example.com/1',
      providerReference: 'order_1',
      expiresAtMs: Date.parse('2026-11-21T10:00:00.000Z'),
      quotedUnits: 9_500_000n,
    });
    expect(seen).toEqual({
      amount: '10.00',
      currency: 'EUR',
      usd_value: '10.900000',
      wallet_address: request.depositAddress,
      external_id: request.paymentId,
      email: 'a@example.com',
      return_url: 'http://localhost:3000/pay/1',
    });
  });

  it.each([
    ['a script as its address', { ...goodSession, url: 'javascript:alert(1)' }],
    ['an address that anybody on the way can change', { ...goodSession, url: 'http://pay.example.com/1' }],
    ['a relative address', { ...goodSession, url: '/pay/1' }],
    ['credentials in its address', { ...goodSession, url: 'https://a:b@example.com/' }],
    ['no time', { ...goodSession, expires_at: 'soon' }],
    ['a number for its id', { ...goodSession, id: 7 }],
    ['a line break in its id', { ...goodSession, id: 'a\nb' }],
    ['a negative amount', { ...goodSession, delivery_amount: '-1.00' }],
    ['a number for its amount', { ...goodSession, delivery_amount: 9.5 }],
    ['nothing', null],
  ])('with %s is provider_unavailable', async (_what, body) => {
    const adapter = await adapterFor(json(201, body));
    expect((await errorOf(adapter.startSession(request))).errorName).toBe('provider_unavailable');
  });

  it.each([
    ['text instead of JSON', '<html>hello'],
    ['an endless body', 'x'.repeat(100_000)],
  ])('answered with %s is provider_unavailable', async (_what, text) => {
    const adapter = await adapterFor((_incoming, response) => response.writeHead(200).end(text));
    expect((await errorOf(adapter.startSession(request))).errorName).toBe('provider_unavailable');
  });

  it('does not follow a redirect', async () => {
    const adapter = await adapterFor((_incoming, response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('{}'),
    );
    expect((await errorOf(adapter.startSession(request))).errorName).toBe('provider_unavailable');
  });

  it('of a provider that nobody can reach is provider_unavailable', async () => {
    const baseUrl = await serve(() => undefined);
    const [server] = servers.splice(0);
    await new Promise((resolve) => server?.close(resolve));
    const adapter = createHostedSessionAdapter({ id: 'wert', baseUrl, apiKey: 'k', timeoutMs: 1_000 });
    expect((await errorOf(adapter.startSession(request))).errorName).toBe('provider_unavailable');
  });
});
