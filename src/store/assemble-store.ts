import { createAlertStore } from '../features/alerts/stored-alerts.ts';
import { createNotificationStore } from '../features/notifications/stored-notifications.ts';
import { createReusablePageStore } from '../features/payment-pages/stored-payment-pages.ts';
import { createRefundStore, revertRefundsAbove } from '../features/refunds/stored-refunds.ts';
import type { RelayStore } from '../settlement/settlement-store.ts';
import { createEmailStore, createReceiptStore } from './emails.ts';
import { createEventStore } from './events.ts';
import { createObservationStore } from './observations.ts';
import { createPaymentHistory, createPaymentStatistics } from './payment-history.ts';
import { createPaymentLists } from './payment-lists.ts';
import { createPaymentSearch } from './payment-search.ts';
import { decideOne, selectPayment, viewPayments } from './payments.ts';
import { createAuditStore, createPeopleStore } from './people.ts';
import { createProviderSessions, createProviderStore, createVisitStore } from './providers.ts';
import { createRecordStore } from './records.ts';
import { createRelayBatches } from './relay-batches.ts';
import type { Scripts } from './scripts.ts';
import { createSessionStore } from './sessions.ts';
import type { EnginePayments, Store } from './store.ts';
import { settlementTable } from './tables.ts';
import { createWebhookStore } from './webhooks.ts';

/** Parts that each engine implements itself. */
interface EngineParts extends Pick<Store, 'accounts' | 'shared' | 'close'> {
  readonly payments: EnginePayments;
  readonly releaseClaims: Pick<RelayStore, 'claimDueReleases' | 'dropClaims'>;
}

const moveToFront = `ON CONFLICT (chain_id, factory, fee_wallet)
  DO UPDATE SET last_started_at_ms = excluded.last_started_at_ms`;

/** Assembles a store from an engine's own parts and from scripts. */
export function assembleStore(
  scripts: Scripts,
  nowMs: () => number,
  { accounts, payments, releaseClaims, shared, close }: EngineParts,
): Store {
  let closed: Promise<void> | null = null;
  return {
    accounts,
    payments: {
      ...payments,
      ...createPaymentLists(scripts),
      ...createProviderSessions(scripts, nowMs),
      findPaymentById: scripts.read(selectPayment),
      viewPayment: scripts.read(function* (id) {
        const [view] = yield* viewPayments([id]);
        return view ?? null;
      }),
      decidePayment: scripts.write((id, decide) => decideOne(id, decide, nowMs())),
    },
    search: {
      ...createPaymentSearch(scripts),
      ...createPaymentStatistics(scripts),
      ...createPaymentHistory(scripts),
    },
    observations: createObservationStore(scripts, nowMs, revertRefundsAbove),
    relay: { ...createRelayBatches(scripts, nowMs), ...releaseClaims },
    webhooks: createWebhookStore(scripts, { isShared: shared !== null }, nowMs),
    emails: createEmailStore(scripts),
    receipts: createReceiptStore(scripts),
    alerts: createAlertStore(scripts),
    records: createRecordStore(scripts),
    events: createEventStore(scripts, nowMs),
    notifications: createNotificationStore(scripts),
    refunds: createRefundStore(scripts),
    reusablePages: createReusablePageStore(scripts),
    providers: createProviderStore(scripts),
    // Read anew on each call: there are only a few.
    settlements: {
      rememberSettlement: scripts.write(function* (settlement) {
        yield* settlementTable.insert(settlement, moveToFront);
      }),
      listSettlements: scripts.read(() => settlementTable.select`ORDER BY last_started_at_ms DESC`),
    },
    people: createPeopleStore(scripts),
    sessions: createSessionStore(scripts),
    audit: createAuditStore(scripts),
    visits: createVisitStore(scripts),
    shared,
    close() {
      closed ??= close();
      return closed;
    },
  };
}
