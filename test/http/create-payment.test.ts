import { expect, it } from 'vitest';
import { isPaymentId, paymentIdOfShortCode } from '../../src/payment/payment-id.ts';
import { type ApiService, BASE_URL, PAYOUT_ADDRESS, useApi, validRequest } from '../support/api-service.ts';

let service = {} as ApiService;
useApi((api) => (service = api), { requestsPerMinute: 1_000_000 });

const query = (parameters: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]));

it('answers a create with exactly the fields of the specification', async () => {
  const response = await service.post(validRequest);
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  const payment = response.json();
  expect(payment).toEqual({
    payment_id: expect.any(String),
    ipn_token: expect.stringMatching(/^ipn_[\w-]{81}$/),
    checkout_url: `${BASE_URL}/pay/${payment.payment_id}`,
    short_code: expect.any(String),
    short_url: `${BASE_URL}/s/${payment.short_code}`,
    callback_url: validRequest.callback,
    address_in: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    polygon_address_in: payment.address_in,
    payment_type: 'card',
    provider: 'multi',
    amount: '100.00',
    original_amount: null,
    customer_fee_amount: null,
    pass_fee_to_customer: false,
    fee_percent: 2.5,
    status: 'unpaid',
  });
  expect(isPaymentId(payment.payment_id)).toBe(true);
  expect(paymentIdOfShortCode(payment.short_code)).toBe(payment.payment_id);
});

it('keeps what was asked for: payout address, callback as supplied, defaults', async () => {
  const { payment_id } = (await service.post(validRequest)).json();
  const stored = await service.store.payments.findPaymentById(payment_id);
  expect(stored).toMatchObject({
    accountId: service.account.id,
    payoutAddress: PAYOUT_ADDRESS,
    callbackUrl: validRequest.callback,
    currency: 'USD',
    provider: 'multi',
    email: null,
    note: null,
    passFeeToCustomer: false,
  });
});

it('takes the same parameters as a query of GET and creates the same payment', async () => {
  const parameters = {
    ...validRequest,
    currency: 'EUR',
    passFeeToCustomer: 'true',
    provider: 'klarna',
    email: 'buyer+1@example.com',
    note: 'Bücher & <Tee> 🫖',
  };
  const fromQuery = (await service.get(parameters)).json();
  const fromJson = (await service.post({ ...parameters, passFeeToCustomer: true })).json();
  const same = (payment: Record<string, unknown>) => ({
    ...payment,
    payment_id: '',
    ipn_token: '',
    checkout_url: '',
    short_code: '',
    short_url: '',
    address_in: '',
    polygon_address_in: '',
  });
  expect(same(fromQuery)).toEqual(same(fromJson));
  const [first, second] = await Promise.all(
    [fromQuery, fromJson].map(({ payment_id }) => service.store.payments.findPaymentById(payment_id)),
  );
  expect(first).toMatchObject({ email: 'buyer+1@example.com', note: 'Bücher & <Tee> 🫖', currency: 'EUR' });
  expect({ ...first, id: '', depositAddress: '', createdAtMs: 0 }).toEqual({
    ...second,
    id: '',
    depositAddress: '',
    createdAtMs: 0,
  });
});

