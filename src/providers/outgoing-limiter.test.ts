import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createOutgoingLimiter } from './outgoing-limiter.ts';

/** A clock that runs the functions that were scheduled on it. */
function createTestClock() {
  let nowMs = 0;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  return {
    monotonicMs: () => nowMs,
    schedule(run: () => void, delayMs: number) {
      const timer = { atMs: nowMs + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advanceTo(untilMs: number) {
      for (;;) {
        const [next] = [...timers].sort((a, b) => a.atMs - b.atMs);
        if (next === undefined || next.atMs > untilMs) break;
        timers.delete(next);
        nowMs = next.atMs;
        next.run();
        await settled();
      }
      nowMs = untilMs;
    },
  };
}

/** Lets every resolved promise reach its reader. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

interface Call {
  readonly account: string;
  readonly askedAtMs: number;
  begunAtMs: number | null;
  refusedAtMs: number | null;
}

async function play(
  arrivals: readonly { readonly atMs: number; readonly account: string }[],
  rate: { readonly callsPerSecond: number; readonly waitMs: number },
  pausedUntilMs = 0,
): Promise<readonly Call[]> {
  const clock = createTestClock();
  const pausedMs = () => Math.max(0, pausedUntilMs - clock.monotonicMs());
  const limiter = createOutgoingLimiter({ ...rate, ...clock, pausedMs });
  const calls: Call[] = [];
  for (const { atMs, account } of [...arrivals].sort((a, b) => a.atMs - b.atMs)) {
    await clock.advanceTo(atMs);
    const call: Call = { account, askedAtMs: atMs, begunAtMs: null, refusedAtMs: null };
    calls.push(call);
    void limiter.acquire(account).then((seconds) => {
      if (seconds === 0) call.begunAtMs = clock.monotonicMs();
      else call.refusedAtMs = clock.monotonicMs();
    });
    await settled();
  }
  await clock.advanceTo(1_000_000);
  return calls;
}

const arrivalsOf = fc.array(
  fc.record({ atMs: fc.integer({ min: 0, max: 3_000 }), account: fc.constantFrom('a', 'b', 'c', 'd') }),
  { maxLength: 80 },
);
const rates = fc.record({
  callsPerSecond: fc.integer({ min: 1, max: 8 }),
  waitMs: fc.integer({ min: 100, max: 3_000 }),
});

it('begins no more calls within any second than the rate, none in a pause, and answers every call in time', async () => {
  await fc.assert(
    fc.asyncProperty(
      arrivalsOf,
      rates,
      fc.integer({ min: 0, max: 2_000 }),
      async (arrivals, rate, pausedUntilMs) => {
        const calls = await play(arrivals, rate, pausedUntilMs);
        const begun = calls
          .flatMap(({ begunAtMs }) => (begunAtMs === null ? [] : [begunAtMs]))
          .sort((a, b) => a - b);
        for (const [index, atMs] of begun.entries()) {
          expect(atMs).toBeGreaterThanOrEqual(pausedUntilMs);
          const earlier = begun[index - rate.callsPerSecond];
          if (earlier !== undefined) expect(atMs - earlier).toBeGreaterThanOrEqual(1_000);
        }
        for (const { askedAtMs, begunAtMs, refusedAtMs } of calls) {
          const answeredAtMs = begunAtMs ?? refusedAtMs;
          expect(answeredAtMs).not.toBeNull();
          expect((answeredAtMs as number) - askedAtMs).toBeLessThanOrEqual(rate.waitMs);
        }
      },
    ),
    { numRuns: 150 },
  );
});

it("lets at most one call of each other account begin while an account's first call waits", async () => {
  await fc.assert(
    fc.asyncProperty(arrivalsOf, rates, async (arrivals, rate) => {
      const calls = await play(arrivals, rate);
      for (const [index, call] of calls.entries()) {
        const { account, askedAtMs, begunAtMs } = call;
        const isFirst = !calls
          .slice(0, index)
          .some((each) => each.account === account && (each.begunAtMs ?? each.refusedAtMs ?? 0) >= askedAtMs);
        if (begunAtMs === null || begunAtMs === askedAtMs || !isFirst) continue;
        for (const other of ['a', 'b', 'c', 'd'].filter((each) => each !== account)) {
          const turns = calls.filter(
            (each) =>
              each.account === other &&
              each.begunAtMs !== null &&
              each.begunAtMs > askedAtMs &&
              each.begunAtMs < begunAtMs,
          );
          expect(turns.length).toBeLessThanOrEqual(1);
        }
      }
    }),
    { numRuns: 150 },
  );
});

it("begins another account's call within one turn of a burst of fourteen", async () => {
  const burst = Array.from({ length: 14 }, (_, index) => ({ atMs: index * 35, account: 'a' }));
  const calls = await play([...burst, { atMs: 500, account: 'b' }], { callsPerSecond: 3, waitMs: 1_500 });
  expect(calls.find(({ account }) => account === 'b')?.begunAtMs).toBe(1_035);
  expect(calls.filter(({ begunAtMs }) => begunAtMs !== null).length).toBeLessThan(14);
});

it('refuses at once, with the seconds to wait, while the provider asked for a longer pause than a call waits', async () => {
  const clock = createTestClock();
  const limiter = createOutgoingLimiter({
    ...clock,
    callsPerSecond: 5,
    waitMs: 1_500,
    pausedMs: () => 6_100,
  });
  expect(await limiter.acquire('a')).toBe(7);
});

it('keeps room for accounts that have not called yet when many calls wait', async () => {
  const crowd = Array.from({ length: 250 }, (_, index) => [
    { atMs: 0, account: `shop ${index}` },
    { atMs: 0, account: `shop ${index}` },
    { atMs: 0, account: `shop ${index}` },
  ]).flat();
  const calls = await play([...crowd, { atMs: 1, account: 'last' }], { callsPerSecond: 200, waitMs: 3_000 });
  expect(calls.at(-1)?.begunAtMs).not.toBeNull();
});
