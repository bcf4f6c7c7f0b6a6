import { createAlertStore, storedAlerts } from '../../features/alerts/stored-alerts.ts';
import {
  createNotificationStore,
  storedNotifications,
} from '../../features/notifications/stored-notifications.ts';
import {
  createPaymentPageStore,
  storedPaymentPages,
} from '../../features/payment-pages/stored-payment-pages.ts';
import { recordedRefunds } from '../../features/refunds/refunds.ts';
import { createRefundStore, storedRefunds } from '../../features/refunds/stored-refunds.ts';
import { assembleCore, type CoreStore, type EngineParts } from '../../store/assemble-core.ts';
import type { Migration } from '../../store/migration.ts';
import { type Engine, schemaOf, types } from '../../store/schema.ts';
import type { Scripts } from '../../store/scripts.ts';
import type { StoredFeature } from '../../store/stored-feature.ts';
import { coreTables } from '../../store/tables.ts';

/** Features that store data, in the order in which their tables are created. */
const features: readonly StoredFeature[] = [
  storedRefunds,
  storedPaymentPages,
  storedNotifications,
  storedAlerts,
];

export type Store = ReturnType<typeof assembleStore>;

export interface StoreOptions {
  /** Wall clock for the times that the store itself records. */
  readonly nowMs?: () => number;
  /** Called with the error of a broken idle connection (PostgreSQL), and of a failed commit (SQLite), as its callers. */
  readonly onError?: (error: Error) => void;
  /** Whether the schema may be created or changed permanently (default true). If not, an older one is refused. */
  readonly mayMigrate?: boolean;
}

export function assembleStore(scripts: Scripts, nowMs: () => number, parts: EngineParts) {
  const core: CoreStore = assembleCore(scripts, nowMs, features, parts);
  const refunds = createRefundStore(scripts);
  return {
    ...core,
    alerts: createAlertStore(scripts),
    notifications: createNotificationStore(scripts),
    refunds,
    featureRecords: recordedRefunds(refunds),
    paymentPages: createPaymentPageStore(scripts),
  };
}

/** All tables that `move-store` copies, each after those that it references. */
export const tables = [...coreTables, ...features.flatMap((feature) => feature.tables)];

/** New tables, columns that may be empty, and indexes of new columns: every version since 0.1.0 runs beside them. */
const additive = { oldestVersion: '0.1.0', lock: 'milliseconds' } as const;

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
  const { integer, text, json, texts } = types[engine];
  const emptyTexts = `${texts} NOT NULL DEFAULT ${engine === 'SQLite' ? "'[]'" : "'{}'"}`;
  return [
    { number: 1, name: 'schema of 0.1.0', sql, ...additive },
    {
      number: 2,
      name: 'addresses of customers who want a mail',
      sql: `ALTER TABLE receipts ADD COLUMN email text;
ALTER TABLE receipts ADD COLUMN language text;
CREATE INDEX receipts_with_address ON receipts (created_at_ms) WHERE email IS NOT NULL`,
      ...additive,
    },
    {
      number: 3,
      name: "providers' approvals",
      sql: `ALTER TABLE provider_sessions ADD COLUMN approved_at_ms ${integer}`,
      ...additive,
    },
    {
      number: 4,
      name: 'passkeys without a password, and refunds by account',
      sql: `ALTER TABLE passkeys ADD COLUMN is_passwordless integer NOT NULL DEFAULT 0;
CREATE INDEX refunds_by_account ON refunds (account_id, created_at_ms, id)`,
      ...additive,
    },
    {
      number: 5,
      name: "platforms' checkouts",
      sql: `ALTER TABLE payments ADD COLUMN reference ${text};
ALTER TABLE payments ADD COLUMN metadata ${json};
ALTER TABLE payments ADD COLUMN order_details ${json};
ALTER TABLE payments ADD COLUMN deadline_ms ${integer};
CREATE INDEX payments_by_reference ON payments (account_id, reference, id) WHERE reference IS NOT NULL;
CREATE INDEX payments_with_deadline ON payments (deadline_ms) WHERE deadline_ms IS NOT NULL AND status = 'unpaid';
ALTER TABLE accounts ADD COLUMN return_hosts ${emptyTexts}`,
      ...additive,
      lock: 'payments, while two indexes are built: about a second for a million payments',
    },
    {
      number: 6,
      name: 'signing secrets of webhooks',
      sql: `ALTER TABLE accounts ADD COLUMN webhook_secrets ${emptyTexts}`,
      ...additive,
    },
  ];
}
