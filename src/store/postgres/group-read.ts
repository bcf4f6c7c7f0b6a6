import { createTickQueue } from '../tick-queue.ts';

/** A part of the store, and how to finish what is under way when the store closes. */
export interface Closable<Part> {
  readonly store: Part;
  close(): Promise<void>;
}

/** More groups at a time would only make them smaller. */
const MAXIMUM_GROUPS_UNDER_WAY = 2;

/**
 * Reads of one kind that are asked for within one turn of the event loop share one statement. It is sent after all
 * of them were asked for, so that each sees everything that was committed before it was asked: nothing is kept in
 * memory, and what one instance changes holds on every other with the next read.
 *
 * @param load reads for all keys at once; returns how to find the answer for one of them
 */
export function createGroupRead<Key, Value>(load: (keys: readonly Key[]) => Promise<(key: Key) => Value>) {
  const queue = createTickQueue<Key>(async (group) => {
    const find = await load(group.map(({ work }) => work));
    for (const { work, resolve, reject } of group) {
      try {
        resolve(find(work));
      } catch (error) {
        // A row in an unknown state is the error of those alone who asked for it.
        reject(error);
      }
    }
  }, MAXIMUM_GROUPS_UNDER_WAY);
  return {
    read: (key: Key) => queue.ask<Value>(key),
    /** Answers what is waiting; later reads reject. */
    close: () => queue.close(),
  };
}
