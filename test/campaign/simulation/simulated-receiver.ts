import type { Store } from '../../../src/app/store/store.ts';
import type { PaymentId } from '../../../src/payment/payment.ts';
import type { DeliverWebhook, DeliveryOutcome } from '../../../src/webhooks/delivery-types.ts';
import { checkPost } from './checks-during.ts';
import type { ProcessLife } from './process-life.ts';
import type { SimulatedWorld } from './simulated-world.ts';

const delivered: DeliveryOutcome = {
  outcome: 'delivered',
  httpStatus: 200,
  reason: null,
  durationMs: 5,
  responseExcerpt: 'ok',
};

/** In the place of the socket: looks at the store at the moment of the POST, and answers as the seed wants it. */
export function createReceiver(world: SimulatedWorld, life: ProcessLife, raw: Store): DeliverWebhook {
  const { draws } = world;
  return ({ body }) =>
    life.pass('POST', async () => {
      const { paymentId } = JSON.parse(body) as { paymentId: PaymentId };
      world.posts.set(paymentId, (world.posts.get(paymentId) ?? 0) + 1);
      await checkPost(world, raw, paymentId);
      if (draws.chance(15)) return { ...delivered, outcome: 'failed', httpStatus: 500, reason: 'http_500' };
      if (draws.chance(10)) return { ...delivered, outcome: 'unknown', httpStatus: null, reason: 'timeout' };
      if (!world.isCalm && draws.chance(30)) {
        world.recorder.fault('slow receiver');
        await new Promise<void>((answer) => world.slowReceivers.push(answer));
      }
      return delivered;
    });
}
