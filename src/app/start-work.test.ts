import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { LeaseStore } from '../domain/ports/settlement-store.ts';
import { createLease, type Lease } from './start-work.ts';

const { signal } = new AbortController();

/** One clock for the store and all processes, and a store that does what it should. */
function createWorld() {
  const world = { nowMs: 0, isDown: false, failures: 0, taken: [] as string[] };
  let present: { holder: string; endsAtMs: number } | null = null;
  const leases: LeaseStore = {
    async takeLease(_name, holder, durationMs) {
      if (world.isDown) throw new Error('down');
      if (present !== null && present.holder !== holder && present.endsAtMs > world.nowMs) return false;
      present = { holder, endsAtMs: world.nowMs + durationMs };
      return true;
    },
    async releaseLease(_name, holder) {
      if (present?.holder === holder) present = null;
    },
  };
  const open = (holder: string) =>
    createLease({
      ...{ leases, name: 'watcher', holder, monotonicMs: () => world.nowMs },
      onTaken: () => world.taken.push(holder),
      onFailure: () => world.failures++,
    });
  return { world, open };
}

/** Whether the task runs now. */
async function mayRun(lease: Lease): Promise<boolean> {
  let hasRun = false;
  const task = { name: 'watch', intervalMs: 1, run: async () => (hasRun = true) };
  await lease.whileHeld(task).run(signal);
  return hasRun;
}

it('lets one of several processes do the work, and says when it begins', async () => {
  const { world, open } = createWorld();
  const [one, other] = [open('one'), open('other')];
  expect(await mayRun(one)).toBe(false);
  for (const lease of [one, other, one]) await lease.renewal.run(signal);
  expect([await mayRun(one), await mayRun(other)]).toEqual([true, false]);
  await one.release();
  await other.renewal.run(signal);
  expect(world.taken).toEqual(['one', 'other']);
});

it('is succeeded within ten seconds of its holder’s end', async () => {
  const { world, open } = createWorld();
  const [one, other] = [open('one'), open('other')];
  await one.renewal.run(signal);
  const endedAtMs = world.nowMs;
  while (!(await mayRun(other))) {
    await other.renewal.run(signal);
    world.nowMs += other.renewal.intervalMs;
  }
  expect(world.nowMs - endedAtMs).toBeLessThan(10_000);
});

it('stops the work when it cannot be renewed in time, and goes on when it can', async () => {
  const { world, open } = createWorld();
  const lease = open('one');
  await lease.renewal.run(signal);
  world.isDown = true;
  expect(await lease.renewal.run(signal)).toBe(false);
  expect(world.failures).toBe(1);
  expect(await mayRun(lease)).toBe(true);
  world.nowMs += 6_000;
  expect(await mayRun(lease)).toBe(false);
  world.isDown = false;
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
      const { world, open } = createWorld();
      const leases = ['a', 'b', 'c'].map(open) as [Lease, Lease, Lease];
      const isStopped = [false, false, false];
      for (const { who, waitMs, isDown, isReleased } of steps) {
        world.isDown = isDown;
        world.nowMs += waitMs;
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
