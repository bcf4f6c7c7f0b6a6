import { Client } from 'pg';
import { connectionOptions, noTimeout } from '../../src/store/postgres/connect.ts';
import { dropIndexes } from './drop-indexes.ts';

/** The tables that grow with the payments. */
export const growingTables: readonly string[] = [
  'payments',
  'idempotency_records',
  'provider_sessions',
  'deposits',
  'releases',
  'webhooks',
  'relay_batches',
  'relay_batch_payments',
  'relay_attempts',
  'state_changes',
  'events',
  'refunds',
  'page_payments',
  'account_records',
];

/** The moment the synthetic year ends at; operations are measured as if it were now. */
export const SYNTHETIC_NOW_MS = Date.UTC(2026, 10, 20);
/** The one batch that is in flight, and what it carries: the newest payments but those that wait for the next one. */
export const OPEN_BATCH_RELAYER = 'relayer of the open batch';
export const CARRIED = 100;
export const DUE = 50;
export const PENDING_WEBHOOKS = 50;
const QUEUED = 50;

const YEAR_MS = 365 * 24 * 3_600_000;
/** The default of CHECKOUT_EXPIRY_HOURS. */
export const EXPIRY_MS = 168 * 3_600_000;
const PAYMENTS_A_BATCH = 80;
const PAID_PERCENT = 62;
const MINIMUM_IDEMPOTENCY_RECORDS = 20_000;

/**
 * Fills an empty schema with payments as a year would have left them, evenly over time: 62 % paid, the others expired,
 * or still open in the last seven days. Few accounts have most of the payments. Everything that follows from a payment
 * is there too: sessions, deposits, releases, batches, webhooks; Idempotency-Keys of the last day. The same count
 * gives the same rows.
 *
 * @param url a database with the newest schema and nothing in it
 */
export async function fillPayments(
  url: string,
  payments: number,
  onStep: (name: string, seconds: number) => void = () => {},
): Promise<void> {
  const run = (name: string, ...statements: string[]) =>
    withClient(url, async (client) => {
      const startedAtMs = performance.now();
      for (const sql of statements) await client.query(sql);
      onStep(name, (performance.now() - startedAtMs) / 1000);
    });
  const makeIndexes = await withClient(url, (client) => dropIndexes(client, growingTables));
  // What can be made again at any time is not worth writing ahead.
  await run('tables', ...growingTables.map((table) => `ALTER TABLE ${table} SET UNLOGGED`));
  await run('synthetic payments', syntheticSql(payments), accountsSql(accountCount(payments)));
  await Promise.all([
    run('payments', paymentsSql(payments), queuedSql(payments)),
    run('webhooks', webhooksSql(payments))
      .then(() => run('provider sessions', sessionsSql))
      .then(() => run('deposits and releases', observationSql(payments)))
      .then(() => run('relay batches', relaySql(payments)))
      .then(() => run('idempotency records', idempotencySql(payments)))
      .then(() => run('events', eventsSql))
      .then(() => run('refunds', refundsSql))
      .then(() => run('payments of pages', pagePaymentsSql)),
  ]);
  await run('indexes', 'DROP TABLE synthetic', ...makeIndexes);
  await run('vacuum and analyze', 'VACUUM payments', 'ANALYZE');
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ ...connectionOptions(url), ...noTimeout });
  await client.connect();
  try {
    // Rows come in the order of the payments, as they would with time.
    await client.query('SET max_parallel_workers_per_gather = 0; SET synchronize_seqscans = off');
    return await use(client);
  } finally {
    await client.end();
  }
}

function accountCount(payments: number): number {
  return Math.max(100, Math.floor(payments / 1_000));
}

/**
 * Number, id, account and state of each payment, for all that is made of them. The largest account has a twentieth of
 * ten million payments, most accounts have a few hundred.
 */
function syntheticSql(payments: number): string {
  const stepMs = YEAR_MS / payments;
  const share = '(hashint8extended(i, 7) & 1048575) / 1048576.0::double precision';
  return `
    CREATE UNLOGGED TABLE synthetic AS
    SELECT i, time_ms, 1 + i / ${PAYMENTS_A_BATCH} AS batch_id, time_ms / 2000 - 800000000 AS block_number,
      substr(time, 1, 8) || '-' || substr(time, 9) || '-7' || substr(digits, 1, 3) || '-a' || substr(digits, 4, 3) || '-' ||
        substr(digits, 7, 12) AS id,
      ${accountIdSql(`floor(${accountCount(payments)} * (${share}) ^ 3)::bigint`)} AS account_id,
      CASE WHEN i > ${payments - DUE} THEN 'due' WHEN i > ${payments - DUE - CARRIED} THEN 'carried'
        WHEN (hashint8extended(i, 11) & 65535) % 100 < ${PAID_PERCENT} THEN 'paid'
        WHEN time_ms > ${SYNTHETIC_NOW_MS - EXPIRY_MS} THEN 'open' ELSE 'canceled' END AS state
    FROM generate_series(1::bigint, ${payments}) AS i,
      LATERAL (SELECT ${SYNTHETIC_NOW_MS - YEAR_MS} + (i * ${stepMs}::double precision)::bigint AS time_ms) AS timed,
      LATERAL (SELECT lpad(to_hex(time_ms), 12, '0') AS time, md5('id' || i) AS digits) AS written;
    ANALYZE synthetic;`;
}

