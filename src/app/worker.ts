import type { Worker, WorkerTask } from './worker-parts.ts';

/** Maximum factor of the interval after failures; each consecutive failure doubles it. */
const MAXIMUM_BACKOFF = 32;
/** Maximum pause after failures, unless the task's own interval is longer. */
const MAXIMUM_BACKOFF_MS = 60_000;

/** Runs each task in a loop, one step at a time. A failing step is reported and does not end the loop. */
export function startWorker(
  tasks: readonly WorkerTask[],
  onFailure: (name: string, error: unknown, failuresInARow: number) => void,
): Worker {
  const wakeSignals = tasks.map(({ name }) => ({ name, signal: createWakeSignal() }));
  const stopping = new AbortController();

  async function loop(task: WorkerTask, wakeSignal: WakeSignal): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      let hasMore: boolean | undefined = false;
      try {
        hasMore = await task.run(stopping.signal);
        failures = 0;
      } catch (error) {
        failures++;
        onFailure(task.name, error, failures);
      }
      if (hasMore || stopping.signal.aborted) continue;
      await wakeSignal.wait(pauseMs(task.intervalMs, failures), failures > 0);
    }
  }

  const loops = tasks.map((task, index) =>
    loop(task, (wakeSignals[index] as (typeof wakeSignals)[number]).signal),
  );
  return {
    wake(...names) {
      for (const { name, signal } of wakeSignals) if (names.includes(name)) signal.wake();
    },
    async stop() {
      stopping.abort();
      for (const { signal } of wakeSignals) signal.end();
      await Promise.all(loops);
    },
  };
}

function pauseMs(intervalMs: number, failuresInARow: number): number {
  const growing = intervalMs * Math.min(2 ** failuresInARow, MAXIMUM_BACKOFF);
  return Math.max(intervalMs, Math.min(growing, MAXIMUM_BACKOFF_MS));
}

type WakeSignal = ReturnType<typeof createWakeSignal>;

function createWakeSignal() {
  let wasWoken = false;
  let isListening = false;
  let endWait: (() => void) | null = null;
  return {
    wake() {
      wasWoken = true;
      if (isListening) endWait?.();
    },
    end() {
      wasWoken = true;
      endWait?.();
    },
    /**
     * Resolves after `timeoutMs`, or immediately if woken during or before the wait. After a failure it ignores
     * wake-ups, so that repeated announcements do not undo the growing pauses.
     */
    async wait(timeoutMs: number, ignoreWake: boolean): Promise<void> {
      isListening = !ignoreWake;
      if (ignoreWake || !wasWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          endWait = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      endWait = null;
      wasWoken = false;
    },
  };
}
