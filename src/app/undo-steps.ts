/** A running part of the service. `stop` also stops everything that the part has started. */
export interface Running {
  stop(): Promise<void>;
}

/** Steps that are undone in reverse order on a stop or when a later step fails. All are undone, even if one fails. */
export interface UndoSteps {
  add<T>(part: T, undo: (part: T) => Promise<void>): T;
}

export class StartStoppedError extends Error {}

/** Runs startup steps. Undoes them, including one in progress, if one fails or `stopped` resolves. */
export async function withUndoSteps(
  start: (undoSteps: UndoSteps) => Promise<void>,
  stopped: Promise<unknown> = new Promise(() => {}),
): Promise<Running> {
  const steps = new AsyncDisposableStack();
  const stop = () =>
    steps.disposeAsync().catch((error) => {
      throw error instanceof SuppressedError ? new Error(textOf(error), { cause: error }) : error;
    });
  const stoppedStart = stopped.then(() => {
    throw new StartStoppedError('stopped before the start was complete');
  });
  try {
    const started = start({
      add(part, undo) {
        if (!steps.disposed) return steps.adopt(part, undo);
        undo(part).catch(() => {});
        throw new StartStoppedError('stopped before this step');
      },
    });
    await Promise.race([started, stoppedStart]);
  } catch (error) {
    await stop().catch((failure) => {
      throw new Error(`${textOf(error)}; ${textOf(failure)}`, { cause: error });
    });
    throw error;
  }
  return { stop };
}

/** Returns the messages of all nested failures, in order. */
function textOf(error: unknown): string {
  if (error instanceof SuppressedError) return `${textOf(error.suppressed)}; ${textOf(error.error)}`;
  return error instanceof Error ? error.message : String(error);
}
