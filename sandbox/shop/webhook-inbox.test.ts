import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { createWebhookInbox } from './webhook-inbox.ts';

const NOW_MS = Date.now();
const paymentId = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';
const other = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f5';
const token = 'ipn_test';
const createInbox = () =>
  createWebhookInbox(
    (id) => (id === paymentId ? token : null),
    () => NOW_MS,
  );

function bodyOf(id: string): string {
  return JSON.stringify({
    event: 'payment.paid',
    id,
    paymentId: id,
    status: 'paid',
    amount: '25.00',
    currency: 'USD',
    timestamp: Math.floor(NOW_MS / 1000),
  });
}
const sign = (body: string) => createHmac('sha256', token).update(body).digest('hex');

it('accepts a genuine webhook, refuses forged ones and what is none, and keeps all of them, newest first', async () => {
  const inbox = createInbox();
  const body = bodyOf(paymentId);
  expect(await inbox.receive(body, sign(body))).toBe(200);
  expect(await inbox.receive(body.replace('25.00', '0.01'), sign(body))).toBe(401);
  expect(await inbox.receive(body, undefined)).toBe(401);
  expect(await inbox.receive(bodyOf(other), sign(bodyOf(other)))).toBe(401);
  expect(await inbox.receive('[', 'x')).toBeGreaterThanOrEqual(400);
  const listed = inbox.list();
  expect(listed.map(({ problem }) => problem === null)).toEqual([false, false, false, false, true]);
  expect(listed.at(-1)).toEqual({
    receivedAtMs: NOW_MS,
    paymentId,
    rawBody: body,
    signature: sign(body),
    problem: null,
  });
});

it('keeps the last fifty, each cut to what a page can show', async () => {
  const inbox = createInbox();
  for (let count = 0; count < 60; count++)
    await inbox.receive(`${count} ${'x'.repeat(50_000)}`, 'y'.repeat(9_000));
  expect(inbox.list()).toHaveLength(50);
  expect(inbox.list()[0]?.rawBody).toMatch(/^59 x+$/);
  expect(inbox.list()[0]?.rawBody).toHaveLength(4_000);
  expect(inbox.list()[0]?.signature).toHaveLength(200);
});
