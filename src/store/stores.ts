import type { AccountStore, AuditStore, PeopleStore, SessionStore } from '../accounts/account-store.ts';
import type { RecordStore } from '../accounts/record-store.ts';
import type { NotificationStore } from '../features/notifications/notification-store.ts';
import type { ReusablePageStore } from '../features/payment-pages/payment-page-store.ts';
import type { RefundStore } from '../features/refunds/refund-store.ts';
import type { AlertStore, EmailStore, ReceiptStore } from '../mail/mail.ts';
import type { EventStore } from '../payment/event-store.ts';
import type { PaymentSearchStore } from '../payment/payment-search-store.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import type { ProviderStore, VisitStore } from '../providers/provider.ts';
import type { ObservationStore, RelayStore, SettlementStore } from '../settlement/settlement-store.ts';
import type { WebhookStore } from '../webhooks/webhook.ts';

/** Ports to all stored data, by name. */
export interface Stores {
  readonly accounts: AccountStore;
  readonly payments: PaymentStore;
  readonly search: PaymentSearchStore;
  readonly observations: ObservationStore;
  readonly relay: RelayStore;
  readonly webhooks: WebhookStore;
  readonly emails: EmailStore;
  readonly receipts: ReceiptStore;
  readonly alerts: AlertStore;
  readonly records: RecordStore;
  readonly events: EventStore;
  readonly notifications: NotificationStore;
  readonly refunds: RefundStore;
  readonly reusablePages: ReusablePageStore;
  readonly providers: ProviderStore;
  readonly visits: VisitStore;
  readonly settlements: SettlementStore;
  readonly people: PeopleStore;
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
}
