import { setTimeout as delay } from 'node:timers/promises';
import { eraseOldEmails } from '../payments/erase-old-emails.ts';
import type { WorkerTask } from '../worker.ts';
import type { WorkerParts } from './worker-parts.ts';

const ERASING_INTERVAL_MS = 10 * 60_000;
/** Between two portions, for the same reason as with the index: SQLite writes in the API's own thread. */
const PAUSE_MS = 50;

/** Erases customers' e-mail addresses that accounts want to keep no longer. */
export function createErasingTask({ store, nowMs }: Pick<WorkerParts, 'store' | 'nowMs'>): WorkerTask {
  return {
    name: 'erase e-mail addresses',
    intervalMs: ERASING_INTERVAL_MS,
    async run() {
      const hasMore = await eraseOldEmails({ ...store, nowMs });
      if (hasMore) await delay(PAUSE_MS);
      return hasMore;
    },
  };
}
