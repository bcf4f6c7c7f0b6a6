import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CallWindow,
  callBudgetOf,
  callKinds,
  createCallBudget,
  createOutgoingLimiter,
  type TakeSharedCall,
} from './outgoing-limiter.ts';

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

/** Waits until the callbacks of all resolved promises have run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

interface Call {
  readonly account: string;
  readonly askedAtMs: number;
  begunAtMs: number | null;
  refusedAtMs: number | null;
}

async function play(
  arrivals: readonly { readonly atMs: number; readonly account: string }[],
  { windows, waitMs }: { readonly windows: readonly CallWindow[]; readonly waitMs: number },
  pausedUntilMs = 0,
): Promise<readonly Call[]> {
  const clock = createTestClock();
  const pausedMs = () => Math.max(0, pausedUntilMs - clock.monotonicMs());
  const budget = createCallBudget(windows, clock.monotonicMs);
  const limiter = createOutgoingLimiter({ budget, reservedShare: 0, waitMs, ...clock, pausedMs });
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

const perSecond = (calls: number) => [{ calls, perMs: 1_000 }];
const arrivalsOf = fc.array(
  fc.record({ atMs: fc.integer({ min: 0, max: 3_000 }), account: fc.constantFrom('a', 'b', 'c', 'd') }),
  { maxLength: 80 },
);
const limits = fc.record({
  windows: fc.array(
    fc.record({ calls: fc.integer({ min: 4, max: 30 }), perMs: fc.constantFrom(500, 1_000, 3_000) }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
  waitMs: fc.integer({ min: 100, max: 3_000 }),
});

it('begins no more calls within any window than it allows, none in a pause, and answers every call in time', async () => {
  await fc.assert(
    fc.asyncProperty(
      arrivalsOf,
      limits,
      fc.integer({ min: 0, max: 2_000 }),
      async (arrivals, limit, pausedUntilMs) => {
        const calls = await play(arrivals, limit, pausedUntilMs);
        const begun = calls
          .flatMap(({ begunAtMs }) => (begunAtMs === null ? [] : [begunAtMs]))
          .sort((a, b) => a - b);
        for (const [index, atMs] of begun.entries()) {
          expect(atMs).toBeGreaterThanOrEqual(pausedUntilMs);
          for (const window of limit.windows) {
            const earlier = begun[index - window.calls];
            if (earlier !== undefined) expect(atMs - earlier).toBeGreaterThanOrEqual(window.perMs);
          }
        }
        for (const { askedAtMs, begunAtMs, refusedAtMs } of calls) {
          const answeredAtMs = begunAtMs ?? refusedAtMs;
          expect(answeredAtMs).not.toBeNull();
          expect((answeredAtMs as number) - askedAtMs).toBeLessThanOrEqual(limit.waitMs);
        }
      },
    ),
    { numRuns: 150 },
  );
});

it.each([
  ['rampnetwork', 100, 60_000],
  ['wert', 4, 1_000],
  ['moonpay', 30, 1_000],
  ['coinbase', 100, 1_000],
  ['banxa', 500, 60_000],
  ['stripe', 25, 1_000],
] as const)('calls %s at most %d times in %d ms, as it publishes', async (provider, calls, perMs) => {
  const clock = createTestClock();
  const budget = callBudgetOf(provider, clock.monotonicMs, undefined);
  const limiter = createOutgoingLimiter({ ...callKinds.sessions, ...clock, budget, pausedMs: () => 0 });
  let begun = 0;
  for (let atMs = 0; atMs < perMs; atMs += perMs / 600) {
    await clock.advanceTo(atMs);
    void limiter.acquire(`account ${atMs}`).then((seconds) => (begun += seconds === 0 ? 1 : 0));
    await settled();
  }
  expect(begun).toBeGreaterThan(calls / 2);
  expect(begun).toBeLessThanOrEqual(calls);
});

it("lets at most one call of each other account begin while an account's first call waits", async () => {
  await fc.assert(
    fc.asyncProperty(arrivalsOf, limits, async (arrivals, limit) => {
      const calls = await play(arrivals, limit);
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
  const calls = await play([...burst, { atMs: 500, account: 'b' }], { windows: perSecond(4), waitMs: 1_500 });
  // After a burst of two, one call starts every 358 ms.
  expect(calls.find(({ account }) => account === 'b')?.begunAtMs).toBe(3 * 358);
  expect(calls.filter(({ begunAtMs }) => begunAtMs !== null).length).toBeLessThan(14);
});

it('refuses at once, with the seconds to wait, while the provider asked for a longer pause than a call waits', async () => {
  const clock = createTestClock();
  const limiter = createOutgoingLimiter({
    ...clock,
    budget: createCallBudget(perSecond(5), clock.monotonicMs),
    reservedShare: 0,
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
  const calls = await play([...crowd, { atMs: 1, account: 'last' }], {
    windows: perSecond(280),
    waitMs: 3_000,
  });
  expect(calls.at(-1)?.begunAtMs).not.toBeNull();
});

describe('the budget of Ramp Network, which allows 100 calls a minute and 1,000 in a quarter of an hour', () => {
  const stage = (takeShared?: TakeSharedCall) => {
    const clock = createTestClock();
    const budget = callBudgetOf('rampnetwork', clock.monotonicMs, takeShared);
    const limiterOf = (kind: keyof typeof callKinds) =>
      createOutgoingLimiter({ ...callKinds[kind], ...clock, budget, pausedMs: () => 0 });
    const limiters = {
      sessions: limiterOf('sessions'),
      quotes: limiterOf('quotes'),
      background: limiterOf('background'),
    };
    const begin = async (kind: keyof typeof callKinds, times: number) => {
      let begun = 0;
      for (let count = 0; count < times; count++)
        void limiters[kind].acquire(`account ${count}`).then((seconds) => {
          if (seconds === 0) begun++;
        });
      await settled();
      return begun;
    };
    return { clock, budget, begin };
  };

  it('leaves half of a burst to sessions, however many quotes and pages come', async () => {
    const { clock, begin } = stage();
    expect(await begin('background', 500)).toBe(11);
    expect(await begin('quotes', 500)).toBe(11);
    expect(await begin('sessions', 21)).toBe(21);
    let sessions = 0;
    for (let second = 10; second < 70; second += 2) {
      await clock.advanceTo(second * 1_000);
      await begin('background', 50);
      await begin('quotes', 50);
      sessions += await begin('sessions', 1);
    }
    expect(sessions).toBe(30);
  });

  it('after a refusal without a time pauses for a minute, and tries then with one call', async () => {
    const { clock, budget, begin } = stage();
    budget.pause();
    await clock.advanceTo(56_000);
    expect(await begin('sessions', 50)).toBe(0);
    await clock.advanceTo(60_000);
    expect(await begin('sessions', 50)).toBe(1);
    expect(await begin('quotes', 50)).toBe(0);
  });

  it('is that of all processes: another one that has used it up counts, and an unreachable store does not', async () => {
    let taken = 0;
    const used = stage(async () => ++taken <= 3);
    expect(await used.begin('sessions', 20)).toBe(3);
    const unreachable = stage(() => Promise.reject(new Error('no connection')));
    expect(await unreachable.begin('sessions', 20)).toBe(20);
    const unlimited = createCallBudget(perSecond(30), () => 0);
    expect(await unlimited.takeShared(0)).toBe(true);
  });
});
