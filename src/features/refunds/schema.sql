CREATE TABLE refunds (
  id text PRIMARY KEY NOT NULL,
  account_id text NOT NULL,
  payment_id text NOT NULL,
  created_at_ms integer NOT NULL,
  units amount NOT NULL,
  reason text,
  status text NOT NULL,
  expires_at_ms integer NOT NULL,
  idempotency_key text,
  fingerprint text NOT NULL,
  destination text,
  scanned_block integer NOT NULL,
  submitted_hash text,
  transaction_problem text,
  sender text,
  transaction_hash text,
  log_index integer,
  block_number integer,
  paid_at_ms integer
) STRICT, WITHOUT ROWID;
CREATE INDEX refunds_by_payment ON refunds (payment_id);
CREATE INDEX refunds_by_key ON refunds (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX refunds_by_block ON refunds (block_number) WHERE status = 'paid';
CREATE INDEX refunds_watched ON refunds (destination) WHERE status = 'awaiting_transfer';
-- A transfer pays at most one refund.
CREATE UNIQUE INDEX refunds_by_transfer ON refunds (transaction_hash, log_index)
  WHERE transaction_hash IS NOT NULL;
