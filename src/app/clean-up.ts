/** Something that was started, with everything under it. */
export interface Running {
  stop(): Promise<void>;
}

/**
 * What has to be undone, in reverse order, when stopping or when a later step of starting fails. An undoing that fails
 * does not keep the others from being undone.
 */
export interface CleanUp {
  add<T>(part: T, undo: (part: T) => Promise<void>): T;
}

/** A start was stopped before its end. */
export class StartStoppedError extends Error {
  override readonly name = 'StartStoppedError';
}

/**
 * Starts something step by step; when a step fails, the ones before it are undone.
 *
 * @param stopped ends the start as well: what it waits for then is undone when it comes, and not waited for
 */
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

/** Several errors in one, which says what all of them say. */
function bundle(errors: readonly unknown[]): AggregateError {
  const texts = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  return new AggregateError(errors, texts.join('; '));
}
