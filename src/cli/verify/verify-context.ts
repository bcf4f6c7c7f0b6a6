import type { PaymentId } from '../../payment/payment.ts';
import type { NumberedEvent } from '../../payment/payment-events.ts';
import type { PaymentSearchStore } from '../../payment/payment-search-store.ts';
import type { PaymentStore, PaymentView } from '../../payment/payment-store.ts';
import type { OnProgress } from '../../platform/progress.ts';
import type { VerifiedChain } from '../../settlement/chain/chain.ts';
import type { JournalEntry } from '../../settlement/journal.ts';
import type {
  ObservationStore,
  RelayBatch,
  RelayStore,
  SettlementStore,
} from '../../settlement/settlement-store.ts';
import type { Webhook, WebhookStore } from '../../webhooks/send-webhook.ts';
import type { Findings } from './discrepancies.ts';

export interface VerifyContext {
  readonly payments: Pick<PaymentStore, 'findPaymentById' | 'findNewest' | 'listPaymentIds' | 'viewPayment'>;
  readonly observations: Pick<
    ObservationStore,
    'listEntries' | 'listEntriesOf' | 'listFolded' | 'readCursor'
  >;
  readonly webhooks: Pick<WebhookStore, 'listWebhooks'>;
  readonly featureRecords: Pick<FeatureRecords, 'readCheck'>;
  readonly relay: Pick<RelayStore, 'listOpenBatches'>;
  readonly settlements: Pick<SettlementStore, 'listSettlements'>;
  readonly search: Pick<PaymentSearchStore, 'listHistories'>;
  /** Chain to compare with; null to compare the database only with itself. */
  readonly chain: VerifiedChain | null;
  readonly nowMs: () => number;
  readonly onProgress?: OnProgress | undefined;
  /** Waits between two checks of an inconsistent payment, long enough for writes in progress. */
  readonly pause: () => Promise<void>;
}

type CheckRecords = (chain: VerifiedChain | null, add: Findings['addAny']) => Promise<void>;

/** Records of features about payments, for the operator's commands. */
export interface FeatureRecords {
  readonly show: (id: PaymentId, nowMs: number) => Promise<Readonly<Record<string, unknown>>>;
  readonly fieldsOf: (event: NumberedEvent) => Readonly<Record<string, unknown>>;
  /** Reads a payment's records. Returns a function that checks them against the payment and, if given, the chain. */
  readonly readCheck: (view: PaymentView) => Promise<CheckRecords>;
}

export interface PaymentFacts {
  readonly view: PaymentView;
  readonly entries: readonly JournalEntry[];
  readonly webhooks: readonly Webhook[];
  readonly checkRecords: CheckRecords;
}

export interface CheckContext {
  readonly nowMs: number;
  readonly openBatches: readonly RelayBatch[];
  /** Time of the newest scanned final block, until which the service was running. */
  readonly scannedToMs: number;
  /** Returns the deposit address of the payment's terms; null for an unknown factory. */
  readonly depositAddressOf: (payment: PaymentView['payment']) => string | null;
}

export function finalRowsOf({ observations }: PaymentView) {
  const isFinal = ({ blockNumber }: { readonly blockNumber: number }) =>
    blockNumber <= observations.finalBlock;
  return { deposits: observations.deposits.filter(isFinal), releases: observations.releases.filter(isFinal) };
}
