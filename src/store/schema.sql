-- The core's schema for both engines. schema.ts translates it for each engine. Features have their own `schema.sql`.
-- Types are kinds of columns (`ColumnKind` in columns.ts). The database increments a `counter`, and searches `caseless`
-- text case-insensitively. STRICT and WITHOUT ROWID apply only to SQLite. Other differences are between "Only …" and
-- "Both". A released statement is never edited, not even its whitespace: every change is a migration.
--
-- An `amount` from the chain or a provider can be any 256-bit number, which must neither stop the watcher nor be
-- rounded. Amounts that the service limits are safe integers in JavaScript. Text is compared by bytes.

CREATE TABLE accounts (
  id text PRIMARY KEY NOT NULL,
  name caseless NOT NULL,
  email caseless,
  fee_basis_points integer NOT NULL,
  tolerance_basis_points integer,
  max_provider_fee_basis_points integer,
  tolerates_missing_cent flag NOT NULL,
  base_currency text NOT NULL,
  wallet text,
  wallet_locked flag NOT NULL,
  features texts NOT NULL,
  providers texts,
  pinned_provider text,
  excluded_providers texts NOT NULL,
  suspended flag NOT NULL,
  logo_hash text,
  brand_color text,
  terms_url text,
  support_url text,
  return_url text,
  failure_url text,
  time_zone text NOT NULL,
  default_callback_url text,
  email_retention_days integer,
  receives_alerts flag NOT NULL,
  created_at_ms integer NOT NULL
) STRICT;
CREATE INDEX accounts_by_time ON accounts (created_at_ms, id);

-- Logos have a separate table, because every request reads its account. The image is base64.
CREATE TABLE shop_logos (
  account_id text PRIMARY KEY NOT NULL REFERENCES accounts (id),
  hash text NOT NULL,
  image text NOT NULL
) STRICT;
CREATE INDEX shop_logos_by_hash ON shop_logos (hash);

CREATE TABLE api_keys (
  id text PRIMARY KEY NOT NULL,
  account_id text NOT NULL REFERENCES accounts (id),
  name text NOT NULL,
  hash text NOT NULL UNIQUE,
  last_characters text NOT NULL,
  scopes texts NOT NULL,
  callback_host text,
  created_at_ms integer NOT NULL,
  last_used_at_ms integer,
  revoked_at_ms integer
) STRICT;
CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at_ms);

-- None of the partial indexes below contains new payments, so that inserts stay fast.
CREATE TABLE payments (
  id text PRIMARY KEY NOT NULL,
-- Only SQLite:
  account_id text NOT NULL REFERENCES accounts (id),
-- Only PostgreSQL: with a foreign key, every create would write a lock into the account's row, and all creates of an
-- account would queue for that row. The INSERT itself requires the account, and accounts are never deleted.
  account_id text NOT NULL,
-- Both:
  created_at_ms integer NOT NULL,
  amount_cents integer NOT NULL,
  currency text NOT NULL,
  original_amount_cents integer,
  customer_fee_cents integer,
  pass_fee_to_customer flag NOT NULL,
  fee_basis_points integer NOT NULL,
  provider text NOT NULL,
  callback_url text,
  email text,
  note text,
  order_line text,
  origin text,
  token_fingerprint text NOT NULL,
  chain_id integer NOT NULL,
  factory text NOT NULL,
  payout_address text NOT NULL,
  fee_wallet text NOT NULL,
  deposit_address address NOT NULL UNIQUE CHECK (length(deposit_address) = 20),
  usd_units integer NOT NULL CHECK (usd_units BETWEEN 0 AND 9007199254740991),
  paid_threshold_units integer NOT NULL CHECK (paid_threshold_units BETWEEN 0 AND 9007199254740991),
  tolerance_basis_points integer NOT NULL,
  max_provider_fee_basis_points integer NOT NULL,
  status text NOT NULL,
  forward_status text NOT NULL,
  paid_at_ms integer,
  received_units amount NOT NULL,
  forwarded_units amount NOT NULL,
  amount_mismatch text,
  txid_in text,
  txid_out text,
  release_due_at_ms integer,
  release_refusals integer NOT NULL,
  release_refusal_reason text,
  no_op_batches integer NOT NULL,
  relay_batch_id integer,
  cancel_reason text,
  release_requested flag NOT NULL
) STRICT;
CREATE INDEX payments_of_account ON payments (account_id, id);
CREATE INDEX payments_due_for_release ON payments (release_due_at_ms, id)
  WHERE release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL;
