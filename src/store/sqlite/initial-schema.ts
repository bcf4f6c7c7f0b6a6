import type { Migration } from '../migration.ts';

/**
 * The schema of the first release. Once released it is never edited, not even its blanks: a change is a migration.
 *
 * Amounts that the chain or a provider names are decimal text: a token can move any 256-bit number, and no such
 * number may stop the watcher or be rounded. Our own amounts are integers that JavaScript can hold exactly.
 */
export const initialSchema: Migration = {
  number: 1,
  name: 'initial schema',
  sql: `
    CREATE TABLE accounts (
      id TEXT PRIMARY KEY NOT NULL,
      name TEXT NOT NULL,
      email TEXT,
      fee_basis_points INTEGER NOT NULL,
      tolerance_basis_points INTEGER,
      max_provider_fee_basis_points INTEGER,
      wallet TEXT,
      wallet_locked INTEGER NOT NULL DEFAULT 0,
      features TEXT NOT NULL,
      providers TEXT,
      suspended INTEGER NOT NULL,
      logo_hash TEXT,
      support_url TEXT,
      return_url TEXT,
      time_zone TEXT NOT NULL DEFAULT 'UTC',
      default_callback_url TEXT,
      email_retention_days INTEGER,
      receives_alerts INTEGER NOT NULL DEFAULT 1,
      created_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX accounts_by_time ON accounts (created_at_ms, id);

    -- Apart, because an account is read with every request. The image is base64.
    CREATE TABLE shop_logos (
      account_id TEXT PRIMARY KEY NOT NULL REFERENCES accounts (id),
      hash TEXT NOT NULL,
      type TEXT NOT NULL,
      image TEXT NOT NULL
    ) STRICT;
    CREATE INDEX shop_logos_by_hash ON shop_logos (hash);

    CREATE TABLE api_keys (
      id TEXT PRIMARY KEY NOT NULL,
      account_id TEXT NOT NULL REFERENCES accounts (id),
      name TEXT NOT NULL,
      hash TEXT NOT NULL UNIQUE,
      last_characters TEXT NOT NULL,
      scopes TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      last_used_at_ms INTEGER,
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
      paid_threshold_units INTEGER NOT NULL CHECK (paid_threshold_units BETWEEN 0 AND 9007199254740991),
      tolerance_basis_points INTEGER,
      max_provider_fee_basis_points INTEGER,
      status TEXT NOT NULL,
      forward_status TEXT NOT NULL,
      paid_at_ms INTEGER,
      received_units TEXT NOT NULL,
      forwarded_units TEXT NOT NULL,
      amount_mismatch TEXT,
      txid_in TEXT,
      txid_out TEXT,
      release_due_at_ms INTEGER,
      release_refusals INTEGER NOT NULL,
      release_refusal_reason TEXT,
      no_op_batches INTEGER NOT NULL DEFAULT 0,
      relay_batch_id INTEGER,
      cancel_reason TEXT,
      release_requested INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX payments_due_for_release ON payments (release_due_at_ms)
      WHERE release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL;
    CREATE INDEX payments_in_relay_batch ON payments (relay_batch_id) WHERE relay_batch_id IS NOT NULL;
    -- New payments are left out, and most old ones. For an IN list SQLite builds a table of its own with each
    -- row that is written: 1.4 of an insert's 6.5 µs.
    CREATE INDEX payments_unsettled ON payments (account_id, id)
      WHERE forward_status = 'ready' OR forward_status = 'processing'
        OR forward_status = 'failed' OR forward_status = 'manual_required';
    -- New payments are left out, and nearly all others.
    CREATE INDEX payments_with_mismatch ON payments (account_id, id) WHERE amount_mismatch IS NOT NULL;

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
      has_email INTEGER NOT NULL DEFAULT 1,
      language TEXT,
      customer_ip_hash TEXT,
      customer_country TEXT,
      provider_reference TEXT NOT NULL,
      quoted_units TEXT,
      progress TEXT,
      progress_at_ms INTEGER,
      created_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX provider_sessions_by_payment ON provider_sessions (payment_id, created_at_ms);
    CREATE INDEX provider_sessions_by_age ON provider_sessions (created_at_ms);

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

    -- How far each task that reads all payments has come.
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
    CREATE UNIQUE INDEX relay_batches_open ON relay_batches (relayer, nonce) WHERE outcome IS NULL;
    CREATE INDEX relay_batches_by_relayer ON relay_batches (relayer, id);

    CREATE TABLE relay_batch_payments (
      batch_id INTEGER NOT NULL REFERENCES relay_batches (id),
      position INTEGER NOT NULL,
      payment_id TEXT NOT NULL REFERENCES payments (id),
      PRIMARY KEY (batch_id, position),
      UNIQUE (batch_id, payment_id)
    ) STRICT;

    -- What was given up comes back byte by byte when nonce, payments and fees are the same again: a hash is not unique.
    CREATE TABLE relay_attempts (
      batch_id INTEGER NOT NULL REFERENCES relay_batches (id),
      position INTEGER NOT NULL,
      hash TEXT NOT NULL,
      raw_transaction TEXT NOT NULL,
      max_fee_per_gas TEXT NOT NULL,
      max_priority_fee_per_gas TEXT NOT NULL,
      signed_at_ms INTEGER NOT NULL,
      PRIMARY KEY (batch_id, position)
    ) STRICT;

    -- The id is the payment's id and the event, so that a payment's event exists once.
    CREATE TABLE webhooks (
      id TEXT PRIMARY KEY NOT NULL,
      account_id TEXT NOT NULL DEFAULT '',
      payment_id TEXT NOT NULL REFERENCES payments (id),
      host TEXT NOT NULL DEFAULT '',
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
    -- The claim takes turns between accounts, so that no account waits behind the webhooks of another.
    CREATE INDEX webhooks_waiting ON webhooks (account_id, created_at_ms, id, host) WHERE status = 'pending';
    CREATE INDEX webhooks_sending ON webhooks (claimed_at_ms) WHERE status = 'sending';
    -- Nearly all webhooks succeed and are in neither index.
    CREATE INDEX webhooks_failing ON webhooks (finished_at_ms)
      WHERE status IN ('failed', 'blocked', 'unknown');
    CREATE INDEX webhooks_failing_by_account ON webhooks (account_id, finished_at_ms)
      WHERE status IN ('failed', 'blocked', 'unknown');

    CREATE TABLE provider_settings (
      provider TEXT PRIMARY KEY NOT NULL,
      active INTEGER,
      minimum_usd_cents INTEGER
    ) STRICT;

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
    -- The journal is the only record of rescues; a reorganization reads it.
    CREATE INDEX journal_of_rescues ON journal (block_number) WHERE kind = 'rescued';

    CREATE TRIGGER journal_is_append_only BEFORE UPDATE ON journal
    BEGIN SELECT RAISE(ABORT, 'an entry of the journal is never changed'); END;
    CREATE TRIGGER journal_stays BEFORE DELETE ON journal
    BEGIN SELECT RAISE(ABORT, 'an entry of the journal is never removed'); END;
    -- REPLACE removes a row without firing the trigger above.
    CREATE TRIGGER journal_is_appended BEFORE INSERT ON journal
    WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM journal)
    BEGIN SELECT RAISE(ABORT, 'an entry of the journal follows on the last one'); END;

    -- Derived from the payments, which a start would otherwise read one and all. Rows follow on each other.
    CREATE TABLE address_pages (
      after_row INTEGER PRIMARY KEY,
      entries BLOB NOT NULL,
      entries_hash TEXT NOT NULL
    ) STRICT;

    CREATE TABLE state_changes (
      account_id TEXT NOT NULL,
      payment_id TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      state TEXT NOT NULL,
      PRIMARY KEY (account_id, payment_id, at_ms, state)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX state_changes_needing_attention ON state_changes (at_ms)
      WHERE state IN ('unpaid/manual_required', 'paid/manual_required', 'canceled/manual_required');

    -- A change of a payment adds its events here; they are numbered after the commit, in one process at a time.
    CREATE TABLE unnumbered_events (
      row INTEGER PRIMARY KEY,
      account_id TEXT NOT NULL,
      payment_id TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      type TEXT NOT NULL
    ) STRICT;
    CREATE TABLE events (
      account_id TEXT NOT NULL,
      number INTEGER NOT NULL,
      at_ms INTEGER NOT NULL,
      type TEXT NOT NULL,
      payment_id TEXT NOT NULL,
      PRIMARY KEY (account_id, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX events_by_time ON events (at_ms);
    -- The newest number that an account's events ever had.
    CREATE TABLE event_numbers (
      account_id TEXT PRIMARY KEY NOT NULL,
      newest INTEGER NOT NULL
    ) STRICT;

    -- Made from the payments a moment after them, so that a create maintains none of it. All of it may be deleted
    -- together while no server runs: it is then made anew.
    CREATE TABLE payment_index (watermark INTEGER NOT NULL) STRICT;
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
    CREATE TABLE payment_buckets (
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

    -- Alerts that an account's owners have not been notified of yet, and the time of the last notification.
    CREATE TABLE alerts (
      account_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      count INTEGER NOT NULL,
      since_ms INTEGER NOT NULL,
      notified_at_ms INTEGER NOT NULL,
      PRIMARY KEY (account_id, kind)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX alerts_unsent ON alerts (since_ms) WHERE count > 0;
    CREATE TABLE alert_cursors (name TEXT PRIMARY KEY NOT NULL, through_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;

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

    -- Up to this payment the e-mail addresses of an account's customers are erased.
    CREATE TABLE email_watermarks (
      account_id TEXT PRIMARY KEY NOT NULL,
      payment_id TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE users (
      id TEXT PRIMARY KEY NOT NULL,
      email TEXT NOT NULL UNIQUE,
      password_hash TEXT,
      totp_secret TEXT,
      totp_step INTEGER NOT NULL,
      is_operator INTEGER NOT NULL,
      created_at_ms INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE recovery_codes (
      user_id TEXT NOT NULL REFERENCES users (id),
      hash TEXT NOT NULL,
      PRIMARY KEY (user_id, hash)
    ) STRICT;

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

    CREATE TABLE memberships (
      account_id TEXT NOT NULL REFERENCES accounts (id),
      user_id TEXT NOT NULL REFERENCES users (id),
      role TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      PRIMARY KEY (account_id, user_id)
    ) STRICT;
    CREATE INDEX memberships_by_user ON memberships (user_id);

    CREATE TABLE dashboard_sessions (
      id TEXT PRIMARY KEY NOT NULL,
      token_hash TEXT NOT NULL UNIQUE,
      user_id TEXT NOT NULL REFERENCES users (id),
      account_id TEXT,
      area TEXT NOT NULL,
      stage TEXT NOT NULL,
      challenge TEXT,
      created_at_ms INTEGER NOT NULL,
      last_seen_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL,
      address TEXT NOT NULL,
      user_agent TEXT NOT NULL
    ) STRICT;
    CREATE INDEX dashboard_sessions_by_user ON dashboard_sessions (user_id, created_at_ms);

    -- A link is deleted when it is used.
    CREATE TABLE one_time_links (
      id TEXT PRIMARY KEY NOT NULL,
      token_hash TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL,
      email TEXT NOT NULL,
      user_id TEXT REFERENCES users (id),
      account_id TEXT REFERENCES accounts (id),
      role TEXT,
      created_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX one_time_links_by_user ON one_time_links (user_id) WHERE user_id IS NOT NULL;
    CREATE INDEX one_time_links_by_account ON one_time_links (account_id) WHERE account_id IS NOT NULL;

    -- Positions are counted in each account, so that the oldest beyond a number are found by arithmetic.
    CREATE TABLE audit_entries (
      account_id TEXT NOT NULL,
      position INTEGER NOT NULL,
      at_ms INTEGER NOT NULL,
      actor TEXT NOT NULL,
      user_id TEXT,
      action TEXT NOT NULL,
      target TEXT,
      address TEXT,
      PRIMARY KEY (account_id, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX audit_entries_by_time ON audit_entries (at_ms, account_id, position);
  `,
};
