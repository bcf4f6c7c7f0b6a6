import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { formatSignedCents } from '../../src/payment/money.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { forwardedWebhook, paidWebhook } from '../../src/payment/payment-events.ts';
import { settle } from '../../src/payment/settle.ts';
import { type ApiService, useApi, validRequest } from '../support/api-service.ts';

let service = {} as ApiService;
let apiKey: string;
let accountId: string;
useApi((api) => (service = api), { requestsPerMinute: 1_000_000 });

const HOSTS = ['shop.example', 'shop.example:8443', 'xn--bcher-kva.example', 'localhost:3005'];

beforeAll(async () => {
  const made = await service.addAccount({ returnHosts: HOSTS });
  apiKey = made.apiKey;
  accountId = made.account.id;
});

const order = {
  ...validRequest,
  amount: '25.00',
  currency: 'EUR',
  reference: 'order_\u200e1/é',
  metadata: { session: 'payses_01', cart: '' },
  items: [
    { name: 'Tea', quantity: 2, amount: '30.00' },
    { name: 'Voucher', amount: '-5.00' },
  ],
  return_url: 'https://shop.example/thanks?order={payment_id}#top',
  cancel_url: 'https://SHOP.example:8443/cart',
  expires_in_seconds: 3_600,
};

const create = (change: object = {}, headers: Record<string, string> = {}) =>
  service.server.inject({
    method: 'POST',
    url: '/merchant/v1/checkouts',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
    payload: JSON.stringify({ ...order, ...change }),
  });
const get = async (path: string) =>
  (await service.server.inject({ url: `/merchant/v1${path}`, headers: { 'x-api-key': apiKey } })).json();

describe('a checkout of a platform', () => {
  const shown = {
    reference: order.reference,
    metadata: order.metadata,
    items: [
      { name: 'Tea', quantity: 2, amount: '30.00' },
      { name: 'Voucher', quantity: 1, amount: '-5.00' },
    ],
    return_url: order.return_url,
    cancel_url: 'https://shop.example:8443/cart',
  };

  it('has its order in the answers and events of the merchant API, and in nothing else', async () => {
    const made = (await create()).json();
    expect(made).toMatchObject({ ...shown, provider: 'multi', amount: '25.00', status: 'unpaid' });
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(3_600_000);
    const { payment_id: id, ipn_token } = made;
    const payment = await service.store.payments.decidePayment(id, (view) =>
      settle(view, { nowMs: Date.now(), expiredBeforeMs: Number.POSITIVE_INFINITY }),
    );
    while ((await service.store.events.numberEvents(100)) > 0);
    expect((await get('/events')).events.at(-1).payment).toMatchObject({ payment_id: id, ...shown });
    expect(await get(`/payments/${id}`)).toMatchObject(shown);
    const status = await service.status({ ipn_token }, { 'x-api-key': apiKey });
    const created = await service.post(validRequest, { 'x-api-key': apiKey });
    const webhooks = [paidWebhook, forwardedWebhook].map((webhookOf) => webhookOf(payment as Payment));
    for (const text of [status.body, created.body, JSON.stringify(webhooks)])
      expect(text).not.toMatch(
        /payses_01|Tea|shop\.example\/|8443|reference|metadata|items|_url"?:null|usd_rate|expires/,
      );
  });

  it('is found by its reference alone, exactly', async () => {
    const { payment_id: id } = (await create({ reference: 'Order 77' })).json();
    const listed = async (query: string) =>
      (await get(`/payments?${query}`)).payments.map(({ payment_id }: never) => payment_id);
    expect(await listed('reference=Order+77')).toEqual([id]);
    expect(await listed('reference=Order+77&status=paid')).toEqual([]);
    expect(await listed('reference=order+77')).toEqual([]);
    expect(await listed('search=order+77')).toEqual([id]);
    const { apiKey: foreign } = await service.addAccount();
    const url = '/merchant/v1/payments?reference=Order+77';
    const answer = await service.server.inject({ url, headers: { 'x-api-key': foreign } });
    expect(answer.json().payments).toEqual([]);
  });

  it('is made once under its key, whatever the order of the metadata, and not with other metadata', async () => {
    const key = { 'idempotency-key': 'cart-1' };
    const answers = await Promise.all(Array.from({ length: 4 }, () => create({}, key)));
    const again = await create({ metadata: { cart: '', session: 'payses_01' } }, key);
    const ids = [...answers, again].map((answer) => answer.json().payment_id);
    expect(new Set(ids).size).toBe(1);
    for (const change of [{ metadata: { cart: '1' } }, { items: null }, { expires_in_seconds: 3_601 }])
      expect([change, (await create(change, key)).statusCode]).toEqual([change, 409]);
    // The first request succeeded, which its caller must learn also after the host was removed.
    await service.store.accounts.updateAccount(accountId, { returnHosts: [] });
    expect((await create({}, key)).json().payment_id).toBe(ids[0]);
    expect((await create()).json().error).toContain('return_url leads to shop.example, which is not');
    await service.store.accounts.updateAccount(accountId, { returnHosts: HOSTS });
  });

  it('needs only what /api/v1/wallet needs, and takes wallet and callback from the account', async () => {
    const { address: wallet, callback: defaultCallbackUrl } = validRequest;
    const made = await service.addAccount({ wallet, defaultCallbackUrl });
    const absent = Object.fromEntries(Object.keys(order).map((name) => [name, null]));
    const answer = await create({ ...absent, amount: 1 }, { 'x-api-key': made.apiKey });
    const nothing = { reference: null, metadata: {}, items: [], return_url: null, expires_at: null };
    expect(answer.json()).toMatchObject({ payout_address: wallet, amount: '1.00', ...nothing });
  });

  it('loses its metadata with the email address, also by the retention of the account', async () => {
    const erased = (await create({ email: null })).json().payment_id;
    const kept = (await create({ email: null, metadata: null })).json().payment_id;
    const { emails } = service.store;
    expect(await emails.eraseEmail({ accountId, id: erased })).toBe('erased');
    expect(await emails.eraseEmail({ accountId, id: kept })).toBe('none');
    expect((await get(`/payments/${erased}`)).metadata).toEqual({});
    const later = (await create({ email: null })).json().payment_id;
    while ((await emails.eraseEmailsBefore(accountId, Date.now() + 60_000, 100)).hasMore);
    expect(await get(`/payments/${later}`)).toMatchObject({ metadata: {}, reference: order.reference });
  });
});