function accountIdSql(number: string): string {
  return `'acc_' || lpad((${number})::text, 18, '0')`;
}

/** Some digits that follow from a number, and from nothing else. */
function hexSql(kind: string, number: string, digits: 24 | 40 | 64): string {
  const whole = `md5('${kind}' || ${number})`;
  return digits === 24 ? `substr(${whole}, 1, 24)` : `substr(repeat(${whole}, 2), 1, ${digits})`;
}

function accountsSql(accounts: number): string {
  return `
    INSERT INTO accounts
      (id, name, email, fee_basis_points, wallet, features, providers, excluded_providers, suspended, created_at_ms,
        tolerates_missing_cent, base_currency, wallet_locked, time_zone, receives_alerts)
    SELECT ${accountIdSql('n')}, 'Shop ' || n, 'shop' || n || '@example.com', 250, '0x' || ${hexSql('wallet', 'n', 40)},
      '{card_checkout,fee_pass_through}', NULL, '{}', false, ${SYNTHETIC_NOW_MS - YEAR_MS}, false, 'USD', false, 'UTC', true
    FROM generate_series(0, ${accounts - 1}) AS n;
    INSERT INTO api_keys (id, account_id, name, hash, last_characters, scopes, created_at_ms)
    SELECT 'key_' || ${hexSql('key', 'n', 24)}, ${accountIdSql('n / 2')}, 'shop', ${hexSql('hash', 'n', 64)}, 'R8mQ', '{create,read,cancel}',
      ${SYNTHETIC_NOW_MS - YEAR_MS}
    FROM generate_series(0, ${2 * accounts - 1}) AS n;`;
}

/** One event of each payment that was settled, as if all of them were young enough to be kept. */
const eventsSql = `
  INSERT INTO events (account_id, number, at_ms, type, payment_id)
  SELECT account_id, row_number() OVER (PARTITION BY account_id ORDER BY i), time_ms + 600000, 'payment.' || state, id
  FROM synthetic WHERE state IN ('paid', 'canceled');
  INSERT INTO event_numbers (account_id, newest) SELECT account_id, max(number) FROM events GROUP BY account_id`;

/** One paid payment in forty has a refund; few of them wait for their transfer. */
const refundsSql = `
  INSERT INTO refunds (id, account_id, payment_id, created_at_ms, units, status, expires_at_ms, fingerprint, destination,
    scanned_block, transaction_hash, log_index, block_number, paid_at_ms)
  SELECT 'rfd_' || lpad(to_hex(i), 20, '0'), account_id, id, time_ms, 5000000,
    CASE WHEN i % 10000 = 0 THEN 'awaiting_transfer' ELSE 'paid' END, time_ms + 2592000000, '',
    '0x' || lpad(to_hex(i), 40, '0'), block_number,
    CASE WHEN i % 10000 = 0 THEN NULL ELSE '0x' || lpad(to_hex(i), 64, 'b') END, 1, block_number, time_ms
  FROM synthetic WHERE state = 'paid' AND i % 40 = 0`;

/** The name of the page that every account has, and its slug. */
export const pageOf = (accountId: string): string => `page-${accountId}`;

/** One payment in ten was made on a page; the newest few still hold a place of its stock. Half were opened. */
const pagePaymentsSql = `
  INSERT INTO reusable_pages (id, account_id, slug, title, currency, amount_cents, pass_fee_to_customer, answer_required,
    paused, created_at_ms)
  SELECT 'page-' || id, id, 'page-' || id, 'A page', 'USD', 1000, false, false, false, created_at_ms FROM accounts;
  INSERT INTO account_records (account_id, kind, name, texts, at_ms)
  SELECT account_id, 'opened', id, '{}', time_ms FROM synthetic WHERE i % 2 = 0;
  INSERT INTO page_payments (payment_id, page_id, submission, answer, held_until_ms)
  SELECT id, 'page-' || account_id, id, NULL,
    CASE WHEN state = 'open' AND time_ms > ${SYNTHETIC_NOW_MS - 1_800_000} THEN time_ms + 1800000 END
  FROM synthetic WHERE i % 10 = 0`;