it('must not be cached, GET least of all', async () => {
  for (const response of [await service.post(validRequest), await service.get(query(validRequest))]) {
    expect([response.statusCode, response.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(response.headers['x-content-type-options']).toBe('nosniff');
  }
});

it.each([{ passFeeToCustomer: true }, { pass_fee_to_customer: true }])(
  'raises the amount under fee pass-through so that the merchant nets what was requested: %j',
  async (flag) => {
    const payment = (await service.post({ ...validRequest, ...flag })).json();
    expect(payment).toMatchObject({
      amount: '102.57',
      original_amount: '100.00',
      customer_fee_amount: '2.57',
      pass_fee_to_customer: true,
      fee_percent: 2.5,
    });
  },
);

it('refuses a total above 10000 under fee pass-through, and takes the largest that fits', async () => {
  const largest = await service.post({ ...validRequest, amount: '9750.00', passFeeToCustomer: true });
  expect(largest.json()).toMatchObject({ amount: '10000.00', original_amount: '9750.00' });
  const refused = await service.post({ ...validRequest, amount: '9750.01', passFeeToCustomer: true });
  expect(refused.statusCode).toBe(400);
  expect(refused.json()).toEqual({ error: 'amount including fees must not exceed 10000.00' });
});

it.each([
  [29, 0.29],
  [257, 2.57],
  [1000, 10],
])('shows a fee of %i basis points as %d percent', async (feeBasisPoints, percent) => {
  const { apiKey } = await service.addAccount({ feeBasisPoints });
  expect((await service.post(validRequest, { 'x-api-key': apiKey })).json().fee_percent).toBe(percent);
});

it.each([
  [{}, ''],
  [{ provider: 'moonpay' }, '?auto=1'],
  [{ email: 'a@example.com' }, '?email=a%40example.com'],
  [{ provider: 'moonpay', email: 'a@example.com' }, '?auto=1&email=a%40example.com'],
  [{ email: "o'neil+tag@example.com" }, '?email=o%27neil%2Btag%40example.com'],
  [{ email: 'a&b=c?d#e@example.com' }, null],
  [{ email: '' }, ''],
])('builds checkout_url for %j', async (parameters, suffix) => {
  const response = await service.post({ ...validRequest, ...parameters });
  if (suffix === null) {
    // "#", "&" and "?" are letters of a mailbox for HTML, so they must come out encoded.
    const url = new URL(response.json().checkout_url);
    expect(url.searchParams.get('email')).toBe('a&b=c?d#e@example.com');
    expect([...url.searchParams.keys()]).toEqual(['email']);
    expect(url.hash).toBe('');
    return;
  }
  const { checkout_url, payment_id } = response.json();
  expect(checkout_url).toBe(`${BASE_URL}/pay/${payment_id}${suffix}`);
});

it.each([
  ['amount', { amount: 0.29 }, { amountCents: 29 }],
  ['currency null', { currency: null }, { currency: 'USD' }],
  ['provider null', { provider: null }, { provider: 'multi' }],
  ['passFeeToCustomer null', { passFeeToCustomer: null }, { passFeeToCustomer: false }],
  ['pass_fee_to_customer null', { pass_fee_to_customer: null }, { passFeeToCustomer: false }],
  [
    'one of both null',
    { passFeeToCustomer: false, pass_fee_to_customer: null },
    { passFeeToCustomer: false },
  ],
  ['email null', { email: null }, { email: null }],
  ['note null', { note: null }, { note: null }],
  ['email of spaces', { email: '  ' }, { email: null }],
  ['email with spaces around', { email: ' a@example.com ' }, { email: 'a@example.com' }],
  ['unknown fields', { foo: { bar: [1] }, status: 'paid', payment_id: 'x' }, { status: 'unpaid' }],
  [
    'both aliases agreeing',
    { passFeeToCustomer: false, pass_fee_to_customer: false },
    { passFeeToCustomer: false },
  ],
])('accepts %s', async (_name, change, stored) => {
  const response = await service.post({ ...validRequest, ...change });
  expect(response.statusCode).toBe(200);
  expect(await service.store.payments.findPaymentById(response.json().payment_id)).toMatchObject(stored);
});

it('returns a callback as supplied, whatever JSON must escape in it', async () => {
  const callback = 'https://shop.example.com/hook?a="b"&c=ü';
  expect((await service.post({ ...validRequest, callback })).json().callback_url).toBe(callback);
});

it('refuses to pay out to the deposit address of a payment, as it refuses any address of the service', async () => {
  const { address_in } = (await service.post(validRequest)).json();
  const refused = await service.post({ ...validRequest, address: address_in.toLowerCase() });
  expect(refused.statusCode).toBe(400);
  expect(refused.json().error).toBe('address belongs to the service and cannot receive payouts');
});
