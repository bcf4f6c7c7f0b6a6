import { join } from 'node:path';
import { openSqliteStore } from '../../../src/app/store/sqlite-store.ts';
import type { Store } from '../../../src/app/store/store.ts';
import { createIpnTokens } from '../../../src/payment/ipn-token.ts';
import { paidWebhook } from '../../../src/payment/payment-events.ts';
import { createPaymentIdGenerator } from '../../../src/payment/payment-id.ts';
import { createHostResolver, createOwnAddresses } from '../../../src/webhooks/callback-host.ts';
import { deliverWebhook } from '../../../src/webhooks/deliver.ts';
import { sendWebhook, type Webhook, type WebhookResult } from '../../../src/webhooks/send-webhook.ts';
import { claimWebhooks } from '../../../src/webhooks/webhook-queue.ts';
import { benchAccount, benchPayment } from '../bench-payment.ts';
import { countedAddress } from '../counted-address.ts';
import { answerDnsHere } from '../servers/answer-dns-here.ts';
import { benchSecret } from '../servers/stub-world.ts';
import type { Posts } from './webhook-sender.ts';

/**
 * Webhooks as the service sends them: claimed durably from its store as there is room, signed, sent to a checked
 * address, and their results recorded durably. Only DNS and the public address behind the name are stand-ins.
 */
export async function createServicePosts(folder: string, port: number): Promise<Posts> {
  answerDnsHere();
  const store = await openSqliteStore({ file: join(folder, 'webhooks.sqlite') });
  await store.accounts.createAccount(benchAccount());
  const tokens = createIpnTokens(benchSecret);
  const resolver = createHostResolver({ timeoutMs: 1_500 });
  const delivery = {
    resolver,
    ownAddresses: createOwnAddresses(),
    own: null,
    allowedHosts: new Set<string>(),
    connectTo: () => ({ address: '127.0.0.1', port }),
  };
  const context = {
    webhooks: store.webhooks,
    tokens,
    signingSecrets: { open: () => null },
    deliver: (webhook: Parameters<typeof deliverWebhook>[1]) => deliverWebhook(delivery, webhook),
    nowMs: Date.now,
    onResult(_webhook: Webhook, { outcome, reason }: WebhookResult) {
      if (outcome !== 'delivered') throw new Error(`a webhook was ${outcome}: ${reason}`);
    },
  };
  return {
    prepare: (posts) => queueWebhooks(store, posts, tokens.currentFingerprint),
    async send(posts, atATime) {
      // One account, which may use half of the slots.
      const bounds = { open: 2 * atATime, openPerHost: atATime };
      const open = new Map<Webhook, Promise<void>>();
      let left = posts;
      while (left > 0) {
        const { claimed } = await claimWebhooks(context, [...open.keys()], bounds);
        if (claimed.length === 0) throw new Error('the webhooks have run out');
        left -= claimed.length;
        for (const webhook of claimed) {
          open.set(
            webhook,
            sendWebhook(context, webhook).then(() => void open.delete(webhook)),
          );
        }
        await Promise.race(open.values());
      }
      await Promise.all(open.values());
    },
    async stop() {
      await store.close();
    },
  };
}

/** Counts over all rounds, because deposit addresses are unique and differ from payout addresses. */
let queued = 1;

async function queueWebhooks(store: Store, posts: number, tokenFingerprint: string): Promise<void> {
  const newPaymentId = createPaymentIdGenerator(Date.now);
  const queueOne = async () => {
    const number = queued++;
    const paymentId = newPaymentId();
    const payment = benchPayment({
      paymentId,
      payoutAddress: countedAddress(0),
      depositAddress: countedAddress(number),
      callbackUrl: `https://shop.example.com/callbacks/card?order=${number}`,
      email: `customer.${number}@mail.example.com`,
    });
    await store.payments.createPayment({ ...payment, tokenFingerprint }, null);
    await store.payments.decidePayment(payment.id, () => ({ change: {}, webhooks: [paidWebhook(payment)] }));
  };
  await Promise.all(Array.from({ length: posts }, queueOne));
}
