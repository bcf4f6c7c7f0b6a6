import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { webhooks } from '../../sdk/src/sdk.ts';
import { verifyPayments } from '../../src/cli/verify/verify-payments.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { sendWebhook } from '../../src/webhooks/send-webhook.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { useSettlement } from './harness.ts';

const { settlement } = useSettlement();

const PRICE_UNITS = 100_000_000n;

const eventsOf = async (payment: Payment) =>
  (await settlement.webhooks(payment)).map(({ event }) => event).sort();

/** A deposit of the whole price that is not final yet. */
async function createAndDeposit(): Promise<Payment> {
  const payment = await settlement.createDirect();
  await settlement.deposit(payment, PRICE_UNITS);
  await settlement.mineAndWatch();
  return payment;
}

describe('a payment from a wallet', () => {
  it('is paid when its deposit is final, then forwarded, and tells of each once, signed', async () => {
    const payment = await createAndDeposit();
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    expect(await settlement.relay()).toBe('idle');
    expect(await eventsOf(payment)).toEqual([]);

    await settlement.mineAndWatch(settlement.finalityBlocks);
    expect(await settlement.state(payment)).toBe('paid/ready');
    expect(await settlement.read(payment)).toMatchObject({ receivedUnits: PRICE_UNITS, forwardedUnits: 0n });
    expect(await eventsOf(payment)).toEqual(['payment.paid']);
    const early = await verifyPayments({
      ...settlement.store,
      chain: null,
      nowMs: settlement.nowMs,
      pause: async () => {},
    });
    expect(early.discrepancies.filter(({ kind }) => kind !== 'deposit_address')).toEqual([]);

    await settlement.relay();
    expect(await settlement.state(payment)).toBe('paid/processing');
    await settlement.settleDown();
    expect(await settlement.state(payment)).toBe('paid/completed');
    const completed = await settlement.read(payment);
    const { merchant, held } = await settlement.balancesOf(payment);
    expect({ merchant, held }).toEqual({ merchant: completed.forwardedUnits, held: 0n });

    const sent = await sendAll();
    expect(sent.map(({ event }) => event)).toEqual(['payment.paid', 'payment.forwarded']);
    expect(sent[0]).toMatchObject({
      status: 'paid',
      receivedAmount: '100.000000',
      forwardedAmount: null,
      txidIn: completed.txidIn,
      txidOut: null,
      note: 'Order 7',
    });
    expect(sent[1]).toEqual({
      event: 'payment.forwarded',
      paymentId: payment.id,
      forwardTxid: completed.txidOut,
      amountForwarded: '97.500000',
      toWallet: payment.payoutAddress,
      timestamp: expect.any(Number),
    });
    const report = await verifyPayments({
      ...settlement.store,
      chain: null,
      nowMs: settlement.nowMs,
      pause: async () => {},
    });
    // Nobody has told this store of the factory.
    expect(report.discrepancies.filter(({ kind }) => kind !== 'deposit_address')).toEqual([]);
    await settlement.rescan(100);
    expect(await sendAll()).toEqual([]);
  });

  /** Sends what is queued, as the service does, and takes it in as a merchant does, with the SDK. */
  async function sendAll() {
    const events: unknown[] = [];
    for (;;) {
      const [claimed] = await claimOldest(settlement.store.webhooks, 1, settlement.nowMs());
      if (claimed === undefined) return events as { event: string }[];
      await sendWebhook(
        {
          webhooks: settlement.store.webhooks,
          tokens: settlement.tokens,
          signingSecrets: { open: () => null },
          nowMs: settlement.nowMs,
          onResult: () => {},
          async deliver({ body, signature }) {
            const token = settlement.tokens.create(claimed.paymentId, claimed.tokenFingerprint);
            expect(signature).toBe(createHmac('sha256', token).update(body).digest('hex'));
            events.push(webhooks.constructEvent(body, signature, token, { nowMs: settlement.nowMs() }));
            return {
              outcome: 'delivered',
              httpStatus: 200,
              reason: null,
              durationMs: 1,
              responseExcerpt: '',
            };
          },
        },
        claimed,
      );
    }
  }
});
