import type { Payment } from '../../domain/payment.ts';
import { IDEMPOTENCY_TTL_MS, type IdempotencyRecord } from '../../domain/ports/payment-store.ts';
import { type Column, unnest, valuesByColumn } from './column-lists.ts';
import type { Connection } from './open-database.ts';
import { allPaymentColumns, insertedPaymentColumns, paymentValues } from './payment-rows.ts';
import { statement } from './statement.ts';

/** A payment that is created at most once for its Idempotency-Key. */
export interface KeyedPayment {
  readonly payment: Payment;
  readonly record: IdempotencyRecord;
}

/**
 * A subquery of each row on its own and no join, because a join may bring the rows into another order. It replaces
 * a foreign key, which would lock the account's row for every creation.
 */
const hasAccount = '(SELECT true FROM accounts WHERE accounts.id = created.account_id)';

const insertPlain = statement(`
  INSERT INTO payments (${insertedPaymentColumns})
  SELECT ${insertedPaymentColumns} FROM ${unnest('created', allPaymentColumns)}
  WHERE ${hasAccount}
  ON CONFLICT DO NOTHING RETURNING id`);

const recordColumns: readonly Column[] = [
  ['idempotency_key', 'text'],
  ['fingerprint', 'text'],
  ['recorded_at_ms', 'bigint'],
];
const keyedColumns = [...allPaymentColumns, ...recordColumns];

/**
 * Whoever finds the key taken waits for the other's commit, and takes it over only where it is older than 24 hours.
 * In the order of keys, so that two groups with the same keys wait for each other and never cross.
 */
const insertKeyed = statement(`
  WITH created AS MATERIALIZED (SELECT * FROM ${unnest('given', keyedColumns)}),
  claimed AS (
    INSERT INTO idempotency_records (account_id, key, fingerprint, payment_id, created_at_ms)
    SELECT account_id, idempotency_key, fingerprint, id, recorded_at_ms FROM created
    WHERE ${hasAccount} ORDER BY account_id COLLATE "C", idempotency_key COLLATE "C"
    ON CONFLICT (account_id, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, payment_id = excluded.payment_id, created_at_ms = excluded.created_at_ms
    WHERE idempotency_records.created_at_ms <= excluded.created_at_ms - ${IDEMPOTENCY_TTL_MS}
    RETURNING payment_id
  )
  INSERT INTO payments (${insertedPaymentColumns})
  SELECT ${insertedPaymentColumns} FROM created WHERE id IN (SELECT payment_id FROM claimed)
  ORDER BY id COLLATE "C" RETURNING id`);

/** Inserts payments in this order; returns the ids of those that are new and have an account. */
export async function insertPayments(
  connection: Connection,
  payments: readonly Payment[],
): Promise<Set<string>> {
  const values = valuesByColumn(allPaymentColumns, payments.map(paymentValues));
  return idsOf(await connection.query(insertPlain, values));
}

/**
 * Inserts the payments whose key is free, each key being given once; returns their ids. All of them or none.
 *
 * @throws when a payment's id exists already
 */
export async function insertKeyedPayments(
  connection: Connection,
  keyed: readonly KeyedPayment[],
): Promise<Set<string>> {
  const rows = keyed.map(({ payment, record }) => [
    ...paymentValues(payment),
    ...[record.key, record.fingerprint, record.createdAtMs],
  ]);
  return idsOf(await connection.query(insertKeyed, valuesByColumn(keyedColumns, rows)));
}

function idsOf(rows: readonly { readonly id: string }[]): Set<string> {
  return new Set(rows.map(({ id }) => id));
}
