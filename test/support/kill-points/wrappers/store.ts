import type { Store } from '../../../../src/app/store/store.ts';
import type { PaymentStore } from '../../../../src/payment/payment-store.ts';
import type {
  ObservationStore,
  RelayStore,
  ScanRecord,
} from '../../../../src/settlement/settlement-store.ts';
import type { WebhookStore } from '../../../../src/webhooks/send-webhook.ts';
import type { KillPoint } from '../points.ts';
import { endHold, reach } from '../reach.ts';

let isRaised = false;

/** Whether what is broadcast now is an attempt with higher fees. */
export const hasHigherFees = (): boolean => isRaised;

/** The same store with kill points around what it writes. */
export function withKillPoints(store: Store): Store {
  return {
    ...store,
    payments: { ...store.payments, ...paymentPoints(store.payments) },
    observations: { ...store.observations, ...observationPoints(store.observations) },
    relay: { ...store.relay, ...relayPoints(store.relay) },
    webhooks: { ...store.webhooks, ...webhookPoints(store.webhooks) },
  };
}

async function between<T>(before: KillPoint, write: () => Promise<T>, after: KillPoint): Promise<T> {
  reach(before);
  const written = await write();
  reach(after);
  return written;
}

const paymentPoints = (store: PaymentStore): Pick<PaymentStore, 'createPayment' | 'addSession'> => ({
  createPayment: (payment, idempotency) =>
    between(
      'create accepted … written',
      () => store.createPayment(payment, idempotency),
      'create written … answered',
    ),
  addSession: (session, decide) =>
    between(
      'session started … written',
      () => store.addSession(session, decide),
      'session written … answered',
    ),
});

const observationPoints = (store: ObservationStore): Pick<ObservationStore, 'recordScan'> => ({
  async recordScan(scan, decide) {
    const { before, after } = pointsOf(scan);
    reach(...before);
    const recorded = await store.recordScan(scan, decide);
    reach(...after);
    return recorded;
  },
});

function pointsOf({ deposits, releases, final }: ScanRecord): { before: KillPoint[]; after: KillPoint[] } {
  const isFinal = ({ blockNumber }: { readonly blockNumber: number }) => blockNumber <= final.number;
  const before: KillPoint[] = [];
  const after: KillPoint[] = [];
  const add = (isThere: boolean, first: KillPoint, second: KillPoint) => {
    if (!isThere) return;
    before.push(first);
    after.push(second);
  };
  const isSeen = (row: { readonly blockNumber: number }) => !isFinal(row);
  add(deposits.some(isSeen), 'deposit seen … recorded', 'deposit recorded … final');
  add(deposits.some(isFinal), 'deposit final … recorded', 'final deposit recorded … claimed');
  add(releases.some(isSeen), 'release seen … recorded', 'release recorded … final');
  add(releases.some(isFinal), 'release final … recorded', 'paid recorded … webhook claimed');
  return { before, after };
}

const relayPoints = (
  store: RelayStore,
): Pick<RelayStore, 'claimDueReleases' | 'openBatch' | 'replaceBatch' | 'addAttempt' | 'closeBatch'> => ({
  async claimDueReleases(...query) {
    const claimed = await store.claimDueReleases(...query);
    if (claimed.length > 0) reach('release claimed … signed');
    return claimed;
  },
  openBatch(batch, decide) {
    isRaised = false;
    return between(
      'release signed … stored',
      () => store.openBatch(batch, decide),
      'release stored … broadcast',
    );
  },
  replaceBatch(...replacement) {
    isRaised = false;
    return between(
      'release signed … stored',
      () => store.replaceBatch(...replacement),
      'release stored … broadcast',
    );
  },
  addAttempt(batchId, attempt) {
    isRaised = true;
    endHold();
    return between(
      'higher fees signed … stored',
      () => store.addAttempt(batchId, attempt),
      'higher fees stored … broadcast',
    );
  },
  closeBatch: (batchId, outcome, closedAtMs, decide) =>
    between(
      'batch final … closed',
      () => store.closeBatch(batchId, outcome, closedAtMs, decide),
      'batch closed … next',
    ),
});

const webhookPoints = (store: WebhookStore): Pick<WebhookStore, 'claimWebhooks' | 'recordWebhookResult'> => ({
  async claimWebhooks(ids, nowMs, claimable) {
    const claimed = await store.claimWebhooks(ids, nowMs, claimable);
    if (claimed.length > 0) reach('webhook claimed … connected');
    return claimed;
  },
  recordWebhookResult: (webhook, result) =>
    between(
      'webhook answered … recorded',
      () => store.recordWebhookResult(webhook, result),
      'webhook recorded … next',
    ),
});
