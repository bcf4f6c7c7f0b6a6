import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createMetrics, createRequestDurations } from './metrics.ts';

const requests = fc.array(
  fc.record({
    route: fc.constantFrom('/api/v1/wallet', '/pay/:id', 'unmatched'),
    method: fc.constantFrom('GET', 'POST'),
    status: fc.constantFrom(200, 400, 500),
    // None so close to a bound that seconds are rounded to another side of it than milliseconds.
    durationMs: fc.oneof(
      fc.constantFrom(0, 1, 5, 25, 100, 500, 2500),
      fc.nat(9_000).map((n) => n / 1024),
    ),
  }),
  { maxLength: 50 },
);

/** One line for each value, the sums apart: they are added up in another unit, so their last digit may differ. */
async function readMetrics(registry: Registry) {
  const lines = (await registry.metrics()).split('\n').sort();
  const isSum = (line: string) => line.includes('_sum{');
  const sums = lines.filter(isSum).map((line) => line.split(/ (?=[^ ]*$)/) as [string, string]);
  return { values: lines.filter((line) => !isSum(line)), sums };
}

it("counts requests as the library's histogram does", async () => {
  await fc.assert(
    fc.asyncProperty(requests, async (all) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      const observe = createRequestDurations(ours);
      const histogram = new Histogram({
        name: 'card_checkout_request_duration_seconds',
        help: 'Request duration by route pattern, method and status.',
        labelNames: ['route', 'method', 'status'],
        buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5],
        registers: [theirs],
      });
      for (const { route, method, status, durationMs } of all) {
        observe(route, method, status, durationMs);
        histogram.observe({ route, method, status }, durationMs / 1000);
      }
      const [found, expected] = [await readMetrics(ours), await readMetrics(theirs)];
      expect(found.values).toEqual(expected.values);
      expect(found.sums.map(([labels]) => labels)).toEqual(expected.sums.map(([labels]) => labels));
      for (const [index, [, sum]] of found.sums.entries())
        expect(Number(sum)).toBeCloseTo(Number(expected.sums[index]?.[1]), 9);
    }),
  );
});

it('begins its counters at zero, so that the first count is an increase', async () => {
  const metrics = createMetrics();
  metrics.beginEndpoints(['one']);
  metrics.beginProviders(['moonpay']);
  metrics.beginTasks([{ name: 'rescan' }]);
  const lines = new Set((await metrics.registry.metrics()).split('\n'));
  for (const line of [
    'card_checkout_webhooks_total{outcome="failed"} 0',
    'card_checkout_relay_passes_total{result="abandoned"} 0',
    'card_checkout_relay_incidents_total{kind="no_op_batch"} 0',
    'card_checkout_provider_webhooks_total{provider="moonpay",outcome="refused"} 0',
    'card_checkout_provider_calls_total{provider="moonpay",outcome="failed"} 0',
    'card_checkout_endpoint_disagreements_total{endpoint="one",kind="unconfirmed"} 0',
    'card_checkout_endpoint_calls_total{endpoint="one",outcome="slow"} 0',
    'card_checkout_task_failures_total{task="rescan"} 0',
  ])
    expect(lines).toContain(line);
});
