/**
 * What is stored, described once for all engines, so that rows can be carried from one to the other. Left out is what
 * lives for seconds only and for one engine (leases, claims of releases, rate windows), and what is made anew from the
 * payments (pages of the address book; what lists, searches and statistics rest on).
 */

/**
 * How a column's values look outside of any engine: `amount` is decimal text of any size, `texts` a JSON array of
 * text, `json` the text of a JSON document exactly as it is stored. Any of them may be null.
 */
export type PortableKind = 'text' | 'integer' | 'real' | 'amount' | 'flag' | 'texts' | 'json';

export type PortableValue = string | number | boolean | null;

/** The values of a row in the order of its table's columns. */
export type PortableRow = readonly PortableValue[];

export interface PortableColumn {
  readonly name: string;
  readonly kind: PortableKind;
  /** Stored only where tables are distributed by the account; elsewhere the row's payment says it. */
  readonly isOfPayment: boolean;
}

export interface PortableTable {
  readonly name: string;
  readonly columns: readonly PortableColumn[];
  /** Columns whose values are unique together: rows are read in their order. */
  readonly orderedBy: readonly string[];
  /** The column that the database counts up by itself. */
  readonly numberedBy: string | null;
}

const columnsOf =
  (kind: PortableKind) =>
  (...names: readonly string[]): PortableColumn[] =>
    names.map((name) => ({ name, kind, isOfPayment: false }));

const text = columnsOf('text');
const integer = columnsOf('integer');
const real = columnsOf('real');
const amount = columnsOf('amount');
const flag = columnsOf('flag');
const texts = columnsOf('texts');
const json = columnsOf('json');
const accountOfPayment: PortableColumn = { name: 'account_id', kind: 'text', isOfPayment: true };

function table(
  name: string,
  orderedBy: readonly string[],
  columns: readonly PortableColumn[],
  numberedBy: string | null = null,
): PortableTable {
  return { name, orderedBy, columns, numberedBy };
}

const paymentColumns = [
  ...integer('row', 'created_at_ms', 'amount_cents', 'original_amount_cents', 'customer_fee_cents'),
  ...text('id', 'account_id', 'currency', 'provider', 'callback_url', 'email', 'note', 'token_fingerprint'),
  ...flag('pass_fee_to_customer', 'release_requested'),
  ...integer('fee_basis_points', 'chain_id', 'usd_units', 'paid_threshold_units'),
  ...integer('tolerance_basis_points', 'max_provider_fee_basis_points'),
  ...text('amount_mismatch'),
  ...text('factory', 'payout_address', 'fee_wallet', 'deposit_address'),
  ...text('status', 'forward_status', 'txid_in', 'txid_out', 'release_refusal_reason', 'cancel_reason'),
  ...integer('paid_at_ms', 'release_due_at_ms', 'release_refusals', 'no_op_batches', 'relay_batch_id'),
  ...amount('received_units', 'forwarded_units'),
];

const webhookColumns = [
  ...text(
    'id',
    'account_id',
    'payment_id',
    'host',
    'event',
    'status',
    'reason',
    'response_excerpt',
    'body',
    'signature',
  ),
  ...integer('created_at_ms', 'claimed_at_ms', 'http_status', 'finished_at_ms'),
  ...real('duration_ms'),
  ...json('fields'),
];

const chainPosition = [
  ...text('transaction_hash', 'payment_id'),
  ...integer('log_index', 'block_number'),
  accountOfPayment,
];

/** People, their sessions and what they did. */
const peopleTables: readonly PortableTable[] = [
  table(
    'users',
    ['id'],
    [
      ...text('id', 'email', 'password_hash', 'totp_secret'),
      ...integer('totp_step', 'is_operator', 'created_at_ms'),
    ],
  ),
  table(
    'passkeys',
    ['id'],
    [
      ...text('id', 'user_id', 'name', 'public_key', 'transports'),
      ...integer('counter', 'created_at_ms', 'last_used_at_ms'),
    ],
  ),
  table('recovery_codes', ['user_id', 'hash'], text('user_id', 'hash')),
  table(
    'memberships',
    ['account_id', 'user_id'],
    [...text('account_id', 'user_id', 'role'), ...integer('created_at_ms')],
  ),
  table(
    'dashboard_sessions',
    ['id'],
    [
      ...text(
        'id',
        'token_hash',
        'user_id',
        'account_id',
        'area',
        'stage',
        'address',
        'user_agent',
        'challenge',
      ),
      ...integer('created_at_ms', 'last_seen_at_ms', 'expires_at_ms'),
    ],
  ),
  table(
    'one_time_links',
    ['id'],
    [
      ...text('id', 'token_hash', 'kind', 'email', 'user_id', 'account_id', 'role'),
      ...integer('created_at_ms', 'expires_at_ms'),
    ],
  ),
  table(
    'audit_entries',
    ['account_id', 'position'],
    [
      ...text('account_id', 'actor', 'user_id', 'action', 'target', 'address'),
      ...integer('position', 'at_ms'),
    ],
  ),
];

