import { StoreClosedError, StoreOverloadedError } from './store-errors.ts';

/** The most that is served together; what is left waits for the next group. */
const MAXIMUM_GROUP = 256;
/** The most that may wait. */
const MAXIMUM_WAITING = 20_000;

/** Something asked of the store, with the promise it is answered by. */
export interface Request<Work> {
  readonly work: Work;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects what is asked for within a turn of the event loop, so that it can be served together. While as many groups
 * as may be are under way, what is asked for waits and grows into the next group: the busier, the larger the groups,
 * and the fewer round trips each request costs.
 *
 * @param serve answers each request of a group; what it leaves unanswered when it throws is rejected with its error
 */
export function createTickQueue<Work>(
  serve: (group: readonly Request<Work>[]) => Promise<void>,
  maximumGroupsUnderWay: number,
) {
  const waiting: Request<Work>[] = [];
  let underWay = 0;
  let isScheduled = false;
  let closing: PromiseWithResolvers<void> | null = null;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      serveWaiting();
    });
  }

  function serveWaiting(): void {
    while (waiting.length > 0 && underWay < maximumGroupsUnderWay)
      void serveGroup(waiting.splice(0, MAXIMUM_GROUP));
    if (waiting.length === 0 && underWay === 0) closing?.resolve();
  }

  async function serveGroup(group: readonly Request<Work>[]): Promise<void> {
    underWay++;
    try {
      await serve(group);
    } catch (error) {
      for (const request of group) request.reject(error);
    }
    underWay--;
    if (waiting.length > 0 || closing !== null) schedule();
  }

  return {
    /** Rejects when the queue is closed (`StoreClosedError`) or too much waits (`StoreOverloadedError`). */
    ask<T>(work: Work): Promise<T> {
      if (closing !== null) return Promise.reject(new StoreClosedError());
      if (waiting.length >= MAXIMUM_WAITING) return Promise.reject(new StoreOverloadedError(waiting.length));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.push({ work, resolve, reject });
      schedule();
      return promise as Promise<T>;
    },
    /** Resolves once everything that waits is served; what is asked later rejects. */
    close(): Promise<void> {
      closing ??= Promise.withResolvers<void>();
      schedule();
      return closing.promise;
    },
  };
}
