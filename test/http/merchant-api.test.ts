import { beforeAll, describe, expect, it } from 'vitest';
import { keyScopes } from '../../src/accounts/api-key.ts';
import { createKey } from '../../src/accounts/api-keys.ts';
import { apiDescription } from '../../src/app/features.ts';
import { EVENT_RETENTION_MS } from '../../src/payment/retention-periods.ts';
import { settle } from '../../src/payment/settle.ts';
import { newSession } from '../store/fixtures.ts';
import { depositOf } from '../store/observations.ts';
import { newEntry } from '../store/people.ts';
import { type ApiService, createApiService, useApi, validRequest } from '../support/api-service.ts';

let service = {} as ApiService;
let apiKey: string;
let accountId: string;
useApi((api) => (service = api), { requestsPerMinute: 1_000_000 });

/** A new account with its key, so that no test sees the payments of another. */
async function startShop(): Promise<void> {
  const made = await service.addAccount();
  apiKey = made.apiKey;
  accountId = made.account.id;
}

const headers = () => ({ 'x-api-key': apiKey });
const create = async (change: object = {}) =>
  (await service.post({ ...validRequest, ...change }, headers())).json().payment_id as string;
const get = (path: string, more: Record<string, string> = {}) =>
  service.server.inject({ url: `/merchant/v1${path}`, headers: { ...headers(), ...more } });
const cancel = (id: string, key = apiKey) =>
  service.server.inject({
    method: 'POST',
    url: `/merchant/v1/payments/${id}/cancel`,
    headers: { authorization: `Bearer ${key}` },
  });

async function pay(id: string): Promise<void> {
  await service.store.payments.decidePayment(id as never, () => ({
    change: {
      status: 'paid',
      forwardStatus: 'completed',
      paidAtMs: Date.now(),
      receivedUnits: 25_000_000n,
      forwardedUnits: 24_375_000n,
    },
  }));
}

async function numberAll(): Promise<void> {
  while ((await service.store.events.numberEvents(100)) > 0);
}

