import type { Migration } from '../migration.ts';

/**
 * The schema, step by step. Never edit a migration that was released: add one.
 *
 * Amounts that the chain or a provider names are decimal text: a token can move any 256-bit number, and no such
 * number may stop the watcher or be rounded. Our own amounts are integers that JavaScript can hold exactly.
 */
export const migrations: readonly Migration[] = [
  {
    number: 1,
    name: 'payments and everything around them',
    sql: `
      CREATE TABLE accounts (
        id TEXT PRIMARY KEY NOT NULL,
        name TEXT NOT NULL,
        email TEXT,
        fee_basis_points INTEGER NOT NULL,
        wallet TEXT,
        features TEXT NOT NULL,
        providers TEXT,
        suspended INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE api_keys (
        id TEXT PRIMARY KEY NOT NULL,
        account_id TEXT NOT NULL REFERENCES accounts (id),
        name TEXT NOT NULL,
        hash TEXT NOT NULL UNIQUE,
        last_characters TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        revoked_at_ms INTEGER
      ) STRICT;
      CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at_ms);

      -- A create maintains the row and its time-ordered id, and no other index: random keys in an index are what
      -- makes inserts slow. Hence none on the deposit address, and the partial ones below leave new rows out.
      CREATE TABLE payments (
        row INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        account_id TEXT NOT NULL REFERENCES accounts (id),
        created_at_ms INTEGER NOT NULL,
        amount_cents INTEGER NOT NULL,
        currency TEXT NOT NULL,
        original_amount_cents INTEGER,
        customer_fee_cents INTEGER,
        pass_fee_to_customer INTEGER NOT NULL,
        fee_basis_points INTEGER NOT NULL,
        provider TEXT NOT NULL,
        callback_url TEXT NOT NULL,
        email TEXT,
        note TEXT,
        token_fingerprint TEXT NOT NULL,
        chain_id INTEGER NOT NULL,
        factory TEXT NOT NULL,
        payout_address TEXT NOT NULL,
        fee_wallet TEXT NOT NULL,
        deposit_address TEXT NOT NULL,
        usd_units INTEGER NOT NULL CHECK (usd_units BETWEEN 0 AND 9007199254740991),
        enough_units INTEGER NOT NULL CHECK (enough_units BETWEEN 0 AND 9007199254740991),
        status TEXT NOT NULL,
        forward_status TEXT NOT NULL,
        paid_at_ms INTEGER,
        received_units TEXT NOT NULL,
        forwarded_units TEXT NOT NULL,
        txid_in TEXT,
        txid_out TEXT,
        release_due_at_ms INTEGER,
        release_refusals INTEGER NOT NULL,
        release_refusal_reason TEXT,
        relay_batch_id INTEGER,
        cancel_reason TEXT,
        release_requested INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX payments_due_for_release ON payments (release_due_at_ms)
        WHERE release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL;
      CREATE INDEX payments_in_relay_batch ON payments (relay_batch_id) WHERE relay_batch_id IS NOT NULL;

      -- Rows are in the order of creation, so that the oldest are found for deletion without another index.
      CREATE TABLE idempotency_records (
        row INTEGER PRIMARY KEY,
        account_id TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        payment_id TEXT NOT NULL REFERENCES payments (id),
        created_at_ms INTEGER NOT NULL,
        UNIQUE (account_id, key)
      ) STRICT;

      CREATE TABLE provider_sessions (
        id TEXT PRIMARY KEY NOT NULL,
        payment_id TEXT NOT NULL REFERENCES payments (id),
        provider TEXT NOT NULL,
        redirect_url TEXT NOT NULL,
        provider_reference TEXT NOT NULL,
        quoted_units TEXT,
        created_at_ms INTEGER NOT NULL,
        expires_at_ms INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX provider_sessions_by_payment ON provider_sessions (payment_id, created_at_ms);

      -- The cursor is the newest checkpoint.
      CREATE TABLE checkpoints (
        number INTEGER PRIMARY KEY,
        hash TEXT NOT NULL,
        timestamp_ms INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE deposits (
        transaction_hash TEXT NOT NULL,
        log_index INTEGER NOT NULL,
        block_number INTEGER NOT NULL,
        payment_id TEXT NOT NULL REFERENCES payments (id),
        units TEXT NOT NULL,
        PRIMARY KEY (transaction_hash, log_index)
      ) STRICT;
      CREATE INDEX deposits_by_payment ON deposits (payment_id);
      CREATE INDEX deposits_by_block ON deposits (block_number);

      CREATE TABLE releases (
        transaction_hash TEXT NOT NULL,
        log_index INTEGER NOT NULL,
        block_number INTEGER NOT NULL,
        payment_id TEXT NOT NULL REFERENCES payments (id),
        to_merchant_units TEXT NOT NULL,
        fee_units TEXT NOT NULL,
        PRIMARY KEY (transaction_hash, log_index)
      ) STRICT;
      CREATE INDEX releases_by_payment ON releases (payment_id);
      CREATE INDEX releases_by_block ON releases (block_number);

      -- How far a step that walks over all payments has come.
      CREATE TABLE frontiers (
        name TEXT PRIMARY KEY NOT NULL,
        payment_id TEXT NOT NULL
      ) STRICT;

      CREATE TABLE relay_batches (
        id INTEGER PRIMARY KEY,
        relayer TEXT NOT NULL,
        nonce INTEGER NOT NULL,
        kind TEXT NOT NULL,
        rescue_token TEXT,
        gas_limit TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        outcome TEXT,
        closed_at_ms INTEGER
      ) STRICT;
      CREATE UNIQUE INDEX relay_batches_open ON relay_batches (relayer) WHERE outcome IS NULL;

      CREATE TABLE relay_batch_payments (
        batch_id INTEGER NOT NULL REFERENCES relay_batches (id),
        position INTEGER NOT NULL,
        payment_id TEXT NOT NULL REFERENCES payments (id),
        PRIMARY KEY (batch_id, position),
        UNIQUE (batch_id, payment_id)
      ) STRICT;

      CREATE TABLE relay_attempts (
        batch_id INTEGER NOT NULL REFERENCES relay_batches (id),
        position INTEGER NOT NULL,
        hash TEXT NOT NULL UNIQUE,
        raw_transaction TEXT NOT NULL,
        max_fee_per_gas TEXT NOT NULL,
        max_priority_fee_per_gas TEXT NOT NULL,
        signed_at_ms INTEGER NOT NULL,
        PRIMARY KEY (batch_id, position)
      ) STRICT;

      -- The id is the payment's id and the event, so that a payment's event exists once.
      CREATE TABLE webhooks (
        id TEXT PRIMARY KEY NOT NULL,
        payment_id TEXT NOT NULL REFERENCES payments (id),
        event TEXT NOT NULL,
        fields TEXT NOT NULL,
        status TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        claimed_at_ms INTEGER,
        http_status INTEGER,
        reason TEXT,
        duration_ms REAL,
        response_excerpt TEXT,
        body TEXT,
        signature TEXT,
        finished_at_ms INTEGER
      ) STRICT;
      CREATE INDEX webhooks_pending ON webhooks (created_at_ms, id) WHERE status = 'pending';
      CREATE INDEX webhooks_sending ON webhooks (claimed_at_ms) WHERE status = 'sending';

      CREATE TABLE provider_settings (
        provider TEXT PRIMARY KEY NOT NULL,
        active INTEGER,
        minimum_usd_cents INTEGER
      ) STRICT;
    `,
  },
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
      ALTER TABLE payments ADD COLUMN fruitless_batches INTEGER NOT NULL DEFAULT 0;
    `,
  },
  {
    number: 4,
    name: 'the book of movements, which is only appended to',
    sql: `
      -- Only what is final on the chain, so a create writes nothing here. No reference to the payment: an entry stands
      -- for itself, whatever becomes of other tables.
      CREATE TABLE movements (
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
      CREATE INDEX movements_by_payment ON movements (payment_id);
      -- Of what was rescued the book is the only record, and is asked when the chain takes blocks back.
      CREATE INDEX movements_of_rescues ON movements (block_number) WHERE kind = 'rescued';

      CREATE TRIGGER movements_stay_as_they_are BEFORE UPDATE ON movements
      BEGIN SELECT RAISE(ABORT, 'an entry of the book of movements is never changed'); END;
      CREATE TRIGGER movements_stay BEFORE DELETE ON movements
      BEGIN SELECT RAISE(ABORT, 'an entry of the book of movements is never removed'); END;
      -- REPLACE removes a row without asking the trigger above.
      CREATE TRIGGER movements_are_appended BEFORE INSERT ON movements
      WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM movements)
      BEGIN SELECT RAISE(ABORT, 'an entry of the book of movements follows on the last one'); END;
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
];
