import type { RelayStore } from '../domain/ports/settlement-store.ts';
import { createAddressPageStore } from './address-pages.ts';
import { createAlertStore } from './alerts.ts';
import { createEmailStore, createReceiptStore } from './emails.ts';
import { createEventStore } from './events.ts';
import { createObservationStore, createSettlementStore } from './observations.ts';
import { decideOne } from './payment-decisions.ts';
import { createPaymentHistory } from './payment-history.ts';
import { createPaymentIndex } from './payment-index.ts';
import { createPaymentLists } from './payment-lists.ts';
import { createPaymentSearch } from './payment-search.ts';
import { createAuditStore, createPeopleStore } from './people.ts';
import { createProviderSessions, createVisitStore } from './providers.ts';
import { createRefundStore } from './refunds.ts';
import { createRelayBatches } from './relay-batches.ts';
import type { EngineTraits, Scripts } from './scripts.ts';
import { createSessionStore } from './sessions.ts';
import type { EnginePayments, Store } from './store.ts';
import { createWebhookStore } from './webhooks.ts';

/** What each engine does in its own way. */
interface EngineParts extends Pick<Store, 'accounts' | 'providers' | 'shared' | 'close'> {
  readonly payments: EnginePayments;
  readonly releaseClaims: Pick<RelayStore, 'claimDueReleases' | 'dropClaims'>;
}

/** The store of an engine: its own parts, and those that are scripts. */
export function assembleStore(
  scripts: Scripts,
  traits: EngineTraits,
  nowMs: () => number,
  { accounts, payments, providers, releaseClaims, shared, close }: EngineParts,
): Store {
  let closed: Promise<void> | null = null;
  return {
    accounts,
    payments: {
      ...payments,
      ...createPaymentLists(scripts, traits),
      ...createProviderSessions(scripts, traits),
      decidePayment: scripts.write(decideOne),
    },
    search: {
      ...createPaymentSearch(scripts, traits),
      ...createPaymentIndex(scripts, traits),
      ...createPaymentHistory(scripts),
    },
    addressPages: createAddressPageStore(scripts),
    observations: createObservationStore(scripts, nowMs),
    relay: { ...createRelayBatches(scripts), ...releaseClaims },
    webhooks: createWebhookStore(scripts, traits, nowMs),
    emails: createEmailStore(scripts, traits),
    receipts: createReceiptStore(scripts),
    alerts: createAlertStore(scripts),
    events: createEventStore(scripts),
    refunds: createRefundStore(scripts),
    providers,
    settlements: createSettlementStore(scripts),
    people: createPeopleStore(scripts),
    sessions: createSessionStore(scripts),
    audit: createAuditStore(scripts),
    visits: createVisitStore(scripts, traits),
    shared,
    close() {
      closed ??= close();
      return closed;
    },
  };
}
