import type { Migration } from '../store/migration.ts';
import { type Engine, schemaOf, types } from '../store/schema.ts';
import { storedFeatures } from './stored-features.ts';

/** Compatibility of migrations that only add tables, columns and indexes: every version since 0.1.0 works with them. */
const additive = { oldestVersion: '0.1.0', lock: 'milliseconds' } as const;

/** Migrations by engine. The first migration's name distinguishes its schema from those of unreleased commits. */
export const migrations: Readonly<Record<Engine, readonly Migration[]>> = {
  SQLite: migrationsOf('SQLite'),
  PostgreSQL: migrationsOf('PostgreSQL'),
};

function migrationsOf(engine: Engine): readonly Migration[] {
  const sql = schemaOf(
    engine,
    storedFeatures.map(({ schema }) => schema),
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