CREATE INDEX payments_in_relay_batch ON payments (relay_batch_id) WHERE relay_batch_id IS NOT NULL;
-- Avoids an IN list, for which SQLite would build a table with each written row: 1.4 µs of an insert's 6.5 µs.
CREATE INDEX payments_unsettled ON payments (account_id, id)
  WHERE forward_status = 'ready' OR forward_status = 'processing'
    OR forward_status = 'failed' OR forward_status = 'manual_required';
CREATE INDEX payments_with_mismatch ON payments (account_id, id) WHERE amount_mismatch IS NOT NULL;
-- Paid payments by periods of 30 days, for lists by time of payment.
CREATE INDEX payments_paid ON payments (account_id, (paid_at_ms / 2592000000), id) WHERE paid_at_ms IS NOT NULL;
CREATE INDEX payments_by_origin ON payments (account_id, origin, id) WHERE origin IS NOT NULL;

CREATE TABLE idempotency_records (
  account_id text NOT NULL,
  key text NOT NULL,
  fingerprint text NOT NULL,
  payment_id text NOT NULL REFERENCES payments (id),
  created_at_ms integer NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_records_by_age ON idempotency_records (created_at_ms);

CREATE TABLE provider_sessions (
  id text PRIMARY KEY NOT NULL,
  payment_id text NOT NULL REFERENCES payments (id),
  provider text NOT NULL,
  redirect_url text NOT NULL,
  has_email flag NOT NULL,
  language text,
  customer_ip_hash text,
  customer_country text,
  provider_reference text NOT NULL,
  charged_cents integer NOT NULL,
  received_units amount NOT NULL,
  quoted_units amount,
  progress text,
  progress_at_ms integer,
  created_at_ms integer NOT NULL,
  expires_at_ms integer NOT NULL
) STRICT;
CREATE INDEX provider_sessions_by_payment ON provider_sessions (payment_id, created_at_ms);
CREATE INDEX provider_sessions_by_age ON provider_sessions (created_at_ms);

-- The cursor is the newest checkpoint.
CREATE TABLE checkpoints (
  number integer PRIMARY KEY,
  hash text NOT NULL,
  timestamp_ms integer NOT NULL
) STRICT;

-- Final dust rows of a payment with many rows are folded. A row in the table of sums replaces them in views, at the
-- position of the last folded row and with a negative log index.
CREATE TABLE deposits (
  transaction_hash text NOT NULL,
  log_index integer NOT NULL,
  block_number integer NOT NULL,
  payment_id text NOT NULL REFERENCES payments (id),
  units amount NOT NULL,
  folded integer NOT NULL DEFAULT 0,
  PRIMARY KEY (transaction_hash, log_index)
) STRICT;
CREATE INDEX deposits_by_payment ON deposits (payment_id) WHERE folded = 0;
CREATE INDEX deposits_folded ON deposits (payment_id, block_number, log_index) WHERE folded = 1;
CREATE INDEX deposits_by_block ON deposits (block_number);
CREATE TABLE deposit_sums (
  payment_id text PRIMARY KEY NOT NULL,
  transaction_hash text NOT NULL,
  log_index integer NOT NULL,
  block_number integer NOT NULL,
  units amount NOT NULL
) STRICT;
CREATE INDEX deposit_sums_by_block ON deposit_sums (block_number);

CREATE TABLE releases (
  transaction_hash text NOT NULL,
  log_index integer NOT NULL,
  block_number integer NOT NULL,
  payment_id text NOT NULL REFERENCES payments (id),
  to_merchant_units amount NOT NULL,
  fee_units amount NOT NULL,
  folded integer NOT NULL DEFAULT 0,
  PRIMARY KEY (transaction_hash, log_index)
) STRICT;
CREATE INDEX releases_by_payment ON releases (payment_id) WHERE folded = 0;
CREATE INDEX releases_folded ON releases (payment_id, block_number, log_index) WHERE folded = 1;
CREATE INDEX releases_by_block ON releases (block_number);
CREATE TABLE release_sums (
  payment_id text PRIMARY KEY NOT NULL,
  transaction_hash text NOT NULL,
  log_index integer NOT NULL,
  block_number integer NOT NULL,
  to_merchant_units amount NOT NULL,
  fee_units amount NOT NULL
) STRICT;
CREATE INDEX release_sums_by_block ON release_sums (block_number);

-- Progress of each task that reads all payments.
CREATE TABLE watermarks (
  name text PRIMARY KEY NOT NULL,
  payment_id text NOT NULL
) STRICT;

CREATE TABLE relay_batches (
  id counter PRIMARY KEY,
  relayer text NOT NULL,
  nonce integer NOT NULL,
  kind text NOT NULL,
  rescue_token text,
  gas_limit amount NOT NULL,
  created_at_ms integer NOT NULL,
  outcome text,
  closed_at_ms integer
) STRICT;
CREATE UNIQUE INDEX relay_batches_open ON relay_batches (relayer, nonce) WHERE outcome IS NULL;
CREATE INDEX relay_batches_by_relayer ON relay_batches (relayer, id);

CREATE TABLE relay_batch_payments (
  batch_id integer NOT NULL REFERENCES relay_batches (id),
  position integer NOT NULL,
  payment_id text NOT NULL REFERENCES payments (id),
  PRIMARY KEY (batch_id, position),
  UNIQUE (batch_id, payment_id)
) STRICT;

-- A hash is not unique: an abandoned transaction can recur with the same nonce, payments and fees.
CREATE TABLE relay_attempts (
  batch_id integer NOT NULL REFERENCES relay_batches (id),
  position integer NOT NULL,
  hash text NOT NULL,
  raw_transaction text NOT NULL,
  max_fee_per_gas amount NOT NULL,
  max_priority_fee_per_gas amount NOT NULL,
  signed_at_ms integer NOT NULL,
  PRIMARY KEY (batch_id, position)
) STRICT;

-- The id combines the payment's id and the event, so that a payment has at most one webhook per event.
CREATE TABLE webhooks (
  id text PRIMARY KEY NOT NULL,
  account_id text NOT NULL,
  payment_id text NOT NULL REFERENCES payments (id),
  host text NOT NULL,
  event text NOT NULL,
  fields json NOT NULL,
  status text NOT NULL,
  created_at_ms integer NOT NULL,
  claimed_at_ms integer,
  http_status integer,
  reason text,
  duration_ms real,
  response_excerpt text,
  body text,
  signature text,
  finished_at_ms integer
) STRICT;
-- Claims take turns between accounts, so that no account waits behind the webhooks of another.
CREATE INDEX webhooks_waiting ON webhooks (account_id, created_at_ms, id, host)
  WHERE status = 'pending';
CREATE INDEX webhooks_sending ON webhooks (claimed_at_ms) WHERE status = 'sending';
-- The next two indexes omit successful webhooks, which are nearly all.
CREATE INDEX webhooks_failing ON webhooks (finished_at_ms)
  WHERE status IN ('failed', 'blocked', 'unknown');
CREATE INDEX webhooks_failing_by_account ON webhooks (account_id, finished_at_ms)
  WHERE status IN ('failed', 'blocked', 'unknown');

CREATE TABLE provider_settings (
  provider text PRIMARY KEY NOT NULL,
  active flag,
  pinned flag,
  minimum_usd_cents integer
) STRICT;

CREATE TABLE hourly_rates (
  currency text NOT NULL,
  hour_ms integer NOT NULL,
  usd_rate amount NOT NULL,
  PRIMARY KEY (currency, hour_ms)
) STRICT;

CREATE TABLE settlements (
  chain_id integer NOT NULL,
  token text NOT NULL,
  factory text NOT NULL,
  implementation text NOT NULL,
  factory_code_hash text NOT NULL,
  fee_wallet text NOT NULL,
  last_started_at_ms integer NOT NULL,
  PRIMARY KEY (chain_id, factory, fee_wallet)
) STRICT;

-- Final movements of money, in one hash chain for all accounts. There is no foreign key to the payment, because entries
-- must be kept whatever happens to other tables.
CREATE TABLE journal (
  number integer PRIMARY KEY,
  previous_hash text NOT NULL,
  hash text NOT NULL,
  recorded_at_ms integer NOT NULL,
  kind text NOT NULL,
  payment_id text NOT NULL,
  units amount NOT NULL,
  token text,
  transaction_hash text NOT NULL,
  log_index integer NOT NULL,
  block_number integer NOT NULL
) STRICT;
CREATE INDEX journal_by_payment ON journal (payment_id);
-- Finds the rescues that a reorganization removed. Only the journal records rescues.
CREATE INDEX journal_of_rescues ON journal (block_number) WHERE kind = 'rescued';

-- Only SQLite:
CREATE TRIGGER journal_is_append_only BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'an entry of the journal is never changed'); END;
CREATE TRIGGER journal_stays BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'an entry of the journal is never removed'); END;
-- Also prevents REPLACE, which deletes a row without firing the trigger above.
CREATE TRIGGER journal_is_appended BEFORE INSERT ON journal
WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM journal)
BEGIN SELECT RAISE(ABORT, 'an entry of the journal follows on the last one'); END;
-- Only PostgreSQL:
CREATE FUNCTION refuse_change_of_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an entry of the journal is never changed or removed';
END $$;
CREATE TRIGGER journal_is_append_only BEFORE UPDATE OR DELETE ON journal
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_journal();
CREATE TRIGGER journal_stays BEFORE TRUNCATE ON journal
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_journal();
-- Both:

