import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FeeQuote } from '../chain/chain.ts';
import { type FeeSituation, raiseFees } from './raise-fees.ts';

const GWEI = 10n ** 9n;
const limits = { bumpAfterMs: 15_000, maximumFeePerGas: 5_000n * GWEI };

function attempt(fee: bigint, tip: bigint, signedAtMs = 0) {
  return {
    hash: '0x',
    rawTransaction: '0x',
    maxFeePerGas: fee * GWEI,
    maxPriorityFeePerGas: tip * GWEI,
    signedAtMs,
  };
}

function quote(fee: bigint, tip: bigint): FeeQuote {
  return { maxFeePerGas: fee * GWEI, maxPriorityFeePerGas: tip * GWEI };
}

function situation(change: Partial<FeeSituation> = {}): FeeSituation {
  return {
    attempts: [attempt(100n, 30n)],
    quote: quote(100n, 30n),
    wasTaken: true,
    nowMs: 15_000,
    limits,
    ...change,
  };
}

describe('higher fees', () => {
  it('are offered when the chain asks for more than the last attempt does, after a while', () => {
    const dearer = situation({ quote: quote(200n, 60n) });
    expect(raiseFees(dearer)).toEqual(quote(200n, 60n));
    expect(raiseFees({ ...dearer, nowMs: 14_999 })).toBeNull();
    expect(raiseFees({ ...dearer, wasTaken: false })).toEqual(quote(200n, 60n));
    expect(raiseFees({ ...dearer, quote: quote(200n, 30n) })?.maxFeePerGas).toBe(200n * GWEI);
  });

  it('also when only the tip is too low, and then both rise far enough to replace the last attempt', () => {
    const raised = raiseFees(situation({ quote: quote(90n, 31n) }));
    expect(raised?.maxFeePerGas).toBe(125n * GWEI + 1n);
    expect(raised?.maxPriorityFeePerGas).toBe((30n * GWEI * 9n) / 8n + 1n);
  });

  it('are not offered while the chain asks for no more, until it has taken long', () => {
    expect(raiseFees(situation({ nowMs: 119_999 }))).toBeNull();
    expect(raiseFees(situation({ nowMs: 120_000 }))).not.toBeNull();
    const second = situation({ attempts: [attempt(80n, 25n), attempt(100n, 30n, 120_000)] });
    expect(raiseFees({ ...second, nowMs: 359_999 })).toBeNull();
    expect(raiseFees({ ...second, nowMs: 360_000 })).not.toBeNull();
  });

  it('are never offered for a transaction that no node took and that is not below the quote', () => {
    expect(raiseFees(situation({ wasTaken: false, nowMs: 10 ** 9 }))).toBeNull();
  });

  it('stop at the cap, and at four times the usual tip', () => {
    expect(raiseFees(situation({ attempts: [attempt(4_900n, 30n)], quote: quote(5_000n, 60n) }))).toBeNull();
    expect(raiseFees(situation({ attempts: [attempt(4_000n, 30n)], quote: quote(9_000n, 60n) }))).toEqual(
      quote(5_000n, 60n),
    );
    expect(raiseFees(situation({ attempts: [attempt(100n, 119n)], quote: quote(300n, 30n) }))).toBeNull();
  });

  it('do not wait for a clock that was set back', () => {
    const future = situation({ attempts: [attempt(100n, 30n, 3_600_000)], quote: quote(200n, 60n) });
    expect(raiseFees(future)).toEqual(quote(200n, 60n));
  });
});

/** The tip is a part of the fee. */
function feesUpTo(max: bigint): fc.Arbitrary<FeeQuote> {
  return fc
    .tuple(fc.bigInt({ min: 0n, max }), fc.bigInt({ min: 0n, max: 100n }))
    .map(([maxFeePerGas, percent]) => ({
      maxFeePerGas,
      maxPriorityFeePerGas: (maxFeePerGas * percent) / 100n,
    }));
}

describe('whatever is asked for', () => {
  it('an attempt replaces the one before it, is within every bound, and there are few', () => {
    let raises = 0;
    fc.assert(
      fc.property(
        feesUpTo(50n * GWEI),
        fc.array(
          fc.record({
            quote: feesUpTo(6_000n * GWEI),
            elapsedMs: fc.integer({ min: 0, max: 10 ** 9 }),
            wasTaken: fc.boolean(),
          }),
          {
            maxLength: 200,
          },
        ),
        (first, passes) => {
          const attempts = [{ hash: '0x', rawTransaction: '0x', signedAtMs: 0, ...first }];
          let nowMs = 0;
          for (const pass of passes) {
            nowMs += pass.elapsedMs;
            const last = attempts.at(-1) as (typeof attempts)[number];
            const raised = raiseFees(situation({ ...pass, attempts, nowMs }));
            if (raised === null) continue;
            const { maxFeePerGas, maxPriorityFeePerGas } = raised;
            expect(maxFeePerGas * 10n >= last.maxFeePerGas * 11n).toBe(true);
            expect(maxPriorityFeePerGas * 10n >= last.maxPriorityFeePerGas * 11n).toBe(true);
            expect(maxFeePerGas <= limits.maximumFeePerGas).toBe(true);
            expect(maxPriorityFeePerGas <= maxFeePerGas).toBe(true);
            expect(maxPriorityFeePerGas <= pass.quote.maxPriorityFeePerGas * 4n).toBe(true);
            expect(nowMs - last.signedAtMs >= limits.bumpAfterMs).toBe(true);
            raises++;
            attempts.push({ hash: '0x', rawTransaction: '0x', signedAtMs: nowMs, ...raised });
          }
          // Each fee is at least an eighth above the last, so at most 73 raises lead from one gwei to the cap.
          const dear = attempts.filter(({ maxFeePerGas }) => maxFeePerGas >= GWEI);
          expect(dear.length).toBeLessThanOrEqual(74);
        },
      ),
      { numRuns: 1_000 },
    );
    expect(raises).toBeGreaterThan(1_000);
  });
});
