import { bytesOfAddress } from '../../payment/address.ts';
import type { Payment } from '../../payment/payment.ts';
import { SLOT_MS } from '../../payment/payment-statistics.ts';
import {
  type CreateOutcome,
  IDEMPOTENCY_TTL_MS,
  type IdempotencyRecord,
  type PaymentStore,
} from '../../payment/payment-store.ts';
import { findIdempotent } from '../payments.ts';
import type { Scripts } from '../scripts.ts';
import { PURGED_PER_RECORD } from '../store.ts';
import { paymentTable } from '../tables.ts';
import { ConnectionLostError, type Database, isAway } from './open-database.ts';
import { statement, typedColumn } from './statements.ts';

/** Another instance can take a free key during the look-up; hardly ever twice. */
const MAXIMUM_TRIES = 5;
/** Create requests with a key between two purges of old records. */
const PURGE_INTERVAL = 5;

const CREATED: CreateOutcome = { kind: 'created' };
const RESERVED: CreateOutcome = { kind: 'reserved' };

const allPaymentColumns = paymentTable.columns.map(typedColumn);
const values = allPaymentColumns.map(([, type], index) => `$${index + 1}::${type}`).join(', ');
const [id, accountId] = ['id', 'account_id'].map(placeOf);
const [key, fingerprint, recordedAtMs] = ['text', 'text', 'bigint'].map(
  (type, index) => `$${allPaymentColumns.length + index + 1}::${type}`,
);

function placeOf(column: string): string {
  return `$${allPaymentColumns.findIndex(([name]) => name === column) + 1}::text`;
}

/** Replaces a foreign key, which would lock the account's row for every new payment. */
const hasAccount = `EXISTS (SELECT FROM accounts WHERE accounts.id = ${accountId})`;

const selectReserved = statement('SELECT 1 FROM payments WHERE deposit_address = $1');
/** Checked without a lock, because a merchant cannot know the deposit address of an uncommitted payment. */
const isUnreserved = `NOT EXISTS (
  SELECT FROM payments WHERE deposit_address = decode(substr(${placeOf('payout_address')}, 3), 'hex'))`;

/** Rows for searches and statistics, after `created`, the inserted payment. */
const queueCreated = `
  queued AS (INSERT INTO unindexed_payments (account_id, payment_id) SELECT account_id, id FROM created),
  counted AS (
    INSERT INTO uncounted_changes (account_id, currency, start_ms, created)
    SELECT account_id, currency, created_at_ms - created_at_ms % ${SLOT_MS}, 1 FROM created
  )
  SELECT id FROM created`;
const inserted = 'RETURNING id, account_id, currency, created_at_ms';

const insertPlain = statement(`
  WITH created AS (
    INSERT INTO payments (${paymentTable.names}) SELECT ${values} WHERE ${hasAccount} AND ${isUnreserved}
    ON CONFLICT DO NOTHING ${inserted}
  ), ${queueCreated}`);

/** Waits for the commit of a request with the same key, and replaces only a record older than `IDEMPOTENCY_TTL_MS`. */
const insertKeyed = statement(`
  WITH claimed AS (
    INSERT INTO idempotency_records (account_id, key, fingerprint, payment_id, created_at_ms)
    SELECT ${accountId}, ${key}, ${fingerprint}, ${id}, ${recordedAtMs} WHERE ${hasAccount} AND ${isUnreserved}
    ON CONFLICT (account_id, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, payment_id = excluded.payment_id, created_at_ms = excluded.created_at_ms
    WHERE idempotency_records.created_at_ms <= excluded.created_at_ms - ${IDEMPOTENCY_TTL_MS}
    RETURNING payment_id
  ), created AS (
    INSERT INTO payments (${paymentTable.names}) SELECT ${values} FROM claimed ${inserted}
  ), ${queueCreated}`);

const selectId = statement('SELECT id FROM payments WHERE id = $1');
/** Skips locked rows, so that it never waits. */
const purgeRecords = statement(`
  DELETE FROM idempotency_records WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM idempotency_records WHERE created_at_ms <= $1
    ORDER BY created_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED))`);

/** Creates payments, each in one statement. `onError` gets failures to delete old records; no request fails. */
export function createPaymentInserts(
  database: Database,
  { read }: Scripts,
  onError: (error: Error) => void,
): PaymentStore['createPayment'] {
  const findEarlier = read(findIdempotent);
  let keyed = 0;

  /** Whether the payment is new. After a lost connection it is inserted again: ids are unique. */
  async function insert(
    sql: typeof insertPlain,
    payment: Payment,
    rest: readonly unknown[],
  ): Promise<boolean> {
    const given = [...paymentTable.valuesOf(payment), ...rest];
    try {
      return (await database.query(sql, given)).length > 0;
    } catch (error) {
      if (!(error instanceof ConnectionLostError) || !isAway(error)) throw error;
    }
    await database.repeating.query(sql, given);
    return (await database.repeating.query(selectId, [payment.id])).length > 0;
  }

  async function createOnce(payment: Payment, record: IdempotencyRecord): Promise<CreateOutcome> {
    const { key, fingerprint, createdAtMs } = record;
    const sinceMs = createdAtMs - IDEMPOTENCY_TTL_MS;
    if (++keyed % PURGE_INTERVAL === 0)
      database.query(purgeRecords, [sinceMs, PURGE_INTERVAL * PURGED_PER_RECORD]).catch(onError);
    for (let tries = 0; tries < MAXIMUM_TRIES; tries++) {
      if (await insert(insertKeyed, payment, [key, fingerprint, createdAtMs])) return CREATED;
      const earlier = await findEarlier(record.accountId, key, sinceMs);
      if (earlier !== null) return { kind: 'replayed', ...earlier };
      if (await isReserved(payment)) return RESERVED;
    }
    throw new Error(`payment ${payment.id} could not be created: there is no account ${record.accountId}`);
  }

  async function isReserved({ payoutAddress }: Payment): Promise<boolean> {
    return (await database.repeating.query(selectReserved, [bytesOfAddress(payoutAddress)])).length > 0;
  }

  return async (payment, record) => {
    if (record !== null) return createOnce(payment, record);
    if (await insert(insertPlain, payment, [])) return CREATED;
    if (await isReserved(payment)) return RESERVED;
    throw new Error(`payment ${payment.id} exists already, or there is no account ${payment.accountId}`);
  };
}
