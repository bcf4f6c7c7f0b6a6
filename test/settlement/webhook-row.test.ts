import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import type { DeliveryOutcome } from '../../src/webhooks/delivery-types.ts';
import { type SendWebhooksContext, sendWebhook, type Webhook } from '../../src/webhooks/webhook.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { useSettlement } from './harness.ts';

const { settlement } = useSettlement();

/** A payment whose final release the next `watch` will see. */
async function createAlmostPaid(): Promise<Payment> {
  const payment = await settlement.createWithDeposit();
  await settlement.relay();
  await settlement.mine(3);
  return payment;
}

const delivered: DeliveryOutcome = {
  outcome: 'delivered',
  httpStatus: 200,
  reason: null,
  durationMs: 5,
  responseExcerpt: 'ok',
};

function sendContext(change: Partial<SendWebhooksContext> = {}): SendWebhooksContext {
  return {
    webhooks: settlement.store.webhooks,
    tokens: settlement.tokens,
    signingSecrets: { open: () => null },
    deliver: async () => delivered,
    nowMs: settlement.nowMs,
    onResult: () => {},
    ...change,
  };
}

it('is written with paid or neither is: what keeps the row out keeps the payment unpaid', async () => {
  const payment = await createAlmostPaid();
  await settlement.inDatabase('ALTER TABLE webhooks RENAME COLUMN fields TO other');
  const before = await settlement.read(payment);
  await expect(settlement.watch()).rejects.toThrow();
  expect(await settlement.read(payment)).toEqual(before);
  await settlement.inDatabase('ALTER TABLE webhooks RENAME COLUMN other TO fields');
  await settlement.crash();
  expect(await settlement.read(payment)).toEqual(before);

  await settlement.watch();
  expect((await settlement.read(payment)).status).toBe('paid');
  expect(await settlement.webhooks(payment)).toHaveLength(1);
});

it('is sent with a signature over the raw body, when paid can already be read', async () => {
  const payment = await createAlmostPaid();
  await settlement.watch();
  const [webhook] = await claimOldest(settlement.store.webhooks, 10, settlement.nowMs());
  const sent: { url: string; body: string; signature: string; status: string }[] = [];
  const results: unknown[] = [];
  await sendWebhook(
    sendContext({
      async deliver({ url, body, signature }) {
        sent.push({ url, body: String(body), signature, status: (await settlement.read(payment)).status });
        return delivered;
      },
      onResult: (_webhook, { outcome }) => results.push(outcome),
    }),
    webhook as Webhook,
  );
  const [request] = sent as [(typeof sent)[number]];
  expect(sent).toHaveLength(1);
  expect(request).toMatchObject({ url: payment.callbackUrl, status: 'paid' });
  const token = settlement.tokens.create(payment.id);
  expect(request.signature).toBe(createHmac('sha256', token).update(request.body).digest('hex'));
  expect(JSON.parse(request.body)).toMatchObject({
    event: 'payment.paid',
    paymentId: payment.id,
    timestamp: Math.floor(settlement.nowMs() / 1000),
  });
  expect(results).toEqual(['delivered']);
  const [recorded] = await settlement.webhooks(payment);
  expect(recorded).toMatchObject({
    status: 'delivered',
    result: { body: request.body, signature: request.signature, httpStatus: 200 },
  });
});
