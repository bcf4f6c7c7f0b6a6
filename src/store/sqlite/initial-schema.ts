import type { Migration } from '../migration.ts';

/** The tables of the first version. Never edited, not even its blanks: what came later is in the migrations. */
export const initialSchema: Migration = {
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
      CREATE TABLE watermarks (
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
};
