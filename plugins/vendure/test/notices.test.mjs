// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { itemsOf, keyOf } from '../dist/amounts.js';
import { noticeOfPayment, noticeOfRefund } from '../dist/notices.js';
import { requireOptions } from '../dist/options.js';

const paymentOf = (status, forwardStatus, received, mismatch = null) => ({
  status,
  forward_status: forwardStatus,
  value_coin: received,
  amount_mismatch: mismatch,
});

test('tells of late money, surplus, parts and held releases, and of nothing in the usual course', () => {
  for (const [payment, words] of [
    [paymentOf('unpaid', 'pending', '0.000000'), null],
    [paymentOf('unpaid', 'processing', '24.000000'), null],
    [paymentOf('paid', 'completed', '24.000000'), null],
    [paymentOf('canceled', 'canceled', '0.000000'), null],
    [paymentOf('canceled', 'manual_required', '0.009999'), null],
    [paymentOf('canceled', 'manual_required', '24.000000'), 'Release it in the dashboard'],
    [paymentOf('canceled', 'completed', '24.000000'), 'went to your wallet'],
    [paymentOf('paid', 'completed', '48.000000', 'overpaid'), 'Refund the surplus'],
    [paymentOf('unpaid', 'pending', '12.000000', 'partially_paid'), 'pay the rest'],
    [paymentOf('unpaid', 'manual_required', '24.000000'), 'Do not ship'],
  ]) {
    const notice = noticeOfPayment(payment);
    if (words === null) assert.equal(notice, null);
    else assert.ok(notice.includes(words) && notice.includes(payment.value_coin), notice);
  }
});

test('tells what a refund needs of a person, and when it ended without a transfer', () => {
  const refund = { refund_id: 'rfd_1', amount: '12.000000', destination: '0x1' };
  const noticeIn = (status) => noticeOfRefund({ ...refund, status });
  assert.equal(noticeIn('awaiting_address'), null);
  assert.equal(noticeIn('paid'), null);
  assert.match(noticeIn('awaiting_confirmation'), /0x1.*confirm it/);
  assert.match(noticeIn('awaiting_transfer'), /Transfer 12\.000000 USDC to 0x1/);
  for (const status of ['canceled', 'expired']) assert.match(noticeIn(status), /without a transfer/);
});

test('shows lines only if they add up to the amount', () => {
  const lines = [
    ['Tea', 2, 2380],
    ['', 1, 495],
    ['Voucher', 1, -500],
    ['Gift', 1, 0],
    ['Gone', 0, 900],
  ];
  assert.deepEqual(itemsOf(lines, 2375), [
    { name: 'Tea', quantity: 2, amount: '23.80' },
    { name: '-', quantity: 1, amount: '4.95' },
    { name: 'Voucher', quantity: 1, amount: '-5.00' },
  ]);
  assert.equal(itemsOf(lines, 2376), null);
  assert.equal(itemsOf(Array(51).fill(['Tea', 1, 1]), 51), null);
});

test('gives a changed request another idempotency key', () => {
  assert.equal(keyOf('A', 1, { amount: '1.00' }), keyOf('A', 1, { amount: '1.00' }));
  assert.notEqual(keyOf('A', 1, { amount: '1.00' }), keyOf('A', 1, { amount: '1.01' }));
  assert.match(keyOf('Ä', 1), /^[0-9a-f]{64}$/);
});

test('refuses to start without a usable URL, key or signing secret, by name', () => {
  const usable = {
    url: 'https://pay.example.com',
    apiKey: 'service_live_x',
    webhookSecret: 'whsec_MfKQ9r8GKYqrTwjU',
  };
  assert.equal(requireOptions(usable), usable);
  for (const [name, value] of [
    ['url', ''],
    ['apiKey', ''],
    ['webhookSecret', ''],
    ['webhookSecret', 'abc'],
    ['webhookSecret', undefined],
  ])
    assert.throws(() => requireOptions({ ...usable, [name]: value }), new RegExp(`option ${name}`));
});
