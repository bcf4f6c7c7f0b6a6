import fc from 'fast-check';
import { fetch as undiciFetch } from 'undici';
import { describe, expect, it } from 'vitest';
import packageFile from '../package.json' with { type: 'json' };
import { createClient } from './client.ts';
import { ApiError, ArgumentError, ConnectionError } from './errors.ts';
import { pauseBeforeRetryMs } from './send-request.ts';

const status = { payment_id: 'p', status: 'unpaid', forward_status: 'pending' };
const created = { payment_id: 'p', ipn_token: 't', checkout_url: 'https://pay.example/pay/p' };

interface Seen {
  readonly url: string;
  readonly init: RequestInit;
}

/** Creates a client whose `fetch` returns these responses in order. `null` simulates a lost connection. */
function clientOf(answers: readonly ({ status: number; body?: unknown; retryAfter?: string } | null)[]) {
  const seen: Seen[] = [];
  const pauses: number[] = [];
  const client = createClient({
    apiKey: 'service_live_x',
    baseUrl: 'https://pay.example/',
    random: () => 0.5,
    wait: async (ms) => void pauses.push(ms),
    fetch: async (url, init) => {
      const answer = answers[seen.length];
      seen.push({ url: String(url), init: init ?? {} });
      if (answer === null || answer === undefined) throw new TypeError('fetch failed');
      const headers = answer.retryAfter === undefined ? {} : { 'retry-after': answer.retryAfter };
      return new Response(JSON.stringify(answer.body ?? {}), { status: answer.status, headers });
    },
  });
  return { client, seen, pauses };
}

const keysOf = (seen: readonly Seen[]) =>
  seen.map(({ init }) => new Headers(init.headers).get('idempotency-key'));
const order = { address: '0x', callback: 'https://shop.example', amount: '1' };