function paymentsSql(payments: number): string {
  const whenPaid = (value: string, otherwise = 'NULL') =>
    `CASE WHEN state = 'paid' THEN ${value} ELSE ${otherwise} END`;
  return `
    INSERT INTO payments (row, id, account_id, created_at_ms, amount_cents, currency, pass_fee_to_customer,
      fee_basis_points, provider, callback_url, email, token_fingerprint, chain_id, factory, payout_address, fee_wallet,
      deposit_address, usd_units, paid_threshold_units, status, forward_status, paid_at_ms, received_units, forwarded_units,
      txid_in, txid_out, release_due_at_ms, release_refusals, no_op_batches, relay_batch_id, cancel_reason,
      release_requested)
    SELECT i, id, account_id, time_ms, 2000 + i % 20000, 'EUR', false,
      250, 'multi', 'https://shop.example.com/webhooks/card-checkout?order=' || i,
      CASE WHEN i % 2 = 0 THEN 'customer' || i || '@example.com' END, 'k8mQ2xYp', 137,
      '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', '0x' || ${hexSql('payout', '(i % 30000)', 40)},
      '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
      '0x' || ${hexSql('deposit', 'i', 40)}, (2000 + i % 20000) * 10900, (2000 + i % 20000) * 10600,
      CASE state WHEN 'paid' THEN 'paid' WHEN 'canceled' THEN 'canceled' ELSE 'unpaid' END,
      CASE state WHEN 'paid' THEN 'completed' WHEN 'canceled' THEN 'canceled' WHEN 'due' THEN 'ready'
        WHEN 'carried' THEN 'processing' ELSE 'pending' END,
      ${whenPaid('time_ms + 600000')}, ${whenPaid('(2000 + i % 20000) * 10700', '0')},
      ${whenPaid('(2000 + i % 20000) * 10400', '0')}, ${whenPaid(`'0x' || ${hexSql('in', 'i', 64)}`)},
      ${whenPaid(`'0x' || ${hexSql('out', 'batch_id', 64)}`)},
      CASE WHEN state = 'due' THEN ${SYNTHETIC_NOW_MS} - 1000 END, 0, 0,
      CASE WHEN state = 'carried' THEN ${openBatchId(payments)} END,
      CASE WHEN state = 'canceled' THEN 'expired' END, false
    FROM synthetic;
    SELECT setval('payments_row_seq', ${payments});
    INSERT INTO watermarks SELECT 'expiry', id FROM synthetic
    WHERE i = ${Math.floor(payments * (1 - EXPIRY_MS / YEAR_MS))};`;
}

/** The newest payments are not in the tables behind searches and statistics yet; nor are the others, which nothing here reads there. */
function queuedSql(payments: number): string {
  const newest = `FROM synthetic WHERE i > ${payments - QUEUED}`;
  return `
    INSERT INTO unindexed_payments (account_id, payment_id) SELECT account_id, id ${newest};
    INSERT INTO uncounted_changes (account_id, start_ms, currency, created)
    SELECT account_id, time_ms - time_ms % 900000, 'EUR', 1 ${newest};`;
}

function openBatchId(payments: number): number {
  return Math.floor(payments / PAYMENTS_A_BATCH) + 2;
}

/** Everyone who paid was at a provider, and a third of the others. */
const sessionsSql = `
  INSERT INTO provider_sessions (id, payment_id, provider, redirect_url, provider_reference, has_email,
    charged_cents, received_units, quoted_units, created_at_ms, expires_at_ms)
  SELECT md5('session' || i)::uuid, id, 'moonpay',
    'https://provider.example.com/checkout/' || ${hexSql('checkout', 'i', 40)}, ${hexSql('reference', 'i', 24)}, true,
    2000 + i % 20000, 0, (2000 + i % 20000) * 10800, time_ms + 60000, time_ms + 3660000
  FROM synthetic WHERE state IN ('paid', 'carried', 'due') OR i % 3 = 0`;

function observationSql(payments: number): string {
  return `
    INSERT INTO deposits (transaction_hash, log_index, block_number, payment_id, units)
    SELECT '0x' || ${hexSql('in', 'i', 64)}, i % 200, block_number + 200, id, (2000 + i % 20000) * 10700
    FROM synthetic WHERE state IN ('paid', 'carried', 'due');
    INSERT INTO releases (transaction_hash, log_index, block_number, payment_id, to_merchant_units, fee_units)
    SELECT '0x' || ${hexSql('out', 'batch_id', 64)}, 3 * (i % ${PAYMENTS_A_BATCH}), block_number + 220, id,
      (2000 + i % 20000) * 10400, (2000 + i % 20000) * 300
    FROM synthetic WHERE state = 'paid';
    INSERT INTO checkpoints (number, hash, timestamp_ms)
    SELECT block_number + 300 + n, '0x' || ${hexSql('block', 'n', 64)}, ${SYNTHETIC_NOW_MS} - 2000 * (200 - n)
    FROM generate_series(1, 200) AS n, synthetic WHERE i = ${payments};`;
}

