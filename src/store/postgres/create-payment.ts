import { bytesOfAddress } from '../../payment/address.ts';
import type { Payment } from '../../payment/payment.ts';
import { SLOT_MS } from '../../payment/payment-statistics.ts';
import type { IdempotencyRecord, PaymentStore } from '../../payment/payment-store.ts';
import { IDEMPOTENCY_TTL_MS } from '../../payment/retention-periods.ts';
import { findIdempotent, PURGED_PER_RECORD } from '../payments.ts';
import type { Scripts } from '../scripts.ts';
import { paymentTable } from '../tables.ts';
import { ConnectionLostError, type Database, isAway } from './open-database.ts';
import { statement, typedColumn } from './statements.ts';

/** Maximum attempts. Another instance may purge or replace the key's record between the insert and the lookup. */
const MAXIMUM_TRIES = 5;
/** Number of create requests with a key between two purges of old records. */
const PURGE_INTERVAL = 5;

const allPaymentColumns = paymentTable.columns.map(typedColumn);
const values = allPaymentColumns.map(([, type], index) => `$${index + 1}::${type}`).join(', ');
const [id, accountId] = ['id', 'account_id'].map(placeOf);
const [key, fingerprint, recordedAtMs] = ['text', 'text', 'bigint'].map(
  (type, index) => `$${allPaymentColumns.length + index + 1}::${type}`,
);

function placeOf(column: string): string {
  return `$${allPaymentColumns.findIndex(([name]) => name === column) + 1}::text`;
}

/** Condition that replaces a foreign key, which would lock the account's row for each new payment. */
const hasAccount = `EXISTS (SELECT FROM accounts WHERE accounts.id = ${accountId})`;

const selectReserved = statement('SELECT 1 FROM payments WHERE deposit_address = $1');
/** Condition that needs no lock, because a merchant cannot know the deposit address of an uncommitted payment. */
const isUnreserved = `NOT EXISTS (
  SELECT FROM payments WHERE deposit_address = decode(substr(${placeOf('payout_address')}, 3), 'hex'))`;

/** SQL that claims a key. It waits for a concurrent request with the key, and replaces only expired records. */
const claimed = `claimed AS (
    INSERT INTO idempotency_records (account_id, key, fingerprint, payment_id, created_at_ms)
    SELECT ${accountId}, ${key}, ${fingerprint}, ${id}, ${recordedAtMs}
    WHERE ${hasAccount} AND ${isUnreserved} AND NOT EXISTS (SELECT FROM payments WHERE id = ${id})
    ON CONFLICT (account_id, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, payment_id = excluded.payment_id, created_at_ms = excluded.created_at_ms
    WHERE idempotency_records.created_at_ms <= excluded.created_at_ms - ${IDEMPOTENCY_TTL_MS}
    RETURNING payment_id
  ),`;

/** Returns a statement that inserts a payment with its rows for search and statistics, after `claim` if not empty. */
const insertAfter = (claim: string, isClaimed: string) =>
  statement(`
  WITH ${claim} created AS (
    INSERT INTO payments (${paymentTable.names}) SELECT ${values}
    WHERE ${isClaimed} AND ${hasAccount} AND ${isUnreserved}
    ON CONFLICT DO NOTHING RETURNING id, account_id, currency, created_at_ms
  ), queued AS (
    INSERT INTO unindexed_payments (account_id, payment_id) SELECT account_id, id FROM created
  ), counted AS (
    INSERT INTO uncounted_changes (account_id, currency, start_ms, created)
    SELECT account_id, currency, created_at_ms - created_at_ms % ${SLOT_MS}, 1 FROM created
  )
  SELECT id FROM created`);
const insertPlain = insertAfter('', 'true');
const insertKeyed = insertAfter(claimed, 'EXISTS (SELECT FROM claimed)');

const selectId = statement('SELECT id FROM payments WHERE id = $1');
/** Statement that deletes expired records. It skips locked rows, so that it never waits. */
const purgeRecords = statement(`
  DELETE FROM idempotency_records WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM idempotency_records WHERE created_at_ms <= $1
    ORDER BY created_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED))`);

/** Creates payments, each in one statement. A failed purge of old records calls `onError` and fails no request. */
export function createPaymentInserts(
  database: Database,
  { read }: Scripts,
  onError: (error: Error) => void,
): PaymentStore['createPayment'] {
  const findEarlier = read(findIdempotent);
  let keyed = 0;

  /** Returns whether the payment was inserted. Retries after a lost connection, because unique ids make this safe. */
  async function insert(payment: Payment, record: IdempotencyRecord | null): Promise<boolean> {
    const claim = record === null ? [] : [record.key, record.fingerprint, record.createdAtMs];
    const given = [...paymentTable.valuesOf(payment), ...claim];
    const insertPayment = record === null ? insertPlain : insertKeyed;
    try {
      return (await database.query(insertPayment, given)).length > 0;
    } catch (error) {
      if (!(error instanceof ConnectionLostError) || !isAway(error)) throw error;
    }
    await database.repeating.query(insertPayment, given);
    return (await database.repeating.query(selectId, [payment.id])).length > 0;
  }

  return async (payment, record) => {
    const { id, accountId, payoutAddress } = payment;
    const sinceMs = (record?.createdAtMs ?? 0) - IDEMPOTENCY_TTL_MS;
    if (record !== null && ++keyed % PURGE_INTERVAL === 0)
      database.query(purgeRecords, [sinceMs, PURGE_INTERVAL * PURGED_PER_RECORD]).catch(onError);
    for (let tries = 0; tries < MAXIMUM_TRIES; tries++) {
      if (await insert(payment, record)) return { kind: 'created' };
      const earlier = record && (await findEarlier(accountId, record.key, sinceMs));
      if (earlier !== null) return { kind: 'replayed', ...earlier };
      const reserved = await database.repeating.query(selectReserved, [bytesOfAddress(payoutAddress)]);
      if (reserved.length > 0) return { kind: 'reserved' };
    }
    throw new Error(`payment ${id} exists already, or there is no account ${accountId}`);
  };
}