CREATE TABLE state_changes (
  payment_id text NOT NULL,
  at_ms integer NOT NULL,
  state text NOT NULL,
  PRIMARY KEY (payment_id, at_ms, state)
) STRICT, WITHOUT ROWID;
CREATE INDEX state_changes_needing_attention ON state_changes (at_ms)
  WHERE state IN ('unpaid/manual_required', 'paid/manual_required', 'canceled/manual_required');

-- Events of changes to payments. A task numbers them after the commit, in one process at a time.
CREATE TABLE unnumbered_events (
  row counter PRIMARY KEY,
  account_id text NOT NULL,
  payment_id text NOT NULL,
  at_ms integer NOT NULL,
  type text NOT NULL,
  refund_id text
) STRICT;
CREATE TABLE events (
  account_id text NOT NULL,
  number integer NOT NULL,
  at_ms integer NOT NULL,
  type text NOT NULL,
  payment_id text NOT NULL,
  refund_id text,
  PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_time ON events (at_ms);
-- Highest number that an account's events have ever had, and highest number among its deleted events.
CREATE TABLE event_numbers (
  account_id text PRIMARY KEY NOT NULL,
  newest integer NOT NULL,
  deleted_through integer NOT NULL DEFAULT 0
) STRICT;

-- Tables for searches and statistics. Creating a payment adds a row to both queues, unindexed_payments and
-- uncounted_changes. A task moves these rows into the other tables. Reads include rows that are still queued.
CREATE TABLE unindexed_payments (
  account_id text NOT NULL,
  payment_id text NOT NULL,
  PRIMARY KEY (account_id, payment_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE payment_terms (
  account_id text NOT NULL,
  term integer NOT NULL,
  payment_id text NOT NULL,
  PRIMARY KEY (account_id, term, payment_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE uncounted_changes (
  row counter PRIMARY KEY,
  account_id text NOT NULL,
  start_ms integer NOT NULL,
  currency text NOT NULL,
  created integer NOT NULL DEFAULT 0,
  converted integer NOT NULL DEFAULT 0,
  paid integer NOT NULL DEFAULT 0,
  paid_cents integer NOT NULL DEFAULT 0,
  received_units integer NOT NULL DEFAULT 0,
  fee_units integer NOT NULL DEFAULT 0,
  provider text,
  settle_class integer
) STRICT;
CREATE TABLE payment_buckets (
  account_id text NOT NULL,
  start_ms integer NOT NULL,
  currency text NOT NULL,
  created integer NOT NULL,
  converted integer NOT NULL,
  paid integer NOT NULL,
  paid_cents integer NOT NULL,
  received_units integer NOT NULL,
  fee_units integer NOT NULL,
  PRIMARY KEY (account_id, start_ms, currency)
) STRICT, WITHOUT ROWID;
CREATE TABLE paid_days (
  account_id text NOT NULL,
  day_ms integer NOT NULL,
  provider text NOT NULL,
  settle_class integer NOT NULL,
  paid integer NOT NULL,
  PRIMARY KEY (account_id, day_ms, provider, settle_class)
) STRICT, WITHOUT ROWID;

-- Records opened checkouts here rather than in `payments`, where each record would rewrite a wide row.
CREATE TABLE account_records (
  account_id text NOT NULL,
  kind text NOT NULL,
  name text NOT NULL,
  texts texts NOT NULL,
  at_ms integer NOT NULL,
  PRIMARY KEY (account_id, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
  payment_id text PRIMARY KEY NOT NULL,
  status text NOT NULL,
  created_at_ms integer NOT NULL,
  claimed_at_ms integer,
  finished_at_ms integer
) STRICT, WITHOUT ROWID;
CREATE INDEX receipts_waiting ON receipts (created_at_ms) WHERE status = 'pending';

-- Payment up to which the email addresses of an account's customers have been erased.
CREATE TABLE email_watermarks (
  account_id text PRIMARY KEY NOT NULL,
  payment_id text NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  id text PRIMARY KEY NOT NULL,
  email text NOT NULL UNIQUE,
  password_hash text,
  totp_secret text,
  totp_step integer NOT NULL,
  is_operator bit NOT NULL,
  created_at_ms integer NOT NULL
) STRICT;

CREATE TABLE recovery_codes (
  user_id text NOT NULL REFERENCES users (id),
  hash text NOT NULL,
  PRIMARY KEY (user_id, hash)
) STRICT;

CREATE TABLE passkeys (
  id text PRIMARY KEY NOT NULL,
  user_id text NOT NULL REFERENCES users (id),
  name text NOT NULL,
  public_key text NOT NULL,
  counter integer NOT NULL,
  transports text NOT NULL,
  created_at_ms integer NOT NULL,
  last_used_at_ms integer
) STRICT;
CREATE INDEX passkeys_by_user ON passkeys (user_id);

CREATE TABLE memberships (
  account_id text NOT NULL REFERENCES accounts (id),
  user_id text NOT NULL REFERENCES users (id),
  role text NOT NULL,
  created_at_ms integer NOT NULL,
  PRIMARY KEY (account_id, user_id)
) STRICT;
CREATE INDEX memberships_by_user ON memberships (user_id);

CREATE TABLE dashboard_sessions (
  id text PRIMARY KEY NOT NULL,
  token_hash text NOT NULL UNIQUE,
  user_id text NOT NULL REFERENCES users (id),
  account_id text,
  area text NOT NULL,
  stage text NOT NULL,
  challenge text,
  created_at_ms integer NOT NULL,
  last_seen_at_ms integer NOT NULL,
  expires_at_ms integer NOT NULL,
  address text NOT NULL,
  user_agent text NOT NULL
) STRICT;
CREATE INDEX dashboard_sessions_by_user ON dashboard_sessions (user_id, created_at_ms);

CREATE TABLE one_time_links (
  id text PRIMARY KEY NOT NULL,
  token_hash text NOT NULL UNIQUE,
  kind text NOT NULL,
  email text NOT NULL,
  user_id text REFERENCES users (id),
  account_id text REFERENCES accounts (id),
  role text,
  created_at_ms integer NOT NULL,
  expires_at_ms integer NOT NULL
) STRICT;
CREATE INDEX one_time_links_by_user ON one_time_links (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX one_time_links_by_account ON one_time_links (account_id) WHERE account_id IS NOT NULL;

-- Positions are numbered per account, so that the position of the newest entries can be computed.
CREATE TABLE audit_entries (
  account_id text NOT NULL,
  position integer NOT NULL,
  at_ms integer NOT NULL,
  actor text NOT NULL,
  user_id text,
  action text NOT NULL,
  target text,
  address text,
  PRIMARY KEY (account_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_entries_by_time ON audit_entries (at_ms, account_id, position);

-- Only PostgreSQL: tables that several processes share.
CREATE TABLE leases (
  name text PRIMARY KEY,
  holder text NOT NULL,
  ends_at timestamptz NOT NULL
);

-- Unlogged, because the rows are short-lived. A server crash empties the table, which is harmless.
CREATE UNLOGGED TABLE rate_windows (
  kind text NOT NULL,
  key text NOT NULL,
  requests integer NOT NULL,
  ends_at timestamptz NOT NULL,
  PRIMARY KEY (kind, key)
) WITH (fillfactor = 50);
CREATE INDEX rate_windows_by_end ON rate_windows (ends_at);

-- Claims of releases by relayers, one row per payment. Unlogged, like the table above.
CREATE UNLOGGED TABLE release_claims (
  payment_id text PRIMARY KEY NOT NULL,
  relayer text NOT NULL,
  ends_at timestamptz NOT NULL
);
