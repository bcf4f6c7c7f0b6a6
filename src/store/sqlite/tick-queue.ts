import { StoreClosedError, StoreOverloadedError } from '../store-errors.ts';

/** The most that is served in one turn of the event loop; what is left waits for the next one. */
const MAXIMUM_GROUP = 256;
/** The most that may wait. */
const MAXIMUM_WAITING = 20_000;

/** Something asked of the store, with the promise it was answered by. */
export interface Request<Work> {
  readonly work: Work;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects what is asked for within a turn of the event loop, so that it can be served together. */
export interface TickQueue<Work> {
  /** Rejects when the queue is closed (`StoreClosedError`) or too much waits (`StoreOverloadedError`). */
  ask<T>(work: Work): Promise<T>;
  /** Resolves once everything that waits is served; what is asked later rejects. */
  close(): Promise<void>;
}

/**
 * @param serve answers each request of a group; or answers none and returns the milliseconds after which it wants
 * to be called again
 */
export function createTickQueue<Work>(
  serve: (group: readonly Request<Work>[]) => number | null,
): TickQueue<Work> {
  let waiting: Request<Work>[] = [];
  let isScheduled = false;
  let closing: PromiseWithResolvers<void> | null = null;

  function schedule(afterMs: number | null): void {
    if (isScheduled) return;
    isScheduled = true;
    if (afterMs === null) setImmediate(flush);
    else setTimeout(flush, afterMs);
  }

  function flush(): void {
    isScheduled = false;
    const group = takeGroup();
    const againAfterMs = group.length === 0 ? null : serve(group);
    if (againAfterMs !== null) waiting = [...group, ...waiting];
    if (waiting.length > 0) schedule(againAfterMs);
    else closing?.resolve();
  }

  /** Taken out before it is served, as serving may ask for more. */
  function takeGroup(): Request<Work>[] {
    if (waiting.length > MAXIMUM_GROUP) return waiting.splice(0, MAXIMUM_GROUP);
    const group = waiting;
    waiting = [];
    return group;
  }

  return {
    ask<T>(work: Work): Promise<T> {
      if (closing !== null) return Promise.reject(new StoreClosedError());
      if (waiting.length >= MAXIMUM_WAITING) return Promise.reject(new StoreOverloadedError(waiting.length));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.push({ work, resolve, reject });
      schedule(null);
      return promise as Promise<T>;
    },
    close() {
      closing ??= Promise.withResolvers<void>();
      schedule(null);
      return closing.promise;
    },
  };
}
