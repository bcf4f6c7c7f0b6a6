import { LRUCache } from 'lru-cache';
import type { AccountRecord, RecordStore } from '../../accounts/record-store.ts';
import type { PaymentReference } from '../../payment/payment.ts';

interface Context extends Readonly<{ records: Pick<RecordStore, 'addRecords'> }> {
  readonly nowMs: () => number;
  readonly onFailure: (error: unknown) => void;
}

/** Maximum pending records; more are dropped, because customers must not wait. */
const MAXIMUM_WAITING = 1_000;
/** Number of remembered payments, so that reloads write nothing. */
const REMEMBERED = 10_000;
const WRITE_AFTER_MS = 1_000;

/** Records the first time that a customer opens a payment's page, batched by second. `flush` writes what is pending. */
export function createOpenedRecorder({ records, nowMs, onFailure }: Context) {
  const known = new LRUCache<string, true>({ max: REMEMBERED });
  let waiting: AccountRecord[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const opened = waiting;
    waiting = [];
    if (opened.length > 0) await records.addRecords(opened).catch(onFailure);
  }

  return {
    flush,
    record({ accountId, id }: PaymentReference): void {
      if (known.has(id) || waiting.length >= MAXIMUM_WAITING) return;
      known.set(id, true);
      waiting.push({ accountId, kind: 'opened', name: id, texts: [], atMs: nowMs() });
      timer ??= setTimeout(() => void flush(), WRITE_AFTER_MS).unref();
    },
  };
}
