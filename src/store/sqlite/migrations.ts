import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type Migration, pendingMigrations } from '../migration.ts';
import { initialSchema } from './initial-schema.ts';
import { peopleSchema } from './people-schema.ts';

/**
 * The schema, step by step. Never edit a migration that was released: add one.
 *
 * Amounts that the chain or a provider names are decimal text: a token can move any 256-bit number, and no such
 * number may stop the watcher or be rounded. Our own amounts are integers that JavaScript can hold exactly.
 */
export const migrations: readonly Migration[] = [
  initialSchema,
  {
    number: 2,
    name: 'the factories and fee wallets that payments were made with',
    sql: `
      CREATE TABLE settlements (
        chain_id INTEGER NOT NULL,
        token TEXT NOT NULL,
        factory TEXT NOT NULL,
        implementation TEXT NOT NULL,
        factory_code_hash TEXT NOT NULL,
        fee_wallet TEXT NOT NULL,
        last_started_at_ms INTEGER NOT NULL,
        PRIMARY KEY (chain_id, factory, fee_wallet)
      ) STRICT;
    `,
  },
  {
    number: 3,
    name: 'how many batches in a row released nothing of a payment',
    sql: `
      ALTER TABLE payments ADD COLUMN no_op_batches INTEGER NOT NULL DEFAULT 0;
    `,
  },
  {
    number: 4,
    name: 'the journal, which is only appended to',
    sql: `
      -- Only what is final on the chain, so a create writes nothing here. No reference to the payment: an entry stands
      -- for itself, whatever becomes of other tables.
      CREATE TABLE journal (
        number INTEGER PRIMARY KEY,
        previous_hash TEXT NOT NULL,
        hash TEXT NOT NULL,
        recorded_at_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        payment_id TEXT NOT NULL,
        units TEXT NOT NULL,
        token TEXT,
        transaction_hash TEXT NOT NULL,
        log_index INTEGER NOT NULL,
        block_number INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX journal_by_payment ON journal (payment_id);
      -- Of what was rescued the book is the only record, and is asked when the chain takes blocks back.
      CREATE INDEX journal_of_rescues ON journal (block_number) WHERE kind = 'rescued';

      CREATE TRIGGER journal_is_append_only BEFORE UPDATE ON journal
      BEGIN SELECT RAISE(ABORT, 'an entry of the journal is never changed'); END;
      CREATE TRIGGER journal_stays BEFORE DELETE ON journal
      BEGIN SELECT RAISE(ABORT, 'an entry of the journal is never removed'); END;
      -- REPLACE removes a row without asking the trigger above.
      CREATE TRIGGER journal_is_appended BEFORE INSERT ON journal
      WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM journal)
      BEGIN SELECT RAISE(ABORT, 'an entry of the journal follows on the last one'); END;
    `,
  },
  {
    number: 5,
    name: 'the same signed bytes in more than one batch',
    sql: `
      -- What was given up comes back byte by byte when nonce, payments and fees are the same again.
      CREATE TABLE repeatable_attempts (
        batch_id INTEGER NOT NULL REFERENCES relay_batches (id),
        position INTEGER NOT NULL,
        hash TEXT NOT NULL,
        raw_transaction TEXT NOT NULL,
        max_fee_per_gas TEXT NOT NULL,
        max_priority_fee_per_gas TEXT NOT NULL,
        signed_at_ms INTEGER NOT NULL,
        PRIMARY KEY (batch_id, position)
      ) STRICT;
      INSERT INTO repeatable_attempts
        (batch_id, position, hash, raw_transaction, max_fee_per_gas, max_priority_fee_per_gas, signed_at_ms)
        SELECT batch_id, position, hash, raw_transaction, max_fee_per_gas, max_priority_fee_per_gas, signed_at_ms
        FROM relay_attempts;
      DROP TABLE relay_attempts;
      ALTER TABLE repeatable_attempts RENAME TO relay_attempts;
    `,
  },
  {
    number: 6,
    name: 'pages of the address book',
    sql: `
      -- Derived from the payments, which a start would otherwise read one and all. Rows follow on each other.
      CREATE TABLE address_pages (
        after_row INTEGER PRIMARY KEY,
        entries BLOB NOT NULL,
        entries_hash TEXT NOT NULL
      ) STRICT;
    `,
  },
  {
    number: 7,
    name: 'whose and where to a webhook is, so that nobody waits behind the webhooks of others',
    sql: `
      ALTER TABLE webhooks ADD COLUMN account_id TEXT NOT NULL DEFAULT '';
      UPDATE webhooks SET account_id = (SELECT account_id FROM payments WHERE payments.id = payment_id);
      -- Of those that wait at this moment all hosts count as one.
      ALTER TABLE webhooks ADD COLUMN host TEXT NOT NULL DEFAULT '';
      DROP INDEX webhooks_pending;
      CREATE INDEX webhooks_waiting ON webhooks (account_id, created_at_ms, id, host) WHERE status = 'pending';
    `,
  },
  {
    number: 8,
    name: 'what providers tell of their sessions',
    sql: `
      ALTER TABLE provider_sessions ADD COLUMN progress TEXT;
      ALTER TABLE provider_sessions ADD COLUMN progress_at_ms INTEGER;
    `,
  },
  {
    number: 9,
    name: 'what people ask of payments: their states, lists, searches and statistics',
    sql: `
      CREATE TABLE state_changes (
        account_id TEXT NOT NULL,
        payment_id TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        state TEXT NOT NULL,
        PRIMARY KEY (account_id, payment_id, at_ms, state)
      ) STRICT, WITHOUT ROWID;

      -- Made from the payments a moment after them, so that a create maintains none of it. All of it may be deleted
      -- together while no server runs: it is then made anew.
      CREATE TABLE payment_index (watermark INTEGER NOT NULL) STRICT;
      INSERT INTO payment_index VALUES (0);
      CREATE TABLE account_payments (
        account_id TEXT NOT NULL,
        payment_id TEXT NOT NULL,
        PRIMARY KEY (account_id, payment_id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE payment_terms (
        account_id TEXT NOT NULL,
        term INTEGER NOT NULL,
        payment_id TEXT NOT NULL,
        PRIMARY KEY (account_id, term, payment_id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE uncounted_payments (
        account_id TEXT NOT NULL,
        payment_id TEXT NOT NULL,
        PRIMARY KEY (account_id, payment_id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE payment_slots (
        account_id TEXT NOT NULL,
        start_ms INTEGER NOT NULL,
        currency TEXT NOT NULL,
        created INTEGER NOT NULL,
        converted INTEGER NOT NULL,
        paid INTEGER NOT NULL,
        paid_cents INTEGER NOT NULL,
        PRIMARY KEY (account_id, start_ms, currency)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE paid_days (
        account_id TEXT NOT NULL,
        day_ms INTEGER NOT NULL,
        provider TEXT NOT NULL,
        settle_class INTEGER NOT NULL,
        paid INTEGER NOT NULL,
        PRIMARY KEY (account_id, day_ms, provider, settle_class)
      ) STRICT, WITHOUT ROWID;

      -- These leave new rows out, and most old ones.
      CREATE INDEX payments_unsettled ON payments (account_id, id)
        WHERE forward_status IN ('ready', 'processing', 'failed', 'manual_required');
      CREATE INDEX webhooks_failing ON webhooks (finished_at_ms)
        WHERE status IN ('failed', 'blocked', 'unknown');
      CREATE INDEX webhooks_failing_by_account ON webhooks (account_id, finished_at_ms)
        WHERE status IN ('failed', 'blocked', 'unknown');
    `,
  },
  {
    number: 10,
    name: 'how a shop appears to its customers, and the lock of its wallet',
    sql: `
      ALTER TABLE accounts ADD COLUMN logo_hash TEXT;
      ALTER TABLE accounts ADD COLUMN support_url TEXT;
      ALTER TABLE accounts ADD COLUMN return_url TEXT;
      ALTER TABLE accounts ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
      ALTER TABLE accounts ADD COLUMN default_callback_url TEXT;
      ALTER TABLE accounts ADD COLUMN wallet_locked INTEGER NOT NULL DEFAULT 0;
      -- Apart, because an account is read with every request. The image is base64.
      CREATE TABLE shop_logos (
        account_id TEXT PRIMARY KEY NOT NULL REFERENCES accounts (id),
        hash TEXT NOT NULL,
        type TEXT NOT NULL,
        image TEXT NOT NULL
      ) STRICT;
      CREATE INDEX shop_logos_by_hash ON shop_logos (hash);
    `,
  },
  peopleSchema,
  {
    number: 12,
    name: 'receipts by e-mail for customers',
    sql: `
      CREATE TABLE receipts (
        account_id TEXT NOT NULL,
        payment_id TEXT NOT NULL,
        status TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        claimed_at_ms INTEGER,
        finished_at_ms INTEGER,
        PRIMARY KEY (account_id, payment_id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX receipts_waiting ON receipts (created_at_ms) WHERE status = 'pending';
    `,
  },
  {
    number: 13,
    name: 'how long e-mail addresses of customers are kept',
    sql: `
      ALTER TABLE accounts ADD COLUMN email_retention_days INTEGER;
      -- Up to where the addresses of an account's customers are erased.
      CREATE TABLE email_frontiers (
        account_id TEXT PRIMARY KEY NOT NULL,
        payment_id TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
    `,
  },
  {
    number: 14,
    name: 'accounts, and what was done in all of them, by time',
    sql: `
      CREATE INDEX accounts_by_time ON accounts (created_at_ms, id);
      CREATE INDEX audit_entries_by_time ON audit_entries (at_ms, account_id, position);
    `,
  },
  {
    number: 15,
    name: 'whom to tell of alert',
    sql: `
      ALTER TABLE accounts ADD COLUMN trouble_mails INTEGER NOT NULL DEFAULT 1;
      -- Alert of an account that its owners were not told of yet, and when they were told last.
      CREATE TABLE alerts (
        account_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        count INTEGER NOT NULL,
        since_ms INTEGER NOT NULL,
        told_at_ms INTEGER NOT NULL,
        PRIMARY KEY (account_id, kind)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX alerts_unsent ON alerts (since_ms) WHERE count > 0;
      CREATE TABLE alert_cursors (name TEXT PRIMARY KEY NOT NULL, through_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      CREATE INDEX state_changes_needing_attention ON state_changes (at_ms)
        WHERE state IN ('unpaid/manual_required', 'paid/manual_required', 'canceled/manual_required');
    `,
  },
  {
    number: 16,
    name: 'passkeys',
    sql: `
      ALTER TABLE dashboard_sessions ADD COLUMN challenge TEXT;
      CREATE TABLE passkeys (
        id TEXT PRIMARY KEY NOT NULL,
        user_id TEXT NOT NULL REFERENCES users (id),
        name TEXT NOT NULL,
        public_key TEXT NOT NULL,
        counter INTEGER NOT NULL,
        transports TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        last_used_at_ms INTEGER
      ) STRICT;
      CREATE INDEX passkeys_by_user ON passkeys (user_id);
    `,
  },
  {
    number: 17,
    name: 'in which language a visit was begun',
    sql: 'ALTER TABLE provider_sessions ADD COLUMN language TEXT',
  },
  {
    number: 18,
    name: 'which payments are unsettled, without a list of states',
    sql: `
      -- For an IN list SQLite builds a table of its own with each row that is written: 1.4 of an insert's 6.5 µs.
      DROP INDEX payments_unsettled;
      CREATE INDEX payments_unsettled ON payments (account_id, id)
        WHERE forward_status = 'ready' OR forward_status = 'processing'
          OR forward_status = 'failed' OR forward_status = 'manual_required';
    `,
  },
  {
    number: 19,
    name: 'which sessions carry an e-mail address',
    // Earlier ones carry the payment's, where it has one.
    sql: 'ALTER TABLE provider_sessions ADD COLUMN has_email INTEGER NOT NULL DEFAULT 1',
  },
  {
    number: 20,
    name: 'the search finds words by their beginning',
    // Made anew from the payments by the task `index`, all of it: payments are counted as they are indexed.
    sql: `
      DELETE FROM payment_index;
      DELETE FROM payment_terms;
      DELETE FROM uncounted_payments;
      DELETE FROM payment_slots;
      DELETE FROM paid_days;
    `,
  },
  {
    number: 21,
    name: 'the terms of the paid threshold, and what has been seen of a payment',
    sql: `
      ALTER TABLE accounts ADD COLUMN tolerance_basis_points INTEGER;
      ALTER TABLE accounts ADD COLUMN max_provider_fee_basis_points INTEGER;
      -- Null for the payments that exist: they keep their threshold, and no maximum applies to them.
      ALTER TABLE payments ADD COLUMN tolerance_basis_points INTEGER;
      ALTER TABLE payments ADD COLUMN max_provider_fee_basis_points INTEGER;
      ALTER TABLE payments ADD COLUMN amount_mismatch TEXT;

      -- What the next decision about these payments would write.
      -- No more than 16 digits are added up: what a token invents beyond that must not overflow.
      UPDATE payments SET
        received_units = CAST(coalesce((SELECT sum(CAST(units AS INTEGER)) FROM deposits WHERE payment_id = payments.id AND length(units) < 17), 0) AS TEXT),
        txid_in = (
          SELECT transaction_hash FROM (
            SELECT transaction_hash, sum(CAST(units AS INTEGER)) OVER (ORDER BY block_number, log_index) AS running
            FROM deposits WHERE payment_id = payments.id AND length(units) < 17
          ) AS ordered
          ORDER BY running < enough_units OR status = 'canceled',
            CASE WHEN running < enough_units OR status = 'canceled' THEN -running ELSE running END
          LIMIT 1
        )
        WHERE id IN (SELECT payment_id FROM deposits)
          AND (status = 'unpaid' OR (status = 'canceled' AND forward_status = 'manual_required'));
      UPDATE payments SET amount_mismatch = 'partially_paid'
        WHERE id IN (SELECT payment_id FROM deposits) AND status = 'unpaid'
          AND CAST(received_units AS INTEGER) < enough_units
          AND (CAST(received_units AS INTEGER) >= 100000
            OR (enough_units - CAST(received_units AS INTEGER)) * 100 < enough_units * 90);
      UPDATE payments SET amount_mismatch = 'overpaid'
        WHERE id IN (SELECT payment_id FROM deposits) AND status <> 'canceled' AND amount_mismatch IS NULL
          AND (
            (SELECT sum(CAST(units AS INTEGER)) >= payments.usd_units + 100000 AND sum(CAST(units AS INTEGER)) * 100 >= payments.usd_units * 105
             FROM deposits WHERE payment_id = payments.id AND length(units) < 17)
            OR (SELECT count(*) >= 2 FROM deposits
                WHERE payment_id = payments.id AND length(units) < 17 AND CAST(units AS INTEGER) >= payments.enough_units)
          );
      -- New payments are left out, and nearly all others.
      CREATE INDEX payments_with_mismatch ON payments (account_id, id) WHERE amount_mismatch IS NOT NULL;
    `,
  },
  {
    number: 22,
    name: 'the newest relay batch of a relayer',
    sql: 'CREATE INDEX relay_batches_by_relayer ON relay_batches (relayer, id)',
  },
];

