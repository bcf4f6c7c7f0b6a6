import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { GasShareLimit } from '../batch-and-gas-limits.ts';
import { LONGEST_GAS_DEFERRAL_MS, releasesWithinGasShare } from './gas-deferral.ts';

const NOW_MS = 1_800_000_000_000;
const GWEI = 10n ** 9n;

const release = fc.record({
  receivedUnits: fc.bigInt(0n, 5_000_000n),
  createdAtMs: fc.integer({ min: NOW_MS - 2 * LONGEST_GAS_DEFERRAL_MS, max: NOW_MS + 1_000 }),
  paidAtMs: fc.option(fc.integer({ min: NOW_MS - 2 * LONGEST_GAS_DEFERRAL_MS, max: NOW_MS })),
  releaseRequested: fc.boolean(),
});
type Release = typeof release extends fc.Arbitrary<infer Value> ? Value : never;

const fees = fc
  .record({ base: fc.bigInt(0n, 5_000n * GWEI), tip: fc.bigInt(25n * GWEI, 500n * GWEI) })
  .map(({ base, tip }) => ({ maxFeePerGas: 2n * base + tip, maxPriorityFeePerGas: tip, spent: base + tip }));
const limit = fc.record({
  basisPoints: fc.integer({ min: 100, max: 10_000 }),
  polRate: fc.bigInt(1_000_000n, 1_000_000_000n),
});

/** Applies the documented rule to one of `count` releases in a transaction, independently of the code under test. */
function isWithin(units: bigint, count: number, weiPerGas: bigint, { basisPoints, polRate }: GasShareLimit) {
  const gas = 95_500n + 55_000n / BigInt(count);
  const costUnits = (gas * weiPerGas * polRate) / 10n ** 20n;
  return costUnits * 10_000n <= units * BigInt(basisPoints);
}

function mayWait({ paidAtMs, createdAtMs, releaseRequested }: Release): boolean {
  const ageMs = NOW_MS - (paidAtMs ?? createdAtMs);
  return !releaseRequested && ageMs >= 0 && ageMs < LONGEST_GAS_DEFERRAL_MS;
}

it('keeps the largest batch in which each release is worth its gas, and what must not wait', () => {
  fc.assert(
    fc.property(fc.array(release, { maxLength: 30 }), fees, limit, (releases, quote, share) => {
      const kept = releasesWithinGasShare(releases, quote, share, NOW_MS);
      const deferred = releases.filter((one) => !kept.includes(one));
      expect(deferred.every(mayWait)).toBe(true);
      for (const one of kept) {
        expect(!mayWait(one) || isWithin(one.receivedUnits, kept.length, quote.spent, share)).toBe(true);
      }
      // No deferred release would fit, not even together with the others that are at least as large.
      for (const { receivedUnits } of deferred) {
        const larger = deferred.filter((other) => other.receivedUnits >= receivedUnits).length;
        expect(isWithin(receivedUnits, kept.length + larger, quote.spent, share)).toBe(false);
      }
    }),
  );
});

it('leaves out nothing at ordinary fees: one US dollar at 60 gwei is released alone at 1 %', () => {
  const quote = { maxFeePerGas: 145n * GWEI, maxPriorityFeePerGas: 25n * GWEI };
  const dollar = { receivedUnits: 1_000_000n, createdAtMs: NOW_MS, paidAtMs: null, releaseRequested: false };
  const share = { basisPoints: 100, polRate: 25_000_000n };
  expect(releasesWithinGasShare([dollar], quote, share, NOW_MS)).toEqual([dollar]);
  const least = { ...dollar, receivedUnits: 319_800n };
  expect(releasesWithinGasShare([least], quote, share, NOW_MS)).toEqual([least]);
  const spike = { maxFeePerGas: 20_025n * GWEI, maxPriorityFeePerGas: 25n * GWEI };
  expect(releasesWithinGasShare([dollar], spike, share, NOW_MS)).toEqual([]);
});

it('releases at once what was requested, what is a day old, and what a clock that was set back dates ahead', () => {
  const spike = { maxFeePerGas: 20_025n * GWEI, maxPriorityFeePerGas: 25n * GWEI };
  const share = { basisPoints: 100, polRate: 25_000_000n };
  const small = { receivedUnits: 1n, createdAtMs: NOW_MS, paidAtMs: null, releaseRequested: false };
  const dayAgoMs = NOW_MS - LONGEST_GAS_DEFERRAL_MS;
  const urgent = [
    { ...small, releaseRequested: true },
    { ...small, createdAtMs: dayAgoMs },
    { ...small, createdAtMs: NOW_MS + 1 },
    { ...small, paidAtMs: dayAgoMs },
  ];
  const waiting = [
    small,
    { ...small, createdAtMs: dayAgoMs + 1 },
    // Counts from the payment of the money, not from the creation.
    { ...small, createdAtMs: 1, paidAtMs: dayAgoMs + 1 },
  ];
  expect(releasesWithinGasShare([...urgent, ...waiting], spike, share, NOW_MS)).toEqual(urgent);
});

it('lets no release wait for more than a day', () => {
  expect(LONGEST_GAS_DEFERRAL_MS).toBe(86_400_000);
});
