-- paid and received_units are updated in the transaction in which a payment becomes paid.
CREATE TABLE reusable_pages (
  id text PRIMARY KEY NOT NULL,
  account_id text NOT NULL REFERENCES accounts (id),
  slug text NOT NULL UNIQUE,
  title text NOT NULL,
  order_line text,
  currency text NOT NULL,
  amount_cents integer,
  minimum_cents integer,
  maximum_cents integer,
  pass_fee_to_customer flag NOT NULL,
  payout_address text,
  callback_url text,
  ends_at_ms integer,
  stock integer,
  question text,
  answer_required flag NOT NULL,
  paused flag NOT NULL,
  created_at_ms integer NOT NULL,
  paid integer NOT NULL DEFAULT 0,
  received_units integer NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX reusable_pages_by_account ON reusable_pages (account_id, created_at_ms);
CREATE TABLE page_payments (
  payment_id text PRIMARY KEY NOT NULL REFERENCES payments (id),
  page_id text NOT NULL REFERENCES reusable_pages (id),
  submission text NOT NULL,
  answer text,
  held_until_ms integer
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX page_payments_by_submission ON page_payments (page_id, submission);
CREATE INDEX page_payments_held ON page_payments (page_id, held_until_ms)
  WHERE held_until_ms IS NOT NULL;
