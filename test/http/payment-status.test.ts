import { expect, it } from 'vitest';
import { createIpnTokens } from '../../src/payment/ipn-token.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { type ApiService, useApi, validRequest } from '../support/api-service.ts';

let service = {} as ApiService;
useApi((api) => (service = api), { requestsPerMinute: 1_000_000 });

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

it('answers with exactly the fields of the specification, by id and by token alike', async () => {
  const created = (await service.post({ ...validRequest, currency: 'EUR', passFeeToCustomer: true })).json();
  const byId = await service.status({ payment_id: created.payment_id });
  expect([byId.statusCode, byId.headers['cache-control']]).toEqual([200, 'no-store']);
  expect(byId.json()).toEqual({
    payment_id: created.payment_id,
    status: 'unpaid',
    forward_status: 'pending',
    amount: '102.57',
    original_amount: '100.00',
    customer_fee_amount: '2.57',
    pass_fee_to_customer: true,
    currency: 'EUR',
    coin: 'polygon_usdc',
    value_coin: '0.000000',
    forwarded_amount: '0.000000',
    txid_in: null,
    txid_out: null,
    address_in: created.address_in,
    paid_at: null,
    created_at: expect.stringMatching(isoTime),
  });
  expect((await service.status({ ipn_token: created.ipn_token })).body).toBe(byId.body);
});

it('shows what a paid payment received and forwarded, with both transactions', async () => {
  const { payment_id } = (await service.post(validRequest)).json();
  const stored = (await service.store.payments.findPaymentById(payment_id)) as Payment;
  await service.store.payments.decidePayment(stored.id, () => ({
    change: {
      status: 'paid',
      forwardStatus: 'completed',
      paidAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
      receivedUnits: 98_765_432n,
      forwardedUnits: 96_296_297n,
      txidIn: `0x${'a'.repeat(64)}`,
      txidOut: `0x${'b'.repeat(64)}`,
    },
  }));
  expect((await service.status({ payment_id })).json()).toMatchObject({
    status: 'paid',
    forward_status: 'completed',
    value_coin: '98.765432',
    forwarded_amount: '96.296297',
    txid_in: `0x${'a'.repeat(64)}`,
    txid_out: `0x${'b'.repeat(64)}`,
    paid_at: '2026-01-02T03:04:05.678Z',
    original_amount: null,
    customer_fee_amount: null,
  });
});

it('lets the token take precedence when both are sent', async () => {
  const [first, second] = await Promise.all([service.post(validRequest), service.post(validRequest)]);
  const both = { ipn_token: first.json().ipn_token, payment_id: second.json().payment_id };
  expect((await service.status(both)).json().payment_id).toBe(first.json().payment_id);
  const forged = { ...both, ipn_token: `${both.ipn_token.slice(0, -1)}!` };
  expect((await service.status(forged)).statusCode).toBe(404);
});

it.each(['', 'garbage', '\u0000', 'x'.repeat(2_000)])(
  'does not look at payment_id %j beside a token',
  async (paymentId) => {
    const { ipn_token, payment_id } = (await service.post(validRequest)).json();
    const answer = await service.status({ ipn_token, payment_id: paymentId });
    expect(answer.statusCode).toBe(200);
    expect(answer.json().payment_id).toBe(payment_id);
  },
);

it('takes a payment_id in upper case for the same id', async () => {
  const { payment_id } = (await service.post(validRequest)).json();
  const answer = await service.status({ payment_id: payment_id.toUpperCase() });
  expect(answer.statusCode).toBe(200);
  expect(answer.json().payment_id).toBe(payment_id);
});

it.each([
  ['neither parameter', '', 'Either ipn_token or payment_id is required.'],
  ['only unknown parameters', 'id=1', 'Either ipn_token or payment_id is required.'],
  ['payment_id twice', 'payment_id=a&payment_id=b', 'payment_id must be given only once'],
  ['ipn_token twice', 'ipn_token=a&ipn_token=a', 'ipn_token must be given only once'],
  ['an empty payment_id', 'payment_id=', 'payment_id must not be empty'],
  ['an empty ipn_token', 'ipn_token=&payment_id=x', 'ipn_token must not be empty'],
  ['broken percent-encoding', 'payment_id=%', 'The query must be percent-encoded UTF-8.'],
])('answers 400 to %s', async (_name, query, error) => {
  const response = await service.status(query);
  expect(response.statusCode).toBe(400);
  expect(response.json()).toEqual({ error });
});

it("answers another account's payment byte for byte as an unknown one, by id and by token", async () => {
  const other = await service.addAccount();
  const foreign = (await service.post(validRequest, { 'x-api-key': other.apiKey })).json();
  const own = (await service.post(validRequest)).json();
  const ownTokenForItsId = `${own.ipn_token.slice(0, 10)}${foreign.payment_id.replaceAll('-', '')}${own.ipn_token.slice(42)}`;
  const unknownId = createPaymentIdGenerator(Date.now)();
  const unknownToken = createIpnTokens('a secret key of the tests, long enough').create(unknownId);
  const answers = await Promise.all([
    service.status({ payment_id: unknownId }),
    service.status({ payment_id: foreign.payment_id }),
    service.status({ ipn_token: foreign.ipn_token }),
    service.status({ ipn_token: unknownToken }),
    service.status({ payment_id: 'nonsense' }),
    service.status({ ipn_token: 'nonsense' }),
    service.status({ payment_id: foreign.payment_id.toUpperCase() }),
    service.status({ payment_id: "' OR 1=1 --" }),
    service.status({ ipn_token: foreign.ipn_token, payment_id: own.payment_id }),
    service.status({ ipn_token: ownTokenForItsId }),
    service.status({ payment_id: foreign.short_code }),
    service.status({ payment_id: foreign.address_in }),
    service.status({ payment_id: other.account.id }),
    service.status({ payment_id: foreign.ipn_token }),
  ]);
  const seen = answers.map(({ statusCode, body, headers }) =>
    JSON.stringify([statusCode, body, { ...headers, date: '', 'x-request-id': '' }]),
  );
  expect(answers[0]?.statusCode).toBe(404);
  expect(answers[0]?.json()).toEqual({ error: 'Payment not found.' });
  expect(new Set(seen).size).toBe(1);
  const owner = await service.status({ payment_id: foreign.payment_id }, { 'x-api-key': other.apiKey });
  expect(owner.statusCode).toBe(200);
});

it('goes on answering for a suspended account, which can create nothing more', async () => {
  const { account, apiKey } = await service.addAccount();
  const headers = { 'x-api-key': apiKey };
  const { payment_id } = (await service.post(validRequest, headers)).json();
  await service.store.accounts.updateAccount(account.id, { suspended: true });
  expect((await service.post(validRequest, headers)).statusCode).toBe(403);
  const status = await service.status({ payment_id }, headers);
  expect([status.statusCode, status.json().status]).toEqual([200, 'unpaid']);
});
