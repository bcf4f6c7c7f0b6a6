import { expect, it } from 'vitest';
import { ServiceError } from '../../src/payment/errors.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { type ApiService, useFreshApi, validRequest } from '../support/api-service.ts';
import { FACTORY } from '../support/payment-context.ts';

let service = {} as ApiService;
useFreshApi((api) => (service = api));

const withKey = (key: string, change: object = {}, headers: object = {}) =>
  service.post({ ...validRequest, ...change }, { 'idempotency-key': key, ...headers });
const countPayments = async () => (await service.store.payments.listPayments({}, null, 100)).length;

it('answers the same request with the same payment, byte for byte', async () => {
  const first = await withKey('order-1');
  const second = await withKey('order-1');
  expect(second.statusCode).toBe(200);
  expect(second.body).toBe(first.body);
  expect(await countPayments()).toBe(1);
});

it('compares what is asked for, not how: defaults, notations, POST and GET', async () => {
  const first = await withKey('order-1', { amount: '100.00' });
  const spelled = {
    amount: 100,
    currency: 'USD',
    provider: null,
    email: '',
    passFeeToCustomer: false,
    other: 1,
  };
  expect((await withKey('order-1', spelled)).body).toBe(first.body);
  expect((await withKey('order-1', { address: validRequest.address.toLowerCase() })).body).toBe(first.body);
  const byGet = await service.get({ ...validRequest, amount: '100' }, { 'idempotency-key': 'order-1' });
  expect(byGet.body).toBe(first.body);
  expect(await countPayments()).toBe(1);
});

it.each([
  { amount: '100.01' },
  { currency: 'EUR' },
  { callback: 'https://shop.example.com/other' },
  { address: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359' },
  { passFeeToCustomer: true },
  { provider: 'wert' },
  { email: 'a@example.com' },
  { note: 'x' },
])('answers 409 when the key comes back with %j', async (change) => {
  await withKey('order-1');
  const response = await withKey('order-1', change);
  expect(response.statusCode).toBe(409);
  expect(response.json()).toEqual({ error: 'The Idempotency-Key was already used with other parameters.' });
});

it('forgets a key after 24 hours', async () => {
  const first = await withKey('order-1');
  service.advance(24 * 3_600_000 - 60_000);
  expect((await withKey('order-1')).body).toBe(first.body);
  service.advance(120_000);
  const later = await withKey('order-1', { amount: '5.00' });
  expect(later.statusCode).toBe(200);
  expect(later.json().payment_id).not.toBe(first.json().payment_id);
});

it('keeps only successes', async () => {
  service.world.quote = async () => {
    throw new ServiceError('provider_unavailable');
  };
  expect((await withKey('order-1', { provider: 'stripe' })).statusCode).toBe(502);
  expect((await withKey('order-1', { amount: 'x' })).statusCode).toBe(400);
  expect((await withKey('order-1', { provider: 'multi' })).statusCode).toBe(200);
});

it('replays what once succeeded even where it would not succeed today', async () => {
  const first = await withKey('order-1', { provider: 'stripe' });
  await service.store.providers.writeProviderSettings('stripe', { active: false });
  await service.store.accounts.updateAccount(service.account.id, { suspended: true });
  expect((await withKey('order-1', { provider: 'stripe' })).body).toBe(first.body);
});

it('replays what passed the checks of form then, and would not by now', async () => {
  const largest = { amount: '9750.00', passFeeToCustomer: true };
  const grossed = await withKey('order-1', largest);
  expect(grossed.statusCode).toBe(200);
  const toOther = await withKey('order-2', { address: FACTORY });
  await service.store.accounts.updateAccount(service.account.id, { feeBasisPoints: 500 });
  service.world.reserved.add(FACTORY);
  expect((await withKey('order-3', largest)).statusCode).toBe(400);
  expect((await withKey('order-3', { address: FACTORY })).statusCode).toBe(400);
  expect((await withKey('order-1', largest)).body).toBe(grossed.body);
  expect((await withKey('order-2', { address: FACTORY })).body).toBe(toOther.body);
  // Another request with a used key is judged by its form first, as ever.
  expect((await withKey('order-2', largest)).statusCode).toBe(400);
  expect((await withKey('order-2', { amount: '1.00' })).statusCode).toBe(409);
});

it('answers a replay as at creation, whatever has become of the payment', async () => {
  const first = await withKey('order-1');
  const stored = (await service.store.payments.findPaymentById(first.json().payment_id)) as Payment;
  await service.store.payments.decidePayment(stored.id, () => ({
    change: { status: 'canceled', forwardStatus: 'canceled', cancelReason: 'merchant' },
  }));
  await service.store.accounts.updateAccount(service.account.id, { feeBasisPoints: 500 });
  expect((await withKey('order-1')).body).toBe(first.body);
});

it('makes one payment of concurrent twins, and answers both with it', async () => {
  const twins = await Promise.all(Array.from({ length: 40 }, () => withKey('order-1')));
  expect(new Set(twins.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  expect([new Set(twins.map(({ body }) => body)).size, await countPayments()]).toEqual([1, 1]);
});

it('lets one of two concurrent different requests win and answers the other with 409', async () => {
  const pair = await Promise.all([withKey('order-1'), withKey('order-1', { amount: '5.00' })]);
  expect(pair.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
  expect(await countPayments()).toBe(1);
});

it.each(['x', '~!"#$', 'k'.repeat(255)])('takes the key %j', async (key) => {
  expect((await withKey(key)).statusCode).toBe(200);
});

it.each([
  ['an empty one', ''],
  ['256 characters', 'k'.repeat(256)],
  ['a space within', 'a b'],
  ['letters beyond ASCII', 'schlüssel'],
  ['the header twice', ['a', 'a']],
])('answers 400 to %s', async (_name, key) => {
  const response = await withKey(key as string);
  expect(response.statusCode).toBe(400);
  expect(response.json().error).toBe(
    'Idempotency-Key must be one header of 1 to 255 visible ASCII characters',
  );
});
