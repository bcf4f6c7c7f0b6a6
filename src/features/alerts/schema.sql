-- Failures of which an account's owners have not been notified yet, and the time of the last notification.
CREATE TABLE alerts (
  account_id text NOT NULL,
  kind text NOT NULL,
  count integer NOT NULL,
  since_ms integer NOT NULL,
  notified_at_ms integer NOT NULL,
  PRIMARY KEY (account_id, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX alerts_unsent ON alerts (since_ms) WHERE count > 0;
CREATE TABLE alert_cursors (
  name text PRIMARY KEY NOT NULL,
  through_ms integer NOT NULL
) STRICT, WITHOUT ROWID;
