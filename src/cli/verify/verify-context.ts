import type { Refund } from '../../features/refunds/refund.ts';
import type { RefundStore } from '../../features/refunds/refund-store.ts';
import type { PaymentSearchStore } from '../../payment/payment-search-store.ts';
import type { PaymentStore, PaymentView } from '../../payment/payment-store.ts';
import type { VerifiedChain } from '../../settlement/chain/chain.ts';
import type { JournalEntry } from '../../settlement/journal.ts';
import type {
  ObservationStore,
  RelayBatch,
  RelayStore,
  SettlementStore,
} from '../../settlement/settlement-store.ts';
import type { Webhook, WebhookStore } from '../../webhooks/webhook.ts';

export interface VerifyContext
  extends Readonly<{
    payments: Pick<PaymentStore, 'findPaymentById' | 'findNewest' | 'listPaymentIds' | 'viewPayment'>;
    observations: Pick<ObservationStore, 'listEntries' | 'listEntriesOf' | 'listFolded' | 'readCursor'>;
    webhooks: Pick<WebhookStore, 'listWebhooks'>;
    refunds: Pick<RefundStore, 'listRefunds'>;
    relay: Pick<RelayStore, 'listOpenBatches'>;
    settlements: Pick<SettlementStore, 'listSettlements'>;
    search: Pick<PaymentSearchStore, 'listHistories'>;
  }> {
  /** If null, the database is only compared with itself. */
  readonly chain: VerifiedChain | null;
  readonly nowMs: () => number;
  /** Waits between two checks of an inconsistent payment, long enough for writes in progress. */
  readonly pause: () => Promise<void>;
}

export interface PaymentFacts {
  readonly view: PaymentView;
  /** Its journal entries, in order. */
  readonly entries: readonly JournalEntry[];
  readonly webhooks: readonly Webhook[];
  readonly paidRefunds: readonly Refund[];
}

export interface CheckContext {
  readonly nowMs: number;
  readonly openBatches: readonly RelayBatch[];
  /** Time of the newest scanned final block, up to which the service was running. */
  readonly scannedToMs: number;
  /** Deposit address of the payment's terms; null for an unknown factory. */
  readonly depositAddressOf: (payment: PaymentView['payment']) => string | null;
}

export function finalRowsOf({ observations }: PaymentView) {
  const isFinal = ({ blockNumber }: { readonly blockNumber: number }) =>
    blockNumber <= observations.finalBlock;
  return { deposits: observations.deposits.filter(isFinal), releases: observations.releases.filter(isFinal) };
}
