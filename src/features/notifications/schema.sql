-- read_through is the number of the last event processed. The account's event log thus serves as the queue.
CREATE TABLE notification_channels (
  id text PRIMARY KEY NOT NULL,
  account_id text NOT NULL REFERENCES accounts (id),
  user_id text NOT NULL REFERENCES users (id),
  kind text NOT NULL,
  sealed_target text NOT NULL,
  hint text NOT NULL,
  events texts NOT NULL,
  created_at_ms integer NOT NULL,
  read_through integer NOT NULL,
  daily_due_at_ms integer,
  not_before_ms integer NOT NULL,
  hour_start_ms integer NOT NULL,
  sent_in_hour integer NOT NULL,
  failures_in_a_row integer NOT NULL,
  paused_reason text,
  last_sent_at_ms integer
) STRICT;
CREATE INDEX notification_channels_by_member ON notification_channels (account_id, user_id);
