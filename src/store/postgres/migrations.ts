import { Client } from 'pg';
import { type Migration, pendingMigrations } from '../migration.ts';
import { initialSchema } from './initial-schema.ts';
import { connectionOptions } from './open-database.ts';
import { peopleSchema } from './people-schema.ts';

/**
 * The schema, step by step. Never edit a migration that was released: add one.
 *
 * Every table that grows with the payments carries the account's id and has it in its primary key, so that all of
 * them can be distributed by it. Ids compare by their bytes, as they do in SQLite. Amounts that the chain or a
 * provider names are numeric(78): a token can move any 256-bit number. Our own amounts are integers that JavaScript
 * can hold exactly.
 */
export const migrations: readonly Migration[] = [
  initialSchema,
  {
    number: 2,
    name: 'who does what only one instance should do',
    sql: `
      CREATE TABLE leases (
        name text PRIMARY KEY,
        holder text NOT NULL,
        ends_at timestamptz NOT NULL
      );
    `,
  },
  {
    number: 3,
    name: 'how many requests each key has made',
    sql: `
      -- Nothing here outlives a minute, so it is not worth writing ahead: a crash of the server empties it.
      CREATE UNLOGGED TABLE rate_windows (
        kind text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        requests integer NOT NULL,
        ends_at timestamptz NOT NULL,
        PRIMARY KEY (kind, key)
      ) WITH (fillfactor = 50);
      CREATE INDEX rate_windows_by_end ON rate_windows (ends_at);
    `,
  },
  {
    number: 4,
    name: 'which relayer prepares the release of a payment',
    sql: `
      -- As many rows as the relayers have in preparation. A crash of the server empties it, which does no harm.
      CREATE UNLOGGED TABLE release_claims (
        account_id text COLLATE "C" NOT NULL,
        payment_id text COLLATE "C" NOT NULL,
        relayer text NOT NULL,
        ends_at timestamptz NOT NULL,
        PRIMARY KEY (account_id, payment_id)
      );
    `,
  },
  {
    number: 5,
    name: 'the journal, which is only appended to',
    sql: `
      -- Only what is final on the chain, so a create writes nothing here. It is one chain over all accounts, and like
      -- the checkpoints and relay batches it stays on one node where the other tables are distributed. No reference to
      -- the payment: an entry stands for itself, whatever becomes of other tables.
      CREATE TABLE journal (
        number bigint PRIMARY KEY,
        previous_hash text NOT NULL,
        hash text NOT NULL,
        recorded_at_ms bigint NOT NULL,
        kind text NOT NULL,
        payment_id text COLLATE "C" NOT NULL,
        units numeric(78) NOT NULL,
        token text,
        transaction_hash text NOT NULL,
        log_index integer NOT NULL,
        block_number bigint NOT NULL
      );
      CREATE INDEX journal_by_payment ON journal (payment_id);
      -- Of what was rescued the book is the only record, and is asked when the chain takes blocks back.
      CREATE INDEX journal_of_rescues ON journal (block_number) WHERE kind = 'rescued';

      CREATE FUNCTION refuse_change_of_journal() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'an entry of the journal is never changed or removed';
      END $$;
      CREATE TRIGGER journal_is_append_only BEFORE UPDATE OR DELETE ON journal
        FOR EACH ROW EXECUTE FUNCTION refuse_change_of_journal();
      CREATE TRIGGER journal_stays BEFORE TRUNCATE ON journal
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_journal();
    `,
  },
  {
    number: 6,
    name: 'the same signed bytes in more than one batch',
    // What was given up comes back byte by byte when nonce, payments and fees are the same again.
    sql: 'ALTER TABLE relay_attempts DROP CONSTRAINT relay_attempts_hash_key',
  },
  {
    number: 7,
    name: 'pages of the address book',
    // Derived from the payments, which a start would otherwise read one and all.
    sql: `
      CREATE TABLE address_pages (after_row bigint PRIMARY KEY, entries bytea NOT NULL, entries_hash text NOT NULL);
    `,
  },
  {
    number: 8,
    name: 'where to a webhook is, so that nobody waits behind the webhooks of others',
    sql: `
      -- Of those that wait at this moment all hosts count as one.
      ALTER TABLE webhooks ADD COLUMN host text COLLATE "C" NOT NULL DEFAULT '';
      DROP INDEX webhooks_pending;
      CREATE INDEX webhooks_waiting ON webhooks (account_id, created_at_ms, id) INCLUDE (host)
        WHERE status = 'pending';
    `,
  },
  {
    number: 9,
    name: 'what providers tell of their sessions',
    sql: 'ALTER TABLE provider_sessions ADD COLUMN progress text, ADD COLUMN progress_at_ms bigint',
  },
  {
    number: 10,
    name: 'what people ask of payments: their states, searches and statistics',
    sql: `
      CREATE TABLE state_changes (
        account_id text COLLATE "C" NOT NULL,
        payment_id text COLLATE "C" NOT NULL,
        at_ms bigint NOT NULL,
        state text COLLATE "C" NOT NULL,
        PRIMARY KEY (account_id, payment_id, at_ms, state)
      );

      -- Made from the payments a moment after them, so that a create maintains none of it. All of it may be deleted
      -- together while no server runs: it is then made anew. Lists need nothing of it: the primary key is in their
      -- order.
      CREATE TABLE payment_index (watermark bigint NOT NULL);
      INSERT INTO payment_index VALUES (0);
      CREATE TABLE payment_terms (
        account_id text COLLATE "C" NOT NULL,
        term bigint NOT NULL,
        payment_id text COLLATE "C" NOT NULL,
        PRIMARY KEY (account_id, term, payment_id)
      );
      CREATE TABLE uncounted_payments (
        account_id text COLLATE "C" NOT NULL,
        payment_id text COLLATE "C" NOT NULL,
        PRIMARY KEY (account_id, payment_id)
      );
      CREATE TABLE payment_slots (
        account_id text COLLATE "C" NOT NULL,
        start_ms bigint NOT NULL,
        currency text COLLATE "C" NOT NULL,
        created integer NOT NULL,
        converted integer NOT NULL,
        paid integer NOT NULL,
        paid_cents bigint NOT NULL,
        PRIMARY KEY (account_id, start_ms, currency)
      );
      CREATE TABLE paid_days (
        account_id text COLLATE "C" NOT NULL,
        day_ms bigint NOT NULL,
        provider text COLLATE "C" NOT NULL,
        settle_class integer NOT NULL,
        paid integer NOT NULL,
        PRIMARY KEY (account_id, day_ms, provider, settle_class)
      );

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
    number: 11,
    name: 'how a shop appears to its customers, and the lock of its wallet',
    sql: `
      ALTER TABLE accounts
        ADD COLUMN logo_hash text, ADD COLUMN support_url text, ADD COLUMN return_url text,
        ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC', ADD COLUMN default_callback_url text,
        ADD COLUMN wallet_locked boolean NOT NULL DEFAULT false;
      -- Apart, because an account is read with every request. The image is base64.
      CREATE TABLE shop_logos (
        account_id text COLLATE "C" PRIMARY KEY REFERENCES accounts (id),
        hash text COLLATE "C" NOT NULL,
        type text NOT NULL,
        image text NOT NULL
      );
      CREATE INDEX shop_logos_by_hash ON shop_logos (hash);
    `,
  },
  peopleSchema,
  {
    number: 13,
    name: 'receipts by e-mail for customers',
    sql: `
      CREATE TABLE receipts (
        account_id text COLLATE "C" NOT NULL,
        payment_id text COLLATE "C" NOT NULL,
        status text NOT NULL,
        created_at_ms bigint NOT NULL,
        claimed_at_ms bigint,
        finished_at_ms bigint,
        PRIMARY KEY (account_id, payment_id)
      );
      CREATE INDEX receipts_waiting ON receipts (created_at_ms) WHERE status = 'pending';
    `,
  },
  {
    number: 14,
    name: 'how long e-mail addresses of customers are kept',
    sql: `
      ALTER TABLE accounts ADD COLUMN email_retention_days integer;
      -- Up to where the addresses of an account's customers are erased.
      CREATE TABLE email_frontiers (
        account_id text COLLATE "C" PRIMARY KEY NOT NULL,
        payment_id text COLLATE "C" NOT NULL
      );
    `,
  },
  {
    number: 15,
    name: 'accounts, and what was done in all of them, by time',
    sql: `
      CREATE INDEX accounts_by_time ON accounts (created_at_ms, id);
      CREATE INDEX audit_entries_by_time ON audit_entries (at_ms, account_id, position);
    `,
  },
  {
    number: 16,
    name: 'whom to tell of alert',
    sql: `
      ALTER TABLE accounts ADD COLUMN trouble_mails boolean NOT NULL DEFAULT true;
      -- Alert of an account that its owners were not told of yet, and when they were told last.
      CREATE TABLE alerts (
        account_id text COLLATE "C" NOT NULL,
        kind text COLLATE "C" NOT NULL,
        count bigint NOT NULL,
        since_ms bigint NOT NULL,
        told_at_ms bigint NOT NULL,
        PRIMARY KEY (account_id, kind)
      );
      CREATE INDEX alerts_unsent ON alerts (since_ms) WHERE count > 0;
      CREATE TABLE alert_cursors (name text COLLATE "C" PRIMARY KEY NOT NULL, through_ms bigint NOT NULL);
      CREATE INDEX state_changes_needing_attention ON state_changes (at_ms)
        WHERE state IN ('unpaid/manual_required', 'paid/manual_required', 'canceled/manual_required');
    `,
  },
  {
    number: 17,
    name: 'passkeys',
    sql: `
      ALTER TABLE dashboard_sessions ADD COLUMN challenge text;
      CREATE TABLE passkeys (
        id text COLLATE "C" PRIMARY KEY NOT NULL,
        user_id text COLLATE "C" NOT NULL REFERENCES users (id),
        name text NOT NULL,
        public_key text NOT NULL,
        counter bigint NOT NULL,
        transports text NOT NULL,
        created_at_ms bigint NOT NULL,
        last_used_at_ms bigint
      );
      CREATE INDEX passkeys_by_user ON passkeys (user_id);
    `,
  },
  {
    number: 18,
    name: 'in which language a visit was begun',
    sql: 'ALTER TABLE provider_sessions ADD COLUMN language text',
  },
  {
    number: 19,
    name: 'which sessions carry an e-mail address',
    // Earlier ones carry the payment's, where it has one.
    sql: 'ALTER TABLE provider_sessions ADD COLUMN has_email boolean NOT NULL DEFAULT true',
  },
  {
    number: 20,
    name: 'the search finds words by their beginning',
    // Made anew from the payments by the task `index`, all of it: payments are counted as they are indexed.
    sql: `
      TRUNCATE payment_index, payment_terms, uncounted_payments, payment_slots, paid_days;
    `,
  },
  {
    number: 21,
    name: 'the terms of the paid threshold, and what has been seen of a payment',
    sql: `
      ALTER TABLE accounts ADD COLUMN tolerance_basis_points integer;
      ALTER TABLE accounts ADD COLUMN max_provider_fee_basis_points integer;
      -- Null for the payments that exist: they keep their threshold, and no maximum applies to them.
      ALTER TABLE payments ADD COLUMN tolerance_basis_points integer;
      ALTER TABLE payments ADD COLUMN max_provider_fee_basis_points integer;
      ALTER TABLE payments ADD COLUMN amount_mismatch text COLLATE "C";

      -- What the next decision about these payments would write.
      UPDATE payments SET
        received_units = (SELECT sum(units) FROM deposits WHERE deposits.account_id = payments.account_id AND payment_id = payments.id),
        txid_in = (
          SELECT transaction_hash FROM (
            SELECT transaction_hash, sum(units) OVER (ORDER BY block_number, log_index) AS running
            FROM deposits WHERE deposits.account_id = payments.account_id AND payment_id = payments.id
          ) AS ordered
          ORDER BY running < enough_units OR status = 'canceled',
            CASE WHEN running < enough_units OR status = 'canceled' THEN -running ELSE running END
          LIMIT 1
        )
        WHERE (account_id, id) IN (SELECT account_id, payment_id FROM deposits)
          AND (status = 'unpaid' OR (status = 'canceled' AND forward_status = 'manual_required'));
      UPDATE payments SET amount_mismatch = 'partially_paid'
        WHERE (account_id, id) IN (SELECT account_id, payment_id FROM deposits) AND status = 'unpaid'
          AND received_units < enough_units
          AND (received_units >= 100000
            OR (enough_units - received_units) * 100 < enough_units * 90);
      UPDATE payments SET amount_mismatch = 'overpaid'
        WHERE (account_id, id) IN (SELECT account_id, payment_id FROM deposits) AND status <> 'canceled' AND amount_mismatch IS NULL
          AND (
            (SELECT sum(units) >= payments.usd_units + 100000 AND sum(units) * 100 >= payments.usd_units * 105
             FROM deposits WHERE deposits.account_id = payments.account_id AND payment_id = payments.id)
            OR (SELECT count(*) >= 2 FROM deposits
                WHERE deposits.account_id = payments.account_id AND payment_id = payments.id AND units >= payments.enough_units)
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

/** Names our advisory lock among others in the same database: "cardchec" in ASCII. */
const MIGRATION_LOCK = '7161130657985881443';

/**
 * Brings a database to the newest schema, each migration in a transaction of its own. Of several instances that
 * start at once, one migrates and the others wait for it.
 *
 * @throws StoreTooNewError when the database has a migration that is not in the list
 */
export async function migrate(
  url: string,
  migrations: readonly Migration[],
  nowMs: () => number,
): Promise<void> {
  // A change of a large table may take its time, and so may waiting for another instance that makes it.
  const client = new Client({ ...connectionOptions(url), statement_timeout: 0 });
  // Between statements a break is noticed by the next one.
  client.on('error', () => {});
  await client.connect();
  try {
    // The lock is the connection's, so that it cannot outlive it.
    await client.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
    const found = await readNewest(client);
    for (const migration of pendingMigrations(nameOf(client), found, migrations)) {
      await apply(client, migration, nowMs());
    }
  } finally {
    await client.end();
  }
}

/** The database by its name, and whether it has been migrated. Makes nothing. */
export async function findSchema(url: string): Promise<{ readonly name: string; readonly isThere: boolean }> {
  const client = new Client(connectionOptions(url));
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ found: string | null }>(
      "SELECT to_regclass('migrations') AS found",
    );
    const isThere = rows[0]?.found != null && (await readNewest(client)) > 0;
    return { name: nameOf(client), isThere };
  } finally {
    await client.end();
  }
}

async function readNewest(client: Client): Promise<number> {
  await client.query(`CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied_at_ms bigint NOT NULL
  )`);
  const { rows } = await client.query<{ number: number | null }>(
    'SELECT max(number) AS number FROM migrations',
  );
  return rows[0]?.number ?? 0;
}

async function apply(client: Client, migration: Migration, appliedAtMs: number): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(migration.sql);
    await client.query('INSERT INTO migrations (number, name, applied_at_ms) VALUES ($1, $2, $3)', [
      migration.number,
      migration.name,
      appliedAtMs,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    // Closing the connection undoes what is not committed.
    throw new Error(`migration ${migration.number} (${migration.name}) failed`, { cause: error });
  }
}

/** What an operator knows the database by; never its password. */
export function nameOf(client: Client): string {
  return `the database ${client.database} on ${client.host}`;
}
