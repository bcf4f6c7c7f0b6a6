import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startWorker, type Worker } from './worker.ts';
import type { WorkerTask } from './worker-parts.ts';

let worker: Worker | null = null;
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(async () => {
  const stopped = worker?.stop();
  await vi.runAllTimersAsync();
  await stopped;
  worker = null;
  vi.useRealTimers();
});

const failures: [string, unknown, number][] = [];

function start(...tasks: WorkerTask[]): Worker {
  failures.length = 0;
  worker = startWorker(tasks, (...failure) => failures.push(failure));
  return worker;
}

/** Creates a task that records its run times in ms since the start. `step` gets the number of earlier runs. */
function recordedTask(intervalMs: number, step: (run: number) => boolean | Promise<boolean>, name = 'task') {
  const startMs = Date.now();
  const ranAtMs: number[] = [];
  const task: WorkerTask = {
    name,
    intervalMs,
    run: async () => step(ranAtMs.push(Date.now() - startMs) - 1),
  };
  return { task, ranAtMs };
}

/** Creates a step that ends when the test calls `finish`. */
function heldStep() {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  return { promise, finish: (hasMore = false) => resolve(hasMore) };
}

it('runs a task at once, then after each interval', async () => {
  const { task, ranAtMs } = recordedTask(1_000, () => false);
  start(task);
  await vi.advanceTimersByTimeAsync(3_500);
  expect(ranAtMs).toEqual([0, 1_000, 2_000, 3_000]);
});

it('goes on without a pause while there is more to do', async () => {
  const { task, ranAtMs } = recordedTask(1_000, (run) => run < 4);
  start(task);
  await vi.advanceTimersByTimeAsync(999);
  expect(ranAtMs).toEqual([0, 0, 0, 0, 0]);
});

it('tries a failing task again with growing pauses up to 32 intervals, for ever', async () => {
  const { task, ranAtMs } = recordedTask(100, () => {
    throw new Error('no luck');
  });
  start(task);
  await vi.advanceTimersByTimeAsync(100 * (2 + 4 + 8 + 16 + 32 * 4));
  expect(ranAtMs.slice(1).map((atMs, index) => atMs - (ranAtMs[index] as number))).toEqual([
    200, 400, 800, 1_600, 3_200, 3_200, 3_200, 3_200,
  ]);
  expect(failures.map(([name, error, inARow]) => [name, (error as Error).message, inARow])).toEqual(
    ranAtMs.map((_, index) => ['task', 'no luck', index + 1]),
  );
});

it.each([
  [10_000, [20_000, 40_000, 60_000, 60_000]],
  [60_000, [60_000, 60_000, 60_000, 60_000]],
  [600_000, [600_000, 600_000, 600_000, 600_000]],
])(
  'never makes a failing task of %i ms wait longer than a minute or its interval',
  async (intervalMs, pauses) => {
    const { task, ranAtMs } = recordedTask(intervalMs, () => Promise.reject(new Error('no luck')));
    start(task);
    await vi.advanceTimersByTimeAsync(pauses.reduce((sum, pause) => sum + pause, 0));
    expect(ranAtMs.slice(1).map((atMs, index) => atMs - (ranAtMs[index] as number))).toEqual(pauses);
  },
);

it('starts from the plain interval again after a success', async () => {
  const { task, ranAtMs } = recordedTask(100, (run) => {
    if (run === 0 || run === 1 || run === 3) throw new Error('no luck');
    return false;
  });
  start(task);
  await vi.advanceTimersByTimeAsync(1_100);
  // Fails (200 ms pause), fails (400), works (100), fails (200), works (100), works.
  expect(ranAtMs).toEqual([0, 200, 600, 700, 900, 1_000, 1_100]);
  expect(failures.map(([, , inARow]) => inARow)).toEqual([1, 2, 1]);
});

it('catches a task that throws before it promises anything', async () => {
  const broken: WorkerTask = {
    name: 'broken',
    intervalMs: 100,
    run: () => {
      throw new Error('at once');
    },
  };
  const { task, ranAtMs } = recordedTask(100, () => false, 'sound');
  start(broken, task);
  await vi.advanceTimersByTimeAsync(300);
  expect(ranAtMs).toEqual([0, 100, 200, 300]);
  expect(failures.map(([name]) => name)).toEqual(['broken', 'broken']);
});

it('lets no task wait for another', async () => {
  const held = heldStep();
  const slow = recordedTask(100, () => held.promise, 'slow');
  const quick = recordedTask(100, () => false, 'quick');
  start(slow.task, quick.task);
  await vi.advanceTimersByTimeAsync(500);
  expect(slow.ranAtMs).toEqual([0]);
  expect(quick.ranAtMs).toHaveLength(6);
  held.finish();
});

it('ends the pause of a task that is woken, and of no other', async () => {
  const woken = recordedTask(10_000, () => false, 'woken');
  const other = recordedTask(10_000, () => false, 'other');
  const { wake } = start(woken.task, other.task);
  await vi.advanceTimersByTimeAsync(500);
  wake('woken', 'nobody');
  await vi.advanceTimersByTimeAsync(500);
  expect(woken.ranAtMs).toEqual([0, 500]);
  expect(other.ranAtMs).toEqual([0]);
  await vi.advanceTimersByTimeAsync(9_500);
  // The next pause starts at the wake, not at the end of the interrupted pause.
  expect(woken.ranAtMs).toEqual([0, 500, 10_500]);
});

it('does not lose a wake during a run, and runs once for many of them', async () => {
  const held = heldStep();
  const { task, ranAtMs } = recordedTask(10_000, (run) => (run === 0 ? held.promise : false));
  const { wake } = start(task);
  await vi.advanceTimersByTimeAsync(300);
  for (let count = 0; count < 5; count++) wake('task');
  held.finish();
  await vi.advanceTimersByTimeAsync(1);
  expect(ranAtMs).toEqual([0, 300]);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(ranAtMs).toEqual([0, 300]);
});

it('stopping waits for the running step, and nothing runs afterwards', async () => {
  const held = heldStep();
  const busy = recordedTask(100, () => held.promise, 'busy');
  const resting = recordedTask(100, () => false, 'resting');
  const { stop, wake } = start(busy.task, resting.task);
  await vi.advanceTimersByTimeAsync(50);
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(isStopped).toBe(false);
  // No step follows, even though this one reports more work.
  held.finish(true);
  await stopped;
  wake('busy', 'resting');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(busy.ranAtMs).toHaveLength(1);
  expect(resting.ranAtMs).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});

it('stopping does not wait for the pause of a task that failed', async () => {
  const { task, ranAtMs } = recordedTask(60_000, () => Promise.reject(new Error('no luck')));
  const { stop } = start(task);
  await vi.advanceTimersByTimeAsync(10);
  await stop();
  expect(ranAtMs).toEqual([0]);
  expect(vi.getTimerCount()).toBe(0);
});

it('wakes every task of a name, also where several have it', async () => {
  const first = recordedTask(1_000, () => false, 'relay');
  const second = recordedTask(1_000, () => false, 'relay');
  const woken = start(first.task, second.task);
  await vi.advanceTimersByTimeAsync(100);
  woken.wake('relay');
  await vi.advanceTimersByTimeAsync(0);
  expect([first.ranAtMs, second.ranAtMs]).toEqual([
    [0, 100],
    [0, 100],
  ]);
});