/** A writer holds the database for a moment only. */
const OPENING_TIMEOUT_MS = 2_000;

/**
 * Brings a database to the newest schema, each migration in a transaction of its own.
 *
 * @throws StoreTooNewError when the database has a migration that is not in the list
 */
export function migrate(
  database: DatabaseSync,
  file: string,
  migrations: readonly Migration[],
  nowMs: () => number,
): void {
  database.exec(`CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at_ms INTEGER NOT NULL
  ) STRICT`);
  const newest = database.prepare('SELECT max(number) AS number FROM migrations').get();
  const found = (newest?.number as number | null | undefined) ?? 0;
  for (const migration of pendingMigrations(file, found, migrations)) apply(database, migration, nowMs());
}

/** Whether the file is a database that has been migrated. Makes no file. */
export function hasSchema(file: string): boolean {
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file, { readOnly: true, timeout: OPENING_TIMEOUT_MS });
  try {
    return readSchemaNumber(database) > 0;
  } finally {
    database.close();
  }
}

/** The newest migration; 0 for a database without a schema. */
export function readSchemaNumber(database: DatabaseSync): number {
  const found = database
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'")
    .get();
  if (found === undefined) return 0;
  const newest = database.prepare('SELECT max(number) AS number FROM migrations').get();
  return (newest?.number as number | null | undefined) ?? 0;
}

function apply(database: DatabaseSync, migration: Migration, appliedAtMs: number): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(migration.sql);
    database
      .prepare('INSERT INTO migrations (number, name, applied_at_ms) VALUES (?, ?, ?)')
      .run(migration.number, migration.name, appliedAtMs);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw new Error(`migration ${migration.number} (${migration.name}) failed`, { cause: error });
  }
}