describe('a create of a checkout is refused', () => {
  it.each<[object, string]>([
    [{ reference: '' }, 'reference must be text of 1 to 200 characters'],
    [{ reference: 'x'.repeat(201) }, 'reference must be text'],
    [{ reference: 'a\u0000b' }, 'reference must be text'],
    [{ reference: '\ud800' }, 'reference must be text'],
    [{ reference: 'a\u202eb' }, 'reference must be text'],
    [{ reference: 7 }, 'reference must be text'],
    [{ metadata: [] }, 'metadata must be an object with at most 20 keys'],
    [{ metadata: { 'a b': '1' } }, 'metadata must have keys of 1 to 40 letters'],
    [{ metadata: { a: 1 } }, 'metadata.a must be text of 0 to 500 characters'],
    [{ metadata: { a: 'x'.repeat(501) } }, 'metadata.a must be text'],
    [{ items: [] }, 'items must be a list of 1 to 50 items'],
    [{ items: [{ name: 'a\nb', amount: '25.00' }] }, 'items[0].name must be one line'],
    [{ items: [{ name: 'Tea', amount: '25.001' }] }, 'items[0].amount must be a decimal text'],
    [{ items: [{ name: 'Tea', amount: 25 }] }, 'items[0].amount must be a decimal text'],
    [{ items: [{ name: 'Tea', amount: '25.00', quantity: 0 }] }, 'items[0].quantity must be a whole number'],
    [{ items: [{ name: 'Tea', amount: '25.00', price: 1 }] }, 'items[0] must have only'],
    [
      { items: [{ name: 'Tea', amount: '24.99' }] },
      'items must add up to 25.00, the amount: they are 0.01 less',
    ],
    [{ expires_in_seconds: 899 }, 'expires_in_seconds must be a whole number from 900 to 604800'],
    [{ expires_in_seconds: '3600' }, 'expires_in_seconds must be'],
    [{ retrun_url: 'https://shop.example/' }, 'retrun_url is not known here'],
    ...[
      'javascript:alert(1)',
      '//shop.example/',
      '/thanks',
      'http://shop.example/',
      'https://user:secret@shop.example/',
      'https://shop.example/{order}',
      `https://shop.example/${'x'.repeat(2_048)}`,
      '',
    ].map((url): [object, string] => [{ return_url: url }, 'return_url must']),
    ...[
      'https://evil.example/?https://shop.example/',
      'https://shop.example.evil.example/',
      'https://shop.example./',
      'https://shop.example:444/',
      'https:\\\\evil.example\\@shop.example/',
      'https://www.shop.example/',
      'https://shop.example:8443.evil.example/',
    ].map((url): [object, string] => [{ cancel_url: url }, 'cancel_url']),
  ])('%j', async (change, error) => {
    const answer = await create(change);
    expect([answer.statusCode, answer.json().error]).toEqual([400, expect.stringContaining(error)]);
  });

  it.each([
    ['https://SHOP.example:443/a', 'https://shop.example/a'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['http://localhost:3005/back', 'http://localhost:3005/back'],
  ])('but not for %s', async (url, normalized) => {
    expect((await create({ return_url: url, cancel_url: null })).json().return_url).toBe(normalized);
  });

  it('exactly when the amounts of its items do not add up to the cent', async () => {
    const cents = fc.integer({ min: -99_999_999, max: 99_999_999 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(cents, { maxLength: 20 }),
        fc.integer({ min: -1, max: 1 }),
        async (some, off) => {
          const amount = 2_500 - off;
          const last = amount - some.reduce((sum, one) => sum + one, 0);
          fc.pre(Math.abs(last) <= 99_999_999);
          const items = [...some, last].map((value) => ({ name: 'Line', amount: formatSignedCents(value) }));
          const answer = await create({ items, amount: '25.00' });
          expect(answer.statusCode).toBe(off === 0 ? 200 : 400);
          if (off !== 0) expect(answer.json().error).toContain(`0.01 ${off === 1 ? 'less' : 'more'}`);
        },
      ),
      { numRuns: 25 },
    );
  });
});
