import { StoreClosedError } from './store-errors.ts';

/** Maximum requests per group. The rest wait for the next group. */
const MAXIMUM_GROUP = 256;

export interface Request<Work> {
  readonly work: Work;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Groups requests of one event-loop turn, or made while a group runs. If `serve` throws, unsettled requests reject. */
export function createTickQueue<Work>(serve: (group: readonly Request<Work>[]) => Promise<void>) {
  const waiting: Request<Work>[] = [];
  /** Whether a group is scheduled or running. */
  let isScheduled = false;
  let closing: PromiseWithResolvers<void> | null = null;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(serveWaiting);
  }

  async function serveWaiting(): Promise<void> {
    const group = waiting.splice(0, MAXIMUM_GROUP);
    try {
      if (group.length > 0) await serve(group);
    } catch (error) {
      for (const request of group) request.reject(error);
    }
    isScheduled = false;
    if (waiting.length > 0) schedule();
    else closing?.resolve();
  }

  return {
    /** Adds a request. Rejects with `StoreClosedError` if the queue is closed. */
    ask<T>(work: Work): Promise<T> {
      if (closing !== null) return Promise.reject(new StoreClosedError());
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.push({ work, resolve, reject });
      schedule();
      return promise as Promise<T>;
    },
    /** Resolves after all earlier requests. Later requests reject. */
    close(): Promise<void> {
      closing ??= Promise.withResolvers<void>();
      schedule();
      return closing.promise;
    },
  };
}
