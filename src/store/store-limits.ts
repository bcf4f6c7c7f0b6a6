/** Limits that every engine keeps alike. */

/** How many cursors of the past are remembered, for finding where a rewound chain still agrees. */
export const MAXIMUM_CHECKPOINTS = 200;

/** The most rows one call may ask for. */
const MAXIMUM_LIST_LENGTH = 10_000;

/**
 * Refuses (RangeError) a `limit` that is no whole number from 1 to 10,000. It is not cut down silently, because a
 * caller takes a list that is shorter than its limit for the last one.
 */
export function checkListLimit(limit: number): void {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAXIMUM_LIST_LENGTH) {
    throw new RangeError(`a list's limit must be from 1 to ${MAXIMUM_LIST_LENGTH}, not ${limit}`);
  }
}

/** How many old idempotency records go for each that is added: more than one, so that the table shrinks to those that still stand. */
export const PURGED_PER_RECORD = 4;

/** Sorts after every id. */
export const AFTER_ALL_IDS = '~';
