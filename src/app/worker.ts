import { trace } from '../platform/tracing.ts';
import type { WorkerTask } from './worker-parts.ts';

export type Worker = ReturnType<typeof startWorker>;

/** Maximum factor of the interval after failures; each consecutive failure doubles it. */
const MAXIMUM_BACKOFF = 32;
/** Maximum pause after failures, unless the task's own interval is longer. */
const MAXIMUM_BACKOFF_MS = 60_000;

/** Runs each task in a loop, one step at a time. A failing step is reported and does not end the loop. */
export function startWorker(
  tasks: readonly WorkerTask[],
  onFailure: (name: string, error: unknown, failuresInARow: number) => void,
) {
  const loops = tasks.map((task) => ({ task, pause: new AbortController(), isFailing: false }));
  const stopping = new AbortController();

  async function run(loop: (typeof loops)[number]): Promise<void> {
    const { task } = loop;
    let failures = 0;
    while (!stopping.signal.aborted) {
      let hasMore: boolean | undefined = false;
      try {
        hasMore = await trace(`task ${task.name}`, { isIdle: true }, () => task.run(stopping.signal));
        failures = 0;
      } catch (error) {
        failures++;
        onFailure(task.name, error, failures);
      }
      if (hasMore || stopping.signal.aborted) continue;
      // After a failure it ignores wake-ups, so that repeated announcements do not undo the growing pauses.
      loop.isFailing = failures > 0;
      if (loop.isFailing) loop.pause = new AbortController();
      const growingMs = task.intervalMs * Math.min(2 ** failures, MAXIMUM_BACKOFF);
      const pauseMs = Math.max(task.intervalMs, Math.min(growingMs, MAXIMUM_BACKOFF_MS));
      await elapse(pauseMs, loop.pause);
      loop.pause = new AbortController();
      loop.isFailing = false;
    }
  }

  const ended = loops.map(run);
  return {
    wake(...names: string[]): void {
      for (const { task, pause, isFailing } of loops)
        if (names.includes(task.name) && !isFailing) pause.abort();
    },
    /** Lets running steps finish, then ends all loops. */
    async stop(): Promise<void> {
      stopping.abort();
      for (const { pause } of loops) pause.abort();
      await Promise.all(ended);
    },
  };
}

async function elapse(durationMs: number, { signal }: AbortController): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, durationMs);
  signal.addEventListener('abort', () => resolve());
  await promise;
  clearTimeout(timer);
}