/** The signed bytes name three words for each payment. */
function relaySql(payments: number): string {
  const open = openBatchId(payments);
  return `
    INSERT INTO relay_batches (id, relayer, nonce, kind, gas_limit, created_at_ms, outcome, closed_at_ms)
    SELECT b, 'relayer', b, 'forward', 4000000, ${SYNTHETIC_NOW_MS}, 'resolved', ${SYNTHETIC_NOW_MS}
    FROM generate_series(1, ${open - 1}) AS b;
    INSERT INTO relay_batches (id, relayer, nonce, kind, gas_limit, created_at_ms)
    VALUES (${open}, '${OPEN_BATCH_RELAYER}', 1, 'forward', 4000000, ${SYNTHETIC_NOW_MS} - 5000);
    SELECT setval(pg_get_serial_sequence('relay_batches', 'id'), ${open});
    INSERT INTO relay_batch_payments (batch_id, position, payment_id)
    SELECT CASE state WHEN 'paid' THEN batch_id ELSE ${open} END,
      CASE state WHEN 'paid' THEN i % ${PAYMENTS_A_BATCH} ELSE i - ${payments - DUE - CARRIED} - 1 END, id
    FROM synthetic WHERE state IN ('paid', 'carried');
    INSERT INTO relay_attempts (batch_id, position, hash, raw_transaction, max_fee_per_gas, max_priority_fee_per_gas,
      signed_at_ms)
    SELECT b, 0, '0x' || ${hexSql('out', 'b', 64)}, '0x02' || (
        SELECT string_agg(repeat('0', 24) || ${hexSql('word', '(b * 1000 + word)', 40)}, '')
        FROM generate_series(1, ${Math.ceil((3 * PAYMENTS_A_BATCH * PAID_PERCENT) / 100)}) AS word
      ), 60000000000, 30000000000, ${SYNTHETIC_NOW_MS}
    FROM generate_series(1::bigint, ${open}) AS b;`;
}

function webhooksSql(payments: number): string {
  const isPending = `i > ${payments - DUE - CARRIED - PENDING_WEBHOOKS}`;
  const once = (value: string) => `CASE WHEN NOT ${isPending} THEN ${value} END`;
  return `
    INSERT INTO webhooks (id, account_id, payment_id, host, event, fields, status, created_at_ms, claimed_at_ms, http_status,
      duration_ms, response_excerpt, body, signature, finished_at_ms)
    SELECT id || ':payment.paid', account_id, id, 'shop.example.com', 'payment.paid', fields::json,
      CASE WHEN ${isPending} THEN 'pending' ELSE 'delivered' END, time_ms + 600000, ${once('time_ms + 600100')},
      ${once('200')}, ${once('120')}, ${once("'ok'")}, ${once('fields')}, ${once(hexSql('signature', 'i', 64))},
      ${once('time_ms + 600220')}
    FROM synthetic, LATERAL (SELECT format('${webhookBody}', id, '0x' || ${hexSql('in', 'i', 64)},
      '0x' || ${hexSql('out', 'batch_id', 64)}) AS fields) AS written
    WHERE state = 'paid'`;
}

/** As long as a real one. */
const webhookBody = JSON.stringify({
  event: 'payment.paid',
  id: '%1$s',
  paymentId: '%1$s',
  status: 'paid',
  amount: '102.57',
  originalAmount: null,
  customerFeeAmount: null,
  passFeeToCustomer: false,
  currency: 'EUR',
  coin: 'polygon_usdc',
  receivedAmount: '107.000000',
  forwardedAmount: '104.000000',
  txidIn: '%2$s',
  txidOut: '%3$s',
  note: null,
  email: 'customer@example.com',
});

/** Half of the last day's payments. */
function idempotencySql(payments: number): string {
  const newest = Math.max(2 * MINIMUM_IDEMPOTENCY_RECORDS, Math.ceil(payments / 365));
  return `
    INSERT INTO idempotency_records (account_id, key, fingerprint, payment_id, created_at_ms)
    SELECT account_id, 'order-' || i, ${hexSql('fingerprint', 'i', 64)}, id, time_ms
    FROM synthetic WHERE i > ${payments - newest} AND i % 2 = 0`;
}