describe('payments', () => {
  beforeAll(startShop);

  it('are listed newest first, in pages, each once', async () => {
    const ids = [await create(), await create(), await create()].reverse();
    const first = (await get('/payments?limit=2')).json();
    expect(first.payments.map(({ payment_id }: never) => payment_id)).toEqual(ids.slice(0, 2));
    const second = (await get(`/payments?limit=2&before=${first.next}`)).json();
    expect(second.payments.map(({ payment_id }: never) => payment_id)).toEqual(ids.slice(2));
    expect(second.next).toBeNull();
  });

  it('are filtered as in the dashboard', async () => {
    const id = await create({ currency: 'EUR', note: 'Order 7781' });
    await pay(id);
    const only = async (query: string) =>
      (await get(`/payments?${query}`)).json().payments.map(({ payment_id }: never) => payment_id);
    expect(await only('status=paid')).toEqual([id]);
    expect(await only('currency=EUR&forward_status=completed')).toEqual([id]);
    expect(await only('display_status=paid')).toEqual([id]);
    expect(await only('display_status=at_provider')).toEqual([]);
    expect(await only('currency=INR')).toEqual([]);
    expect(await only(`search=${id}`)).toEqual([id]);
    expect(await only('created_before=2020-01-01T00:00:00Z')).toEqual([]);
    expect((await only('created_from=2020-01-01T00:00:00Z')).includes(id)).toBe(true);
  });

  it('show note and email address, never the token, and expand what is asked for', async () => {
    const created = (
      await service.post({ ...validRequest, note: 'Order 9', email: 'ada@example.com' }, headers())
    ).json();
    const plain = await get(`/payments/${created.payment_id}`);
    expect(plain.json()).toMatchObject({ note: 'Order 9', email: 'ada@example.com', status: 'unpaid' });
    expect(plain.body).not.toContain(created.ipn_token);
    expect(plain.json()).not.toHaveProperty('deposits');
    const full = (
      await get(`/payments/${created.payment_id}?expand=deposits,releases,sessions,webhooks`)
    ).json();
    expect(full).toMatchObject({ deposits: [], releases: [], sessions: [], webhooks: [] });
    expect((await get('/payments?expand=deposits')).json().payments[0]).toMatchObject({ deposits: [] });
  });

  it('of another account are not found, by reading or canceling', async () => {
    const foreign = (await service.post(validRequest)).json().payment_id;
    expect((await get(`/payments/${foreign}`)).json()).toEqual({ error: 'Payment not found.' });
    expect([(await cancel(foreign)).statusCode, (await cancel('nonsense')).statusCode]).toEqual([404, 404]);
  });

  it('are answered with a tag, and with 304 until something changes', async () => {
    const id = await create();
    const first = await get(`/payments/${id}`);
    const tag = String(first.headers.etag);
    const again = await get(`/payments/${id}`, { 'if-none-match': `"other", W/${tag}` });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    await pay(id);
    expect((await get(`/payments/${id}`, { 'if-none-match': tag })).statusCode).toBe(200);
  });

  it('are canceled only while the chain was just read and nothing has arrived', async () => {
    const id = await create();
    expect((await cancel(id)).statusCode).toBe(409);
    const { observations } = service.store;
    await observations.startCursor({ number: 1, hash: '0x01', timestampMs: Date.now() });
    expect((await cancel(id)).json()).toMatchObject({ status: 'canceled', cancel_reason: 'merchant' });
    expect((await cancel(id)).statusCode).toBe(409);
  });

  it.each([
    ['/payments?limit=0', 'limit must be a whole number from 1 to 100'],
    [
      '/payments?display_status=unpaid',
      'display_status must be one of open, at_provider, declined, partially_paid, overpaid, paid, expired, canceled',
    ],
    ['/payments?status=open', 'status must be one of unpaid, paid, canceled'],
    ['/payments?limit=101', 'limit must be a whole number from 1 to 100'],
    ['/payments?limit=50&expand=deposits', 'limit must be at most 20 with expand'],
    ['/payments?before=x', 'before must be a payment id'],
    ['/payments?created_from=yesterday', 'created_from must be a time like 2026-11-01T00:00:00Z'],
    ['/payments?created_from=2026-13-01T00:00:00Z', 'created_from must be a time like 2026-11-01T00:00:00Z'],
    ['/payments?color=red', 'color is not known here'],
    ['/payments?expand=secrets', 'expand must be a list of deposits, releases, sessions, webhooks'],
    ['/events?after=-1', 'after must be a whole number from 0 to 9007199254740991'],
    ['/events?limit=1e2', 'limit must be a whole number from 1 to 100'],
    ['/days?days=367', 'days must be a whole number from 1 to 366'],
    ['/journal.csv', 'month must be a month like 2026-11'],
    ['/journal.csv?month=2026-13', 'month must be a month like 2026-11'],
    ['/journal.csv?month=2026-11-02', 'month must be a month like 2026-11'],
  ])('refuse %s', async (path, error) => {
    const answer = await get(path);
    expect([answer.statusCode, answer.json()]).toEqual([400, { error }]);
  });

  it('name what a provider charges for the rest, also after a session for it that was not paid', async () => {
    const id = await create({ amount: '100.00' });
    const { observations, payments } = service.store;
    const payment = await payments.findPayment(accountId, id as never);
    const from = await observations.readCursor();
    if (payment === null || from === null) throw new Error('the payment or the cursor is missing');
    const above = from.number + 1;
    const transactionHash = `0x${'6'.repeat(64)}`;
    const deposits = [{ ...depositOf(payment, above, 0, 60_000_000n), transactionHash }];
    const scan = { from, final: from, scannedTo: above, deposits, releases: [] };
    await observations.recordScan(scan, (view) => settle(view, { nowMs: Date.now() }));
    const session = { chargedCents: 38_78, receivedUnits: 60_000_000n, quotedUnits: 36_000_000n } as const;
    await payments.addSession(newSession(payment, session), () => ({
      change: { paidThresholdUnits: 95_280_000n },
    }));
    await numberAll();
    const { events } = (await get('/events')).json();
    const rests = [
      (await get(`/payments/${id}`)).json(),
      (await get('/payments?limit=1')).json().payments[0],
      events.find((event: { readonly type: string }) => event.type === 'payment.partially_paid').payment,
    ].map(({ rest }) => rest);
    const url = `https://pay.example.com/pay/${id}`;
    expect(rests).toEqual(Array(3).fill({ amount: '38.78', usdc_amount: '35.280000', url }));
  });
});

