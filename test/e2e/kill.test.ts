import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checksumAddress } from '../../src/domain/payout-address.ts';
import { type EndToEndService, startEndToEndService } from '../support/e2e-service.ts';
import { createRandom } from '../support/random.ts';
import { runJson } from '../support/service-process.ts';
import { waitFor } from '../support/wait-for.ts';

const KILLS = 6;
/** A payment takes about four seconds from the on-ramp to the webhook; kills fall anywhere in it and a bit beyond. */
const LONGEST_LIFE_MS = 5_000;
const seed = Number(process.env['KILL_SEED'] ?? randomInt(2 ** 31));

describe(`kill -9 at random moments (KILL_SEED=${seed})`, () => {
  let service: EndToEndService;
  const random = createRandom(seed);

  beforeAll(async () => {
    service = await startEndToEndService();
  });
  afterAll(() => service?.stop());

  /** Plays the customer; the server may be killed under it. Paying twice is refused, so trying again is safe. */
  async function pay(paymentId: string): Promise<void> {
    await runJson(service.environment, 'sandbox', 'pay', paymentId).catch(() => undefined);
  }

  async function isPaid(paymentId: string): Promise<boolean> {
    const { status, forward_status: forwardStatus } = await service.readStatus(`payment_id=${paymentId}`);
    if (status === 'unpaid' && forwardStatus === 'pending') await pay(paymentId);
    return status === 'paid';
  }

  it('every payment ends paid once, with one webhook or an unknown one, and exact money on the chain', async () => {
    const merchants = new Map<string, string>();
    for (let kill = 0; kill < KILLS; kill++) {
      const merchant = checksumAddress(randomBytes(20).toString('hex'));
      const { payment_id: paymentId } = await service.create({ address: merchant });
      merchants.set(paymentId, merchant);
      const playing = pay(paymentId);
      await delay(Math.floor(random() * LONGEST_LIFE_MS));
      await service.restart('SIGKILL');
      await playing;
    }

    for (const [paymentId, merchant] of merchants) {
      await waitFor(`${paymentId} to be paid`, 60_000, () => isPaid(paymentId));
      const webhooks = await waitFor('the outcome of its webhook', 60_000, () => endedWebhooksOf(paymentId));
      const posts = service.receiver.received.filter(({ rawBody }) => rawBody.includes(paymentId)).length;
      expect(posts, 'POSTs received').toBeLessThanOrEqual(1);
      expect(webhooks, 'webhook rows').toHaveLength(1);
      if (webhooks[0] === 'delivered') expect(posts).toBe(1);
      else expect(webhooks).toEqual(['unknown']);
      const { forwarded_amount: forwarded } = await service.readStatus(`payment_id=${paymentId}`);
      expect(Number(await service.readBalance(merchant)) / 1e6, 'USDC at the merchant').toBe(
        Number(forwarded),
      );
    }
  });

  async function endedWebhooksOf(paymentId: string): Promise<string[] | undefined> {
    const shown = await runJson<{ webhooks: { status: string }[] }>(
      service.environment,
      'payment',
      'show',
      paymentId,
    );
    const statuses = shown.webhooks.map(({ status }) => status);
    return statuses.some((status) => status === 'pending' || status === 'sending') ? undefined : statuses;
  }
});
