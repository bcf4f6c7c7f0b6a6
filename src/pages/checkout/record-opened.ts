import { LRUCache } from 'lru-cache';
import type { RecordStore } from '../../accounts/account-store.ts';
import type { PaymentReference } from '../../payment/payment.ts';

interface Context extends Readonly<{ records: Pick<RecordStore, 'addRecords'> }> {
  readonly nowMs: () => number;
  readonly onFailure: (error: unknown) => void;
}

/** Maximum number of remembered payments, whose reloads cause no writes. */
const REMEMBERED = 10_000;

/** Records when a customer first opens a payment page. Pages do not wait for the write, but `flush` does. */
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