describe('events', () => {
  beforeAll(startShop);

  it('are read in order, and go on after the last one', async () => {
    expect((await get('/events')).json()).toEqual({ events: [], next_after: 0, has_more: false });
    const [first, second] = [await create(), await create()];
    await pay(first);
    await pay(second);
    await numberAll();
    const page = (await get('/events?limit=1')).json();
    expect(page).toMatchObject({
      events: [{ type: 'payment.paid', payment: { payment_id: first, status: 'paid' } }],
      next_after: page.events[0].number,
      has_more: true,
    });
    const rest = (await get(`/events?after=${page.next_after}`)).json();
    expect(rest).toMatchObject({
      events: [{ payment: { payment_id: second } }],
      next_after: rest.events[0].number,
      has_more: false,
    });
    const { next_after: last } = rest;
    expect((await get(`/events?after=${last}`)).json()).toEqual({
      events: [],
      next_after: last,
      has_more: false,
    });
  });

  it('contain no token, and no email address that was erased', async () => {
    const created = (await service.post({ ...validRequest, email: 'eve@example.com' }, headers())).json();
    await pay(created.payment_id);
    await numberAll();
    expect((await get('/events')).body).toContain('eve@example.com');
    await service.store.emails.eraseEmail({ accountId, id: created.payment_id });
    const { body } = await get('/events');
    for (const words of ['eve@example.com', created.ipn_token]) expect(body).not.toContain(words);
  });

  it('that are not kept any more are 410, with the number to continue after', async () => {
    const { newest } = await service.store.events.listEvents(accountId, 0, 1);
    await service.store.events.deleteEvents(Date.now() + 1_000, 1_000);
    const answer = await get('/events?after=0');
    expect([answer.statusCode, answer.json()]).toEqual([
      410,
      { error: `Events after 0 are not available. Continue with after=${newest}.`, code: 'cursor_expired' },
    ]);
    expect((await get(`/events?after=${newest}`)).json()).toMatchObject({ events: [] });
    // A restored database may end before the reader's number. What it adds has higher ones.
    expect((await get(`/events?after=${newest + 1}`)).json()).toMatchObject({ events: [] });
    expect((await get(`/events?after=${Date.now() + 60_000}`)).statusCode).toBe(410);
    expect(EVENT_RETENTION_MS).toBe(30 * 86_400_000);
  });
});

describe('sums by day', () => {
  beforeAll(startShop);

  it('count what was created and paid', async () => {
    await create({ amount: '12.50' });
    const paid = await create({ amount: '25.00', currency: 'USD' });
    await pay(paid);
    const { days } = (await get('/days?days=2')).json();
    expect(days).toHaveLength(2);
    expect(days.at(-1)).toMatchObject({
      created: 2,
      converted: 1,
      paid: 1,
      paid_amounts: { USD: '25.00' },
      received_amount: '25.000000',
      service_fees: '0.625000',
    });
  });
});

describe('the audit log', () => {
  beforeAll(startShop);

  it('is read newest first, in pages and by time, only of the account of a key with the scope for it', async () => {
    const other = await service.addAccount();
    const append = (id: string, atMs: number) =>
      service.store.audit.appendEntry(newEntry(id, { atMs, target: `${atMs}` }));
    for (const atMs of [1_000, 2_000, 3_000]) await append(accountId, atMs);
    await append(other.account.id, 2_000);
    const times = async (query: string) => {
      const { entries, next } = (await get(`/audit?${query}`)).json();
      return [entries.map(({ target }: { readonly target: string }) => Number(target)), next];
    };
    expect(await times('limit=2')).toEqual([[3_000, 2_000], 2]);
    expect(await times('limit=2&before=2')).toEqual([[1_000], null]);
    const range = 'created_from=1970-01-01T00:00:02Z&created_before=1970-01-01T00:00:03Z';
    expect(await times(range)).toEqual([[2_000], null]);
    expect((await get('/audit?before=x')).statusCode).toBe(400);
    const key = { name: 'usual' };
    const { plainKey } = await createKey(
      { accounts: service.store.accounts, nowMs: Date.now },
      accountId,
      key,
    );
    const refused = await get('/audit', { 'x-api-key': plainKey });
    expect([refused.statusCode, refused.json()]).toEqual([
      403,
      { error: 'The API key does not have the scope "audit".' },
    ]);
  });
});

