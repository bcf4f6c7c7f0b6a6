/** Something that goes on by itself, again and again. */
export interface WorkerTask {
  readonly name: string;
  /** The pause after a run that found nothing more to do. */
  readonly intervalMs: number;
  /** One bounded step; true when there is more to do at once. A long one ends early when the signal says so. */
  run(signal: AbortSignal): Promise<boolean | undefined>;
}

export interface Worker {
  /** Ends the pause of these tasks now. */
  wake(...names: string[]): void;
  /** Lets the running steps finish, then ends all loops. */
  stop(): Promise<void>;
}

/** A task that fails is tried again after its interval, doubled with each failure in a row up to this factor… */
const MAXIMUM_BACKOFF = 32;
/** …but after a minute at the latest, save for tasks whose interval is longer: those keep to their interval. */
const MAXIMUM_BACKOFF_MS = 60_000;

/** Runs every task in a loop of its own, one step at a time. A failing step is reported and never ends a loop. */
export function startWorker(
  tasks: readonly WorkerTask[],
  onFailure: (name: string, error: unknown, failuresInARow: number) => void,
): Worker {
  // Several tasks may have one name.
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
    /** Ends a wait whatever it is for. */
    end() {
      wasWoken = true;
      endWait?.();
    },
    /**
     * Resolves after `timeoutMs`, or at once when woken during or before the wait. After a failure it ignores
     * wake-ups: work that is announced again and again must not undo the growing pauses.
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
