import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createRequestDurations } from './metrics.ts';

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
      for (const [index, [, sum]] of found.sums.entries()) {
        expect(Number(sum)).toBeCloseTo(Number(expected.sums[index]?.[1]), 9);
      }
    }),
  );
});
