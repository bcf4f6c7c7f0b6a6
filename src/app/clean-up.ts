/** A started part of the service. `stop` also stops everything that the part has started. */
export interface Running {
  stop(): Promise<void>;
}

/** Steps that are undone in reverse order on a stop, or when a later step fails. All run, even if one fails. */
export interface CleanUp {
  add<T>(part: T, undo: (part: T) => Promise<void>): T;
}

export class StartStoppedError extends Error {}

/** Starts step by step. Undoes the steps if one fails or `stopped` resolves, also the one that is in progress then. */
export async function withCleanUp(
  start: (cleanUp: CleanUp) => Promise<void>,
  stopped: Promise<void> = new Promise(() => {}),
): Promise<Running> {
  let isStopped = false;
  const cleanups: (() => Promise<void>)[] = [];
  const stop = async () => {
    const failures: unknown[] = [];
    for (const undo of cleanups.splice(0).reverse()) await undo().catch((error) => failures.push(error));
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : bundle(failures);
  };
  const stoppedStart = stopped.then(() => {
    isStopped = true;
    throw new StartStoppedError('stopped before the start was complete');
  });
  try {
    const started = start({
      add(part, undo) {
        if (isStopped) {
          undo(part).catch(() => {});
          throw new StartStoppedError('stopped before this step');
        }
        cleanups.push(() => undo(part));
        return part;
      },
    });
    await Promise.race([started, stoppedStart]);
  } catch (error) {
    await stop().catch((failure) => {
      throw bundle([error, failure]);
    });
    throw error;
  }
  return { stop };
}

function bundle(errors: readonly unknown[]): AggregateError {
  const texts = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  return new AggregateError(errors, texts.join('; '));
}