/** Every table, each after those that its rows refer to. */
export const portableTables: readonly PortableTable[] = [
  table(
    'accounts',
    ['id'],
    [
      ...text('id', 'name', 'email', 'wallet'),
      ...text('logo_hash', 'support_url', 'return_url', 'time_zone', 'default_callback_url'),
      ...integer('fee_basis_points', 'created_at_ms', 'email_retention_days'),
      ...integer('tolerance_basis_points', 'max_provider_fee_basis_points'),
      ...texts('features', 'providers'),
      ...flag('suspended', 'wallet_locked', 'receives_alerts'),
    ],
  ),
  table('shop_logos', ['account_id'], text('account_id', 'hash', 'type', 'image')),
  table(
    'api_keys',
    ['id'],
    [
      ...text('id', 'account_id', 'name', 'hash', 'last_characters'),
      ...integer('created_at_ms', 'revoked_at_ms', 'last_used_at_ms'),
    ],
  ),
  ...peopleTables,
  table('payments', ['row'], paymentColumns, 'row'),
  // In the order of their age, which is how the oldest are found for deletion where rows are kept in order.
  table(
    'idempotency_records',
    ['created_at_ms', 'account_id', 'key'],
    [...text('account_id', 'key', 'fingerprint', 'payment_id'), ...integer('created_at_ms')],
  ),
  table(
    'provider_sessions',
    ['id'],
    [
      ...text('id', 'payment_id', 'provider', 'redirect_url', 'provider_reference', 'progress', 'language'),
      ...text('customer_ip_hash', 'customer_country'),
      ...amount('quoted_units'),
      ...integer('created_at_ms', 'expires_at_ms', 'progress_at_ms'),
      ...flag('has_email'),
      accountOfPayment,
    ],
  ),
  table('checkpoints', ['number'], [...integer('number', 'timestamp_ms'), ...text('hash')]),
  table('deposits', ['transaction_hash', 'log_index'], [...chainPosition, ...amount('units')]),
  table(
    'releases',
    ['transaction_hash', 'log_index'],
    [...chainPosition, ...amount('to_merchant_units', 'fee_units')],
  ),
  table(
    'journal',
    ['number'],
    [
      ...integer('number', 'recorded_at_ms', 'log_index', 'block_number'),
      ...text('previous_hash', 'hash', 'kind', 'payment_id', 'token', 'transaction_hash'),
      ...amount('units'),
    ],
  ),
  table('watermarks', ['name'], text('name', 'payment_id')),
  table(
    'relay_batches',
    ['id'],
    [
      ...integer('id', 'nonce', 'created_at_ms', 'closed_at_ms'),
      ...text('relayer', 'kind', 'rescue_token', 'outcome'),
      ...amount('gas_limit'),
    ],
    'id',
  ),
  table(
    'relay_batch_payments',
    ['batch_id', 'position'],
    [...integer('batch_id', 'position'), ...text('payment_id')],
  ),
  table(
    'relay_attempts',
    ['batch_id', 'position'],
    [
      ...integer('batch_id', 'position', 'signed_at_ms'),
      ...text('hash', 'raw_transaction'),
      ...amount('max_fee_per_gas', 'max_priority_fee_per_gas'),
    ],
  ),
  table('webhooks', ['id'], webhookColumns),
  table(
    'alerts',
    ['account_id', 'kind'],
    [...text('account_id', 'kind'), ...integer('count', 'since_ms', 'notified_at_ms')],
  ),
  table('alert_cursors', ['name'], [...text('name'), ...integer('through_ms')]),
  table('email_watermarks', ['account_id'], text('account_id', 'payment_id')),
  table(
    'receipts',
    ['payment_id'],
    [
      ...text('account_id', 'payment_id', 'status'),
      ...integer('created_at_ms', 'claimed_at_ms', 'finished_at_ms'),
    ],
  ),
  table(
    'state_changes',
    ['payment_id', 'at_ms', 'state'],
    [...text('account_id', 'payment_id', 'state'), ...integer('at_ms')],
  ),
  table(
    'unnumbered_events',
    ['row'],
    [...integer('row', 'at_ms'), ...text('account_id', 'payment_id', 'type')],
    'row',
  ),
  table(
    'events',
    ['account_id', 'number'],
    [...integer('number', 'at_ms'), ...text('account_id', 'payment_id', 'type')],
  ),
  table('event_numbers', ['account_id'], [...text('account_id'), ...integer('newest')]),
  table(
    'provider_settings',
    ['provider'],
    [...text('provider'), ...flag('active'), ...integer('minimum_usd_cents')],
  ),
  table(
    'settlements',
    ['chain_id', 'factory', 'fee_wallet'],
    [
      ...integer('chain_id', 'last_started_at_ms'),
      ...text('token', 'factory', 'implementation', 'factory_code_hash', 'fee_wallet'),
    ],
  ),
];

/** Number of rows in memory at a time. */
export const PORTION_ROWS = 1_000;
