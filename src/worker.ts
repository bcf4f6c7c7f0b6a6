/** Something that goes on by itself, again and again. */
export interface WorkerTask {
  readonly name: string;
  /** The pause after a run that found nothing more to do. */
  readonly intervalMs: number;
  /** One bounded step; true when there is more to do at once. */
  run(): Promise<boolean>;
}

export interface Worker {
  /** Ends the pause of these tasks now. */
  wake(...names: string[]): void;
  /** Lets the running steps finish, then ends all loops. */
  stop(): Promise<void>;
}

/** A task that fails is tried again after its interval, doubled with each failure in a row up to this factor. */
const MAXIMUM_BACKOFF = 32;

/** Runs every task in a loop of its own, one step at a time. A failing step is reported and never ends a loop. */
export function startWorker(
  tasks: readonly WorkerTask[],
  onFailure: (name: string, error: unknown, failuresInARow: number) => void,
): Worker {
  const bells = new Map(tasks.map((task) => [task.name, createBell()]));
  let isStopping = false;

  async function loop(task: WorkerTask): Promise<void> {
    const bell = bells.get(task.name) as Bell;
    let failures = 0;
    while (!isStopping) {
      let hasMore = false;
      try {
        hasMore = await task.run();
        failures = 0;
      } catch (error) {
        failures++;
        onFailure(task.name, error, failures);
      }
      if (!hasMore && !isStopping)
        await bell.wait(task.intervalMs * Math.min(2 ** failures, MAXIMUM_BACKOFF));
    }
  }

  const loops = tasks.map(loop);
  return {
    wake(...names) {
      for (const name of names) bells.get(name)?.ring();
    },
    async stop() {
      isStopping = true;
      for (const bell of bells.values()) bell.ring();
      await Promise.all(loops);
    },
  };
}

interface Bell {
  ring(): void;
  /** Resolves after `timeoutMs`, or at once when rung during or before the wait. */
  wait(timeoutMs: number): Promise<void>;
}

function createBell(): Bell {
  let wasRung = false;
  let endWait: (() => void) | null = null;
  return {
    ring() {
      wasRung = true;
      endWait?.();
    },
    async wait(timeoutMs) {
      if (!wasRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          endWait = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      endWait = null;
      wasRung = false;
    },
  };
}
