import type { FeatureRecords } from '../../cli/verify/verify-context.ts';
import type { AlertStore } from '../../features/alerts/alert-store.ts';
import { createAlertStore, storedAlerts } from '../../features/alerts/stored-alerts.ts';
import type { NotificationStore } from '../../features/notifications/notification-store.ts';
import {
  createNotificationStore,
  storedNotifications,
} from '../../features/notifications/stored-notifications.ts';
import type { PaymentPageStore } from '../../features/payment-pages/payment-page-store.ts';
import {
  createPaymentPageStore,
  storedPaymentPages,
} from '../../features/payment-pages/stored-payment-pages.ts';
import type { RefundStore } from '../../features/refunds/refund-store.ts';
import { recordedRefunds } from '../../features/refunds/refunds.ts';
import { createRefundStore, storedRefunds } from '../../features/refunds/stored-refunds.ts';
import { assembleCore, type EngineParts } from '../../store/assemble-core.ts';
import type { Migration } from '../../store/migration.ts';
import { type Engine, schemaOf } from '../../store/schema.ts';
import type { Scripts } from '../../store/scripts.ts';
import type { CoreStore } from '../../store/store.ts';
import type { StoredFeature } from '../../store/stored-feature.ts';
import { coreTables } from '../../store/tables.ts';

/** Features that store data, in the order in which their tables are created. */
const features: readonly StoredFeature[] = [
  storedRefunds,
  storedPaymentPages,
  storedNotifications,
  storedAlerts,
];

export interface Store extends CoreStore {
  readonly alerts: AlertStore;
  readonly notifications: NotificationStore;
  readonly refunds: RefundStore;
  readonly paymentPages: PaymentPageStore;
  readonly featureRecords: FeatureRecords;
}

export function assembleStore(scripts: Scripts, nowMs: () => number, parts: EngineParts): Store {
  const refunds = createRefundStore(scripts);
  return {
    ...assembleCore(scripts, nowMs, features, parts),
    alerts: createAlertStore(scripts),
    notifications: createNotificationStore(scripts),
    refunds,
    featureRecords: recordedRefunds(refunds),
    paymentPages: createPaymentPageStore(scripts),
  };
}

/** All tables that `move-store` copies, each after those that it references. */
export const tables = [...coreTables, ...features.flatMap((feature) => feature.tables)];

/** Migrations by engine. The name of the first one distinguishes its schema from those of unreleased commits. */
export const migrations: Readonly<Record<Engine, readonly Migration[]>> = {
  SQLite: migrationsOf('SQLite'),
  PostgreSQL: migrationsOf('PostgreSQL'),
};

function migrationsOf(engine: Engine): readonly Migration[] {
  const sql = schemaOf(
    engine,
    features.map(({ schema }) => schema),
  );
  return [{ number: 1, name: 'schema of 0.1.0', sql }];
}
