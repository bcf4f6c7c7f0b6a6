import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LeaseStore } from '../settlement/settlement-store.ts';
import { createLease } from './leases.ts';

const { signal } = new AbortController();

/** Creates a working lease store, and a clock that the store and all processes share. */
function createWorld() {
  const external = { nowMs: 0, isDown: false, failures: 0, taken: [] as string[] };
  let present: { holder: string; endsAtMs: number } | null = null;
  const leases: LeaseStore = {
    async takeLease(_name, holder, durationMs) {
      if (external.isDown) throw new Error('down');
      if (present !== null && present.holder !== holder && present.endsAtMs > external.nowMs) return false;
      present = { holder, endsAtMs: external.nowMs + durationMs };
      return true;
    },
    async releaseLease(_name, holder) {
      if (present?.holder === holder) present = null;
    },
  };
  const open = (holder: string) =>
    createLease({
      leases,
      name: 'watcher',
      holder,
      monotonicMs: () => external.nowMs,
      onAcquired: () => external.taken.push(holder),
      onFailure: () => external.failures++,
    });
  return { external, open };
}

type Lease = ReturnType<typeof createLease>;

async function mayRun(lease: Lease): Promise<boolean> {
  let hasRun = false;
  const task = { name: 'watch', intervalMs: 1, run: async () => (hasRun = true) };
  await lease.whileHeld(task).run(signal);
  return hasRun;
}

it('lets one of several processes do the work, and says when it begins', async () => {
  const { external, open } = createWorld();
  const [one, other] = [open('one'), open('other')];
  expect(await mayRun(one)).toBe(false);
  for (const lease of [one, other, one]) await lease.renewal.run(signal);
  expect([await mayRun(one), await mayRun(other)]).toEqual([true, false]);
  await one.release();
  await other.renewal.run(signal);
  expect(external.taken).toEqual(['one', 'other']);
});

it('is succeeded within ten seconds of its holder’s end', async () => {
  const { external, open } = createWorld();
  const [one, other] = [open('one'), open('other')];
  await one.renewal.run(signal);
  const endedAtMs = external.nowMs;
  while (!(await mayRun(other))) {
    await other.renewal.run(signal);
    external.nowMs += other.renewal.intervalMs;
  }
  expect(external.nowMs - endedAtMs).toBeLessThan(10_000);
});

it('tells the work that another process has it, after a pause as well, and not while nobody knows', async () => {
  const { external, open } = createWorld();
  const [one, other] = [open('one'), open('other')];
  const isToldBy = async (lease: Lease) => {
    let isTold = false;
    const task = { name: 'watch', intervalMs: 1, run: async () => false };
    await lease.whileHeld(task, () => (isTold = true)).run(signal);
    return isTold;
  };
  expect(await isToldBy(one)).toBe(false);
  for (const lease of [one, other]) await lease.renewal.run(signal);
  expect([await isToldBy(one), await isToldBy(other)]).toEqual([false, true]);
  external.nowMs += 6_000;
  external.isDown = true;
  await one.renewal.run(signal);
  expect(await isToldBy(one)).toBe(false);
  external.isDown = false;
  for (const lease of [other, one]) await lease.renewal.run(signal);
  expect([await isToldBy(one), await isToldBy(other)]).toEqual([true, false]);
});

it('stops the work when it cannot be renewed in time, and goes on when it can', async () => {
  const { external, open } = createWorld();
  const lease = open('one');
  await lease.renewal.run(signal);
  external.isDown = true;
  expect([await lease.renewal.run(signal), external.failures, await mayRun(lease)]).toEqual([false, 1, true]);
  external.nowMs += 6_000;
  expect(await mayRun(lease)).toBe(false);
  external.isDown = false;
  await lease.renewal.run(signal);
  expect(await mayRun(lease)).toBe(true);
});

it('is never believed to be held by two, whatever happens when', async () => {
  const step = fc.record({
    who: fc.nat(2),
    waitMs: fc.integer({ min: 0, max: 4_000 }),
    isDown: fc.boolean(),
    isReleased: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { external, open } = createWorld();
      const leases = ['a', 'b', 'c'].map(open) as [Lease, Lease, Lease];
      const isStopped = [false, false, false];
      for (const { who, waitMs, isDown, isReleased } of steps) {
        external.isDown = isDown;
        external.nowMs += waitMs;
        if (isReleased && !isStopped[who]) {
          isStopped[who] = true;
          await leases[who as 0].release();
        }
        if (!isStopped[who]) await leases[who as 0].renewal.run(signal);
        const holders: number[] = [];
        for (const [index, lease] of leases.entries()) {
          if (!isStopped[index] && (await mayRun(lease))) holders.push(index);
        }
        expect(holders.length).toBeLessThanOrEqual(1);
      }
    }),
  );
});
