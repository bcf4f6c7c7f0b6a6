import { describe, expect, it } from 'vitest';
import { updateAccount } from '../../src/accounts/manage-accounts.ts';
import { type ApiService, useApi, validRequest } from '../support/api-service.ts';
import { CUSTOMER_ADDRESS, payWithDeposit } from '../support/refunds.ts';

let service = {} as ApiService;
useApi((api) => (service = api), { requestsPerMinute: 1_000_000 });

const call = async (method: 'GET' | 'POST', path: string, payload?: object, headers: object = {}) => {
  const answer = await service.server.inject({
    method,
    url: `/merchant/v1${path}`,
    headers: { 'x-api-key': service.apiKey, ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, ...answer.json() };
};

async function givePaid(units = 25_000_000n, change: object = {}): Promise<string> {
  const created = await service.post({ ...validRequest, amount: '25.00', currency: 'USD' });
  const { payment_id: id } = created.json();
  await payWithDeposit(service.store, { id, accountId: service.account.id }, units, change);
  return id;
}

const open = (id: string, payload: object = {}, headers: object = {}) =>
  call('POST', `/payments/${id}/refunds`, { destination: CUSTOMER_ADDRESS, ...payload }, headers);

const openWithKey = (id: string, key: string, payload: object = {}, apiKey = service.apiKey) =>
  open(id, payload, { 'x-api-key': apiKey, 'idempotency-key': key });

describe('a refund', () => {
  it('of the whole payment is opened, read, submitted and canceled', async () => {
    const id = await givePaid();
    const opened = await open(id, { reason: 'Returned' });
    expect(opened).toMatchObject({
      status: 'awaiting_transfer',
      amount: '25.000000',
      reason: 'Returned',
      destination: CUSTOMER_ADDRESS,
    });
    expect(opened.payment_uri).toContain(`/transfer?address=${CUSTOMER_ADDRESS}&uint256=25000000`);
    const path = `/refunds/${opened.refund_id}`;
    expect(await call('GET', path)).toEqual({ ...opened });
    const hash = `0x${'5B'.repeat(32)}`;
    const submitted = await call('POST', `${path}/transaction`, { transaction: hash });
    expect(submitted).toMatchObject({ submitted_transaction: hash.toLowerCase(), transaction: null });
    const listed = await call('GET', `/payments/${id}/refunds`);
    expect(listed).toMatchObject({
      refunds: [{ refund_id: opened.refund_id }],
      refundable_amount: '0.000000',
    });
    expect(await call('POST', `${path}/cancel`)).toMatchObject({ status: 'canceled', payment_uri: null });
    expect(await call('POST', `${path}/cancel`)).toMatchObject({ error: 'The refund is canceled.' });
    expect((await call('GET', `/payments/${id}/refunds`)).refundable_amount).toBe('25.000000');
  });

  it('has events with the refund as it is now, and the payment keeps its status', async () => {
    const id = await givePaid();
    const opened = await open(id, { destination: CUSTOMER_ADDRESS, amount: '1.5' });
    await call('POST', `/refunds/${opened.refund_id}/cancel`);
    while ((await service.store.events.numberEvents(100)) > 0);
    const { events } = await call('GET', '/events');
    const own = events.filter(
      ({ payment }: { payment: { payment_id: string } }) => payment.payment_id === id,
    );
    expect(own).toMatchObject([
      { type: 'payment.paid', refund: null },
      { type: 'refund.opened', refund: { refund_id: opened.refund_id, status: 'canceled' } },
      { type: 'refund.canceled', payment: { status: 'paid' } },
    ]);
  });

  it('is of the surplus where an overpaid payment has one', async () => {
    const id = await givePaid(40_000_000n, { amountMismatch: 'overpaid' });
    expect(await open(id, { amount: 'surplus' })).toMatchObject({ amount: '15.000000' });
    expect(await open(await givePaid(), { amount: 'surplus' })).toMatchObject({
      error: 'The payment has no surplus.',
    });
  });

  it.each([
    [{ share: '50' }, '12.000000'],
    [{ charge_amount: '10' }, '9.600000'],
    [{ share: '33.33' }, '7.999200'],
    [{ charge_amount: '25' }, '24.000000'],
  ])('%j of a charge of 25.00, of which 24 USDC arrived, is of %s', async (payload, amount) => {
    expect(await open(await givePaid(24_000_000n), payload)).toMatchObject({ amount });
  });

  it('of the whole charge leaves the surplus, and its key is of this way to say how much', async () => {
    const id = await givePaid(40_000_000n, { amountMismatch: 'overpaid' });
    expect(await openWithKey(id, 'half', { share: '50' })).toMatchObject({ amount: '12.500000' });
    expect(await openWithKey(id, 'half', { share: '50' })).toMatchObject({ amount: '12.500000' });
    expect((await openWithKey(id, 'half', { charge_amount: '50' })).status).toBe(400);
    expect((await openWithKey(id, 'half', { amount: '50' })).status).toBe(409);
    expect((await openWithKey(id, 'half', { charge_amount: '12.5' })).status).toBe(409);
    expect(await open(id, { charge_amount: '12.50' })).toMatchObject({ amount: '12.499999' });
    expect((await call('GET', `/payments/${id}/refunds`)).refundable_amount).toBe('15.000001');
  });

  it('is not opened for a payment that can still be paid', async () => {
    const { payment_id: id } = (await service.post(validRequest)).json();
    expect((await open(id)).error).toContain('The payment is open');
  });

  it.each([
    [{ amount: '0' }, 'amount must be all, surplus, or an amount in USDC such as 12.50'],
    [{ amount: '1.0000001' }, 'amount must be all, surplus, or an amount in USDC such as 12.50'],
    [{ share: '0' }, 'share must be above 0 and at most 100 percent, with at most two decimals'],
    [{ share: '100.01' }, 'share must be above 0 and at most 100 percent, with at most two decimals'],
    [{ share: '12.345' }, 'share must be above 0 and at most 100 percent, with at most two decimals'],
    [
      { charge_amount: '25.01' },
      'charge_amount must be above 0 and at most the charge of 25.00 USD, with at most two decimals',
    ],
    [{ share: '50', amount: '1' }, 'share cannot be sent together with amount'],
    [{ reason: 'x'.repeat(201) }, 'reason must have at most 200 characters'],
    [
      { destination: '0x00' },
      'destination must be a Polygon address: 0x and 40 hex digits, with a correct checksum',
    ],
    [
      { destination: CUSTOMER_ADDRESS.replace('C44', 'c44') },
      'destination must be a Polygon address: 0x and 40 hex digits, with a correct checksum',
    ],
    [
      { destination: validRequest.address },
      'destination must not be an address of the merchant, of this service or of the token',
    ],
    [{ color: 'red' }, 'color is not known here'],
  ])('refuses %j', async (payload, error) => {
    expect(await open(await givePaid(), payload)).toEqual({ status: 400, error });
  });

  it('is refused for a key that opened another one, and a key of another account is another key', async () => {
    const [id, other] = [await givePaid(), await givePaid()];
    expect((await openWithKey(id, 'return-18', { amount: '5' })).status).toBe('awaiting_transfer');
    for (const [payment, payload] of [
      [id, { amount: '6' }],
      [id, { amount: '5', reason: 'x' }],
      [id, { amount: '5', destination: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' }],
      [other, { amount: '5' }],
    ] as const) {
      expect((await openWithKey(payment, 'return-18', payload)).status).toBe(409);
    }
    const { apiKey } = await service.addAccount();
    expect((await openWithKey(id, 'return-18', { amount: '5' }, apiKey)).status).toBe(404);
    expect((await openWithKey(id, 'has space', {})).status).toBe(400);
  });

  it('of another account is not found', async () => {
    const opened = await open(await givePaid());
    const { apiKey } = await service.addAccount();
    const answer = await call('GET', `/refunds/${opened.refund_id}`, undefined, { 'x-api-key': apiKey });
    expect(answer).toEqual({ status: 404, error: 'Refund not found.' });
  });
});

describe('an operation of a refund', () => {
  it('goes to no wallet of the merchant: neither to that of the payment nor to that of the settings', async () => {
    const id = await givePaid();
    const wallet = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
    const context = { accounts: service.store.accounts, nowMs: Date.now };
    await updateAccount(context as never, service.account.id, { profile: { wallet } });
    expect(await open(id, { destination: wallet })).toMatchObject({
      status: 400,
      error: 'destination must not be an address of the merchant, of this service or of the token',
    });
    await updateAccount(context as never, service.account.id, { profile: { wallet: null } });
  });

  it.each([
    ['nothing', undefined, {}],
    ['nothing, as JSON', '', { 'content-type': 'application/json' }],
    [
      'nothing, as a form',
      '',
      { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' },
    ],
    ['{}', '{}', { 'content-type': 'application/json' }],
    ["PHP's empty array", ' [ ]\n', { 'content-type': 'application/json' }],
  ])('without parameters takes a body of %s', async (_name, payload, headers) => {
    const { refund_id: refund } = await open(await givePaid());
    const answer = await service.server.inject({
      method: 'POST',
      url: `/merchant/v1/refunds/${refund}/cancel`,
      headers: { 'x-api-key': service.apiKey, ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    expect(answer.json()).toMatchObject({ status: 'canceled' });
  });

  it.each([['[1]'], ['null'], ['[[]]'], ['\ufeff[]']])(
    'without parameters refuses the body %j',
    async (payload) => {
      const { refund_id: refund } = await open(await givePaid());
      const headers = { 'x-api-key': service.apiKey, 'content-type': 'application/json' };
      const url = `/merchant/v1/refunds/${refund}/cancel`;
      expect((await service.server.inject({ method: 'POST', url, headers, payload })).statusCode).toBe(400);
    },
  );

  it('names a parameter that is not known, in the body and in the query', async () => {
    const id = await givePaid();
    const { refund_id: refund } = await open(id);
    for (const [method, path, payload] of [
      ['POST', `/payments/${id}/cancel`, { Foo: '1' }],
      ['POST', `/refunds/${refund}/cancel`, { Foo: '1' }],
      ['POST', `/refunds/${refund}/cancel?Foo=1`, {}],
      ['GET', `/payments/${id}/refunds?Foo=1`],
      ['GET', `/refunds/${refund}?Foo=1`],
      ['GET', '/payments?Foo=1'],
      ['POST', '/direct-payments?Foo=1', { address: validRequest.address, callback: 'https://a.example' }],
    ] as const) {
      const answer = await call(method, path, payload);
      expect([path, answer.status, answer.error]).toEqual([path, 400, 'Foo is not known here']);
    }
    expect(await call('GET', `/refunds/${refund}`)).toMatchObject({ status: 'awaiting_transfer' });
  });
});
