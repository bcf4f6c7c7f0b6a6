import { expect, it } from 'vitest';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import { withCircuitBreaker } from '../../src/providers/circuit-breaker.ts';
import { callBudgetOf } from '../../src/providers/outgoing-limiter.ts';
import { checkoutStates, createCheckoutPages } from '../support/checkout-pages.ts';
import { servePassThrough } from './serve-json.ts';
import { outcomeOf, someSession, useStage } from './stage.ts';

const stage = useStage();

/** The simulated Ramp Network behind the breaker and budget of one process, on a clock that the test moves. */
async function openRamp() {
  let clockMs = 0;
  let requests = 0;
  const proxy = await servePassThrough(stage.valuesOf('rampnetwork')['BASE_URL'] as string, () => {
    requests++;
    return null;
  });
  const monotonicMs = () => clockMs;
  const unguarded = stage.adapterOf('rampnetwork', { values: { BASE_URL: proxy.url } });
  const budget = callBudgetOf('rampnetwork', monotonicMs, undefined);
  const adapter = withCircuitBreaker(unguarded, { monotonicMs, nowMs: monotonicMs, openMs: 30_000, budget });
  return {
    adapter,
    unguarded,
    requests: () => requests,
    advance(ms: number) {
      clockMs += ms;
      stage.advance(ms);
    },
  };
}

it('a thousand page views of as many amounts in a minute cost Ramp Network few calls, and every click is served', async () => {
  const ramp = await openRamp();
  const pages = createCheckoutPages({
    adapters: new Map<ProviderId, typeof ramp.adapter>([['rampnetwork', ramp.adapter]]),
  });
  let sessions = 0;
  for (let count = 0; count < 1_000; count++) {
    ramp.advance(60);
    pages.clock.monotonicMs += 60;
    const { payment, ...rest } = checkoutStates.choose();
    const id = `${payment.id.slice(0, -4)}${(0x1000 + count).toString(16)}`;
    const amountCents = 20_00 + count;
    const charged = { ...payment, id, amountCents, usdUnits: BigInt(amountCents) * 10_000n };
    const url = `/pay/${pages.put({ ...rest, payment: charged })}`;
    const remoteAddress = `10.0.${count >> 8}.${count & 255}`;
    const page = await pages.server.inject({ url, remoteAddress });
    expect(page.body).toContain('/providers/rampnetwork');
    if (count % 25 !== 0) continue;
    const click = await pages.server.inject({
      method: 'POST',
      url: `${url}/providers/rampnetwork`,
      remoteAddress,
    });
    sessions += click.statusCode === 303 ? 1 : 0;
  }
  await pages.server.close();
  expect(sessions).toBe(40);
  // Forty clicks, and a quote every twenty seconds.
  expect(ramp.requests()).toBeLessThanOrEqual(44);
  expect(await outcomeOf(ramp.unguarded.quote(someSession))).toBe('answered');
});
