import { LRUCache } from 'lru-cache';
import type { RecordStore } from '../../accounts/account-store.ts';
import type { PaymentReference } from '../../payment/payment.ts';

interface Context extends Readonly<{ records: Pick<RecordStore, 'addRecords'> }> {
  readonly nowMs: () => number;
  readonly onFailure: (error: unknown) => void;
}

/** Maximum remembered payments, for which reloads write nothing. */
const REMEMBERED = 10_000;

/** Records when a customer first opens a payment's page. The page does not wait for the write; `flush` does. */
export function createOpenedRecorder({ records, nowMs, onFailure }: Context) {
  const known = new LRUCache<string, true>({ max: REMEMBERED });
  let last: Promise<void> = Promise.resolve();
  return {
    flush: () => last,
    record({ accountId, id }: PaymentReference): void {
      if (known.has(id)) return;
      known.set(id, true);
      const opened = { accountId, kind: 'opened', name: id, texts: [], atMs: nowMs() } as const;
      last = records.addRecords([opened]).catch(onFailure);
    },
  };
}
