import { eraseOldEmails } from '../payments/erase-old-emails.ts';
import type { WorkerTask } from '../worker.ts';
import { pauseBetweenPortions } from './pause-between-portions.ts';
import type { WorkerParts } from './worker-parts.ts';

const ERASING_INTERVAL_MS = 10 * 60_000;

/** Erases customers' e-mail addresses that accounts want to keep no longer. */
export function createErasingTask({ store, nowMs }: Pick<WorkerParts, 'store' | 'nowMs'>): WorkerTask {
  return {
    name: 'erase e-mail addresses',
    intervalMs: ERASING_INTERVAL_MS,
    async run(signal) {
      const hasMore = await eraseOldEmails({ ...store, nowMs });
      if (hasMore) await pauseBetweenPortions(signal);
      return hasMore;
    },
  };
}