describe('direct payments', () => {
  beforeAll(startShop);
  const { address, callback } = validRequest;
  const createDirect = (payload: object, more: Record<string, string> = {}) =>
    service.server.inject({
      method: 'POST',
      url: '/merchant/v1/direct-payments',
      headers: { ...headers(), ...more },
      payload,
    });

  it('are created with the whole value due, a page and a token, and listed', async () => {
    const made = (await createDirect({ address, callback, amount: '40.00', note: 'Order 3' })).json();
    expect(made).toMatchObject({ provider: 'direct', usdc_amount: '40.000000', status: 'unpaid' });
    expect(made.ipn_token).toMatch(/^ipn_/);
    expect(made.checkout_url).toContain(`/pay/${made.payment_id}`);
    const { payments } = (await get('/payments?provider=direct')).json();
    expect(payments.map(({ payment_id: id }: never) => id)).toEqual([made.payment_id]);
    expect((await service.status({ ipn_token: made.ipn_token }, headers())).json().amount).toBe('40.00');
  });

  it('take wallet and callback from the account where it has them', async () => {
    expect((await createDirect({ amount: '1.00' })).json().error).toBe('callback is required');
    const made = await service.addAccount({ wallet: address, defaultCallbackUrl: callback });
    const answer = await createDirect({ amount: '1.00' }, { 'x-api-key': made.apiKey });
    expect(answer.json()).toMatchObject({ payout_address: address, amount: '1.00' });
    const absent = { address: null, callback: null, currency: null, email: null, note: null };
    const nulls = await createDirect({ amount: '1.00', ...absent }, { 'x-api-key': made.apiKey });
    expect(nulls.json()).toMatchObject({ payout_address: address, amount: '1.00' });
  });

  it('are made once under an idempotency key, at once as well, and never as another payment', async () => {
    const order = { address, callback, amount: '5.00' };
    const key = { 'idempotency-key': 'order-9' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => createDirect(order, key)));
    expect(new Set(answers.map((answer) => answer.json().payment_id)).size).toBe(1);
    expect((await createDirect({ ...order, amount: '6.00' }, key)).statusCode).toBe(409);
    // The same key for a checkout is a conflict as well.
    expect((await service.post(order, { ...headers(), ...key })).statusCode).toBe(409);
  });
});

it('limits requests of a key, with the time to wait', async () => {
  const limited = await createApiService();
  try {
    const read = () =>
      limited.server.inject({
        url: '/merchant/v1/events',
        headers: { authorization: `Bearer ${limited.apiKey}` },
      });
    const answers = [];
    for (let index = 0; index < 121; index++) answers.push((await read()).statusCode);
    expect(answers.filter((status) => status === 200)).toHaveLength(120);
    expect((await read()).headers['retry-after']).toMatch(/^[1-9]\d?$/);
  } finally {
    await limited.close();
  }
});

describe('a key', () => {
  beforeAll(startShop);

  const operations = {
    'POST /api/v1/wallet': 'create',
    'GET /api/v1/wallet': 'create',
    'GET /api/v1/payment-status': 'read',
    'GET /merchant/v1/payments': 'read',
    'GET /merchant/v1/payments/01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4': 'read',
    'POST /merchant/v1/payments/01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4/cancel': 'cancel',
    'POST /merchant/v1/payments/01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4/refunds': 'refund',
    'GET /merchant/v1/payments/01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4/refunds': 'read',
    'GET /merchant/v1/refunds/rfd_5b484cd3e9340db05b48': 'read',
    'POST /merchant/v1/refunds/rfd_5b484cd3e9340db05b48/confirm': 'refund',
    'POST /merchant/v1/refunds/rfd_5b484cd3e9340db05b48/transaction': 'refund',
    'POST /merchant/v1/refunds/rfd_5b484cd3e9340db05b48/cancel': 'refund',
    'GET /merchant/v1/events': 'read',
    'GET /merchant/v1/audit': 'audit',
    'GET /merchant/v1/days': 'read',
    'GET /merchant/v1/journal.csv': 'read',
    'POST /merchant/v1/checkouts': 'create',
    'POST /merchant/v1/direct-payments': 'create',
  } as const;

  it.each(keyScopes)(
    'with the scope %s alone gets 403 for every other operation, and only for those',
    async (scope) => {
      const { plainKey } = await createKey({ accounts: service.store.accounts, nowMs: Date.now }, accountId, {
        name: 'one',
        scopes: [scope],
      });
      for (const [operation, needed] of Object.entries(operations)) {
        const [method, url] = operation.split(' ') as ['GET' | 'POST', string];
        const answer = await service.server.inject({ method, url, headers: { 'x-api-key': plainKey } });
        expect([operation, answer.statusCode === 403]).toEqual([operation, needed !== scope]);
        if (needed !== scope)
          expect(answer.json()).toEqual({ error: `The API key does not have the scope "${needed}".` });
      }
    },
  );

  it('needs a scope for every operation of the document that needs a key', () => {
    const described = apiDescription.operations
      .filter(({ needsKey }) => needsKey)
      .map(
        ({ method, path }) =>
          `${method.toUpperCase()} ${path.replace('{payment_id}', '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4').replace('{refund_id}', 'rfd_5b484cd3e9340db05b48')}`,
      );
    expect(Object.keys(operations).sort()).toEqual(described.sort());
  });
});
