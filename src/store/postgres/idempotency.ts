import type { Payment } from '../../domain/payment.ts';
import type { IdempotencyRecord } from '../../domain/ports/payment-store.ts';
import { paymentOfRow } from '../payment-rows.ts';
import { PURGED_PER_RECORD } from '../store-limits.ts';
import { type Column, unnest, valuesByColumn } from './column-lists.ts';
import type { Connection } from './open-database.ts';
import { allPaymentColumns, paymentColumns } from './payment-rows.ts';
import { arrayStatement, statement } from './statement.ts';

/** An Idempotency-Key of an account, of interest if it was used after `sinceMs`. */
export interface AskedKey extends Pick<IdempotencyRecord, 'accountId' | 'key'> {
  readonly sinceMs: number;
}

/** What a key stands for. */
export interface FoundIdempotency {
  readonly payment: Payment;
  readonly fingerprint: string;
}

const askedColumns: readonly Column[] = [
  ['account_id', 'text'],
  ['key', 'text'],
  ['since_ms', 'bigint'],
];
const selectRecords = arrayStatement(`
  SELECT ${paymentColumns}, fingerprint, key, idempotency_records.created_at_ms
  FROM (SELECT DISTINCT account_id, key FROM ${unnest('listed', askedColumns)}) AS asked
  JOIN idempotency_records USING (account_id, key)
  JOIN payments ON payments.account_id = asked.account_id AND payments.id = idempotency_records.payment_id`);

/**
 * Rows that others write are left to their next turn, so that this waits for nobody. By their place in the table: by
 * their keys the whole table would be read for each group.
 */
const purgeRecords = statement(`
  DELETE FROM idempotency_records WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM idempotency_records WHERE created_at_ms <= $1
    ORDER BY created_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED))`);

/** What the keys stand for; the returned function answers for one of them. */
export async function findIdempotencyRecords(
  connection: Connection,
  asked: readonly AskedKey[],
): Promise<(one: AskedKey) => FoundIdempotency | null> {
  const values = asked.map(({ accountId, key, sinceMs }) => [accountId, key, sinceMs]);
  const rows = await connection.query<unknown[]>(selectRecords, valuesByColumn(askedColumns, values));
  const byKey = new Map<string, unknown[]>();
  for (const row of rows)
    byKey.set(nameOf(row[1] as string, row[allPaymentColumns.length + 1] as string), row);
  return ({ accountId, key, sinceMs }) => {
    const row = byKey.get(nameOf(accountId, key));
    if (row === undefined) return null;
    const [fingerprint, , createdAtMs] = row.slice(allPaymentColumns.length) as [string, string, number];
    return createdAtMs > sinceMs ? { payment: paymentOfRow(row), fingerprint } : null;
  };
}

/** Deletes a few records that were made before `sinceMs`, as many as keep up with `added` new ones. */
export async function purgeIdempotencyRecords(
  connection: Connection,
  sinceMs: number,
  added: number,
): Promise<void> {
  await connection.execute(purgeRecords, [sinceMs, added * PURGED_PER_RECORD]);
}

/** One text for account and key: a key may contain any character but this one. */
export function nameOf(accountId: string, key: string): string {
  return `${accountId}\0${key}`;
}