describe('a request', () => {
  it.each([429, 500, 502, 503, 504, 520, 524, 408])('is sent again after %i', async (httpStatus) => {
    const { client, seen } = clientOf([{ status: httpStatus }, { status: 200, body: status }]);
    expect(await client.payments.retrieve('p')).toEqual(status);
    expect(seen).toHaveLength(2);
  });

  it.each([400, 401, 403, 404, 405, 409, 413, 418, 301, 204])(
    'is not sent again after %i',
    async (httpStatus) => {
      const { client, seen } = clientOf([{ status: httpStatus === 204 ? 203 : httpStatus }]);
      await expect(client.payments.retrieve('p')).rejects.toBeInstanceOf(ApiError);
      expect(seen).toHaveLength(1);
    },
  );

  it('takes a timeout, retries and a signal of its own, and ends with the reason of the signal', async () => {
    const { client, seen } = clientOf([{ status: 503 }, { status: 503 }]);
    await expect(client.payments.retrieve('p', { maximumRetries: 0 })).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(1);
    const reason = new Error('the customer left');
    const aborted = client.payments.retrieve('p', { signal: AbortSignal.abort(reason) });
    await expect(aborted).rejects.toBe(reason);
    const silent = createClient({
      apiKey: 'service_live_x',
      baseUrl: 'https://pay.example',
      fetch: (_url, { signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    });
    const controller = new AbortController();
    const leaving = silent.checkouts.create(order, { signal: controller.signal });
    controller.abort(reason);
    await expect(leaving).rejects.toBe(reason);
    const slow = silent.payments.retrieve('p', { timeoutMs: 1, maximumRetries: 0 });
    await expect(slow).rejects.toThrow(/no answer within 1 ms/);
  });

  it('goes through the fetch of undici as well, whose types fit', async () => {
    const client = createClient({
      apiKey: 'service_live_x',
      baseUrl: 'http://127.0.0.1:9',
      fetch: undiciFetch,
    });
    const call = client.payments.retrieve('p', { maximumRetries: 0 });
    await expect(call).rejects.toBeInstanceOf(ConnectionError);
  });

  it('with a key or an id that cannot be sent fails before it is sent, and does not repeat it', async () => {
    const { client, seen } = clientOf([]);
    const secret = 'order-7531\r\nx-other: 1';
    const wrong = [
      () => client.checkouts.create(order, { idempotencyKey: secret }),
      () => client.checkouts.create(order, { idempotencyKey: '' }),
      () => client.payments.retrieve(undefined as never),
      () => client.payments.retrieve({ paymentId: undefined } as never),
      () => client.payments.cancel(undefined as never),
      () => client.refunds.get(''),
      async () => createClient({ apiKey: `service_live_${secret}`, baseUrl: 'https://pay.example' }),
    ];
    for (const call of wrong) {
      const error = await call().catch((each: unknown) => each);
      expect(error).toBeInstanceOf(ArgumentError);
      expect(String(error)).not.toContain('7531');
    }
    expect(seen).toEqual([]);
  });

  it('for all payments goes from page to page until the last one', async () => {
    const page = (id: string, next: string | null) => ({
      status: 200,
      body: { payments: [{ payment_id: id }], next },
    });
    const { client, seen } = clientOf([page('a', 'a'), page('b', null)]);
    const ids: string[] = [];
    for await (const payment of client.payments.iterate({ limit: 1 })) ids.push(payment.payment_id);
    expect(ids).toEqual(['a', 'b']);
    expect(seen.map(({ url }) => url.split('?')[1])).toEqual(['limit=1', 'limit=1&before=a']);
    expect(new Headers(seen[0]?.init.headers).get('user-agent')).toBe(
      `card-checkout-sdk/${packageFile.version}`,
    );
  });

  it('for a refund is sent again when it reads, and sent once when it changes', async () => {
    const refund = { refund_id: 'r', payment_id: 'p', status: 'canceled', amount: '1.000000' };
    const reading = clientOf([{ status: 503 }, { status: 200, body: refund }]);
    expect(await reading.client.refunds.get('r')).toEqual(refund);
    const changes = (client: ReturnType<typeof clientOf>['client']) => [
      client.payments.cancel('p'),
      client.refunds.cancel('r'),
      client.refunds.confirm('r', '0x'),
      client.refunds.submitTransaction('r', '0x'),
    ];
    const { client, seen } = clientOf(Array.from({ length: 4 }, () => ({ status: 503 })));
    for (const change of changes(client)) await expect(change).rejects.toBeInstanceOf(ApiError);
    expect(seen).toHaveLength(4);
  });

  it('is given up after the third attempt, with the last error', async () => {
    const { client, seen } = clientOf([
      { status: 500 },
      null,
      { status: 502, body: { code: 'provider_unavailable' } },
    ]);
    await expect(client.payments.retrieve('p')).rejects.toMatchObject({
      status: 502,
      code: 'provider_unavailable',
      retryAfter: null,
      isTemporary: true,
    });
    expect(seen).toHaveLength(3);
  });

  it('waits as long as Retry-After asks, and throws at once where that is too long', async () => {
    const short = clientOf([
      { status: 429, retryAfter: '3' },
      { status: 200, body: status },
    ]);
    await short.client.payments.retrieve('p');
    expect(short.pauses).toEqual([3_500]);

    const long = clientOf([{ status: 429, retryAfter: '60', body: { error: 'Too many requests.' } }]);
    await expect(long.client.payments.retrieve('p')).rejects.toMatchObject({
      message: 'Too many requests.',
      status: 429,
      retryAfter: 60,
    });
    expect(long.pauses).toEqual([]);
  });

  it('creates with one key for all attempts and another for the next call, or with the one it is given', async () => {
    const ok = { status: 200, body: created };
    const { client, seen } = clientOf([{ status: 500 }, null, ok, ok, ok]);
    await client.checkouts.create(order);
    await client.checkouts.create(order);
    await client.checkouts.create(order, { idempotencyKey: 'order-1' });
    const [first, second, third, other, given] = keysOf(seen);
    expect(first).toMatch(/^sdk-[0-9a-f]{32}$/);
    expect([second, third]).toEqual([first, first]);
    expect(other).not.toBe(first);
    expect(given).toBe('order-1');
  });

  it('carries the key in one header and follows nobody elsewhere', async () => {
    const { client, seen } = clientOf([{ status: 302, body: '' }]);
    await expect(client.payments.retrieve({ ipnToken: 'a&b' })).rejects.toMatchObject({ status: 302 });
    const [{ url, init } = { url: '', init: {} }] = seen;
    expect(url).toBe('https://pay.example/api/v1/payment-status?ipn_token=a%26b');
    expect(init.redirect).toBe('manual');
    expect(new Headers(init.headers).get('x-api-key')).toBe('service_live_x');
    expect(new Headers(init.headers).has('authorization')).toBe(false);
  });

  it.each(['<html>', '[]', '{}', 'null'])('takes %j for no answer of the service', async (text) => {
    const client = createClient({
      apiKey: 'service_live_x',
      baseUrl: 'https://pay.example',
      maximumRetries: 0,
      fetch: async () => new Response(text, { status: 200 }),
    });
    await expect(client.payments.retrieve('p')).rejects.toBeInstanceOf(ConnectionError);
  });

  it('does not wait for ever', async () => {
    const client = createClient({
      apiKey: 'service_live_x',
      baseUrl: 'https://pay.example',
      maximumRetries: 0,
      timeoutMs: 20,
      fetch: (_url, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    });
    await expect(client.payments.retrieve('p')).rejects.toThrow('no answer within 20 ms');
  });
});

it('pauses within bounds that double, never less than asked', () => {
  const random = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(
      random,
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 0, max: 10 }),
      (share, retry, retryAfter) => {
        const context = { maximumPauseMs: 10_000, random: () => share };
        const steep = pauseBeforeRetryMs(context, new ConnectionError(), retry) as number;
        const highest = Math.min(500 * 2 ** retry, 10_000);
        expect(steep).toBeGreaterThanOrEqual(highest / 2);
        expect(steep).toBeLessThanOrEqual(highest);
        const limited = new ApiError('', { status: 429, code: null, retryAfter, requestId: null });
        const asked = pauseBeforeRetryMs(context, limited, retry) as number;
        expect(asked).toBeGreaterThanOrEqual(retryAfter * 1000);
        expect(asked).toBeLessThanOrEqual(retryAfter * 1000 + 1000);
      },
    ),
  );
});

it('refuses keys and addresses that cannot be right before anything is sent', () => {
  const baseUrl = 'https://pay.example';
  const apiKey = 'service_live_x';
  for (const wrong of ['', 'sk_live_1', undefined as unknown as string]) {
    expect(() => createClient({ apiKey: wrong, baseUrl })).toThrow('service_live_');
  }
  for (const wrong of [
    '',
    'pay.example',
    'http://pay.example',
    'http://localhost.evil.example',
    'ftp://localhost',
  ]) {
    expect(() => createClient({ apiKey, baseUrl: wrong })).toThrow('baseUrl');
  }
  for (const right of ['http://localhost:3000', 'http://127.0.0.1:3000/', 'http://[::1]:1']) {
    expect(() => createClient({ apiKey, baseUrl: right })).not.toThrow();
  }
  Object.assign(globalThis, { window: {}, document: {} });
  try {
    expect(() => createClient({ apiKey, baseUrl })).toThrow('browser');
  } finally {
    Reflect.deleteProperty(globalThis, 'window');
    Reflect.deleteProperty(globalThis, 'document');
  }
});
