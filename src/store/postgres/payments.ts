import { setTimeout as delay } from 'node:timers/promises';
import type { Payment, PaymentId } from '../../domain/payment.ts';
import type { Address } from '../../domain/payout-address.ts';
import { paymentOfRow } from '../payments.ts';
import { checkedLimit } from '../scripts.ts';
import type { EnginePayments } from '../store.ts';
import {
  type AskedKey,
  createGroupCreate,
  type FoundIdempotency,
  findIdempotencyRecords,
} from './group-create.ts';
import { type Closable, createGroupRead } from './group-read.ts';
import type { Connection, Database } from './open-database.ts';
import { paymentColumns } from './scripts.ts';
import { arrayLiteral, arrayStatement, statement } from './statements.ts';

const selectOwned = arrayStatement(`SELECT ${paymentColumns} FROM payments WHERE id = ANY($1::text[])`);

export function createPaymentStore(
  database: Database,
  onError: (error: Error) => void,
): Closable<EnginePayments> {
  const creates = createGroupCreate(database, onError);
  const owned = createGroupRead<Pick<Payment, 'id' | 'accountId'>, Payment | null>(async (asked) => {
    const rows = await database.repeating.query<unknown[]>(selectOwned, [
      arrayLiteral(asked.map(({ id }) => id)),
    ]);
    const byId = new Map(rows.map((row) => [row[0] as PaymentId, row]));
    return ({ id, accountId }) => {
      const row = byId.get(id);
      return row === undefined || row[1] !== accountId ? null : paymentOfRow(row);
    };
  });
  const idempotent = createGroupRead<AskedKey, FoundIdempotency | null>((asked) =>
    findIdempotencyRecords(database.repeating, asked),
  );

  const store: EnginePayments = {
    createPayment: (payment, record) => creates.create(payment, record),
    findIdempotent: (accountId, key, sinceMs) => idempotent.read({ accountId, key, sinceMs }),
    findPayment: (accountId, id) => owned.read({ accountId, id }),
    listDepositAddresses: async (afterRow, limit) =>
      listDepositAddresses(database.repeating, afterRow, checkedLimit(limit)),
  };
  const groups = [creates, owned, idempotent];
  return { store, close: async () => void (await Promise.all(groups.map((group) => group.close()))) };
}

/** How long a creation may be under way before this gives up: far longer than any of ours takes. */
const PATIENCE_MS = 5_000;
const POLL_MS = 5;

const selectLastRow = statement(`SELECT last_value AS "lastRow" FROM payments_row_seq`);
/** A transaction that draws a row number holds this lock on the sequence from before the draw until after its commit. */
const selectDrawing = statement(`
  SELECT virtualtransaction AS transaction FROM pg_locks
  WHERE locktype = 'relation' AND relation = 'payments_row_seq'::regclass AND mode = 'RowExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
const selectAddresses = arrayStatement(
  'SELECT row, deposit_address FROM payments WHERE row > $1 AND row <= $2 ORDER BY row LIMIT $3',
);

/**
 * Row numbers are drawn in one order and committed in another: a reader that remembers the highest row it has seen
 * would miss a lower one that is committed later, and with it a customer's money. So only rows are listed below
 * which nothing is under way any more: up to the last number that is drawn already, once every transaction that was
 * drawing numbers at that time has ended. Those are ours and take milliseconds; no writer waits for the reader.
 *
 * Everything that was committed before the call is listed: a list without it would be as bad. Hence this throws when
 * a transaction that creates payments stays open (one that an operator began by hand, say), instead of leaving it out.
 */
async function listDepositAddresses(
  connection: Connection,
  afterRow: number,
  limit: number,
): Promise<{ row: number; depositAddress: Address }[]> {
  const [drawn] = await connection.query<{ lastRow: number }>(selectLastRow);
  const lastRow = drawn?.lastRow ?? 0;
  // Only after that: who draws a number now draws a higher one.
  if (lastRow > afterRow) await untilSettled(connection);
  const rows = await connection.query<[number, Address]>(selectAddresses, [afterRow, lastRow, limit]);
  return rows.map(([row, depositAddress]) => ({ row, depositAddress }));
}

/** Resolves when every transaction that is drawing row numbers now has ended. */
async function untilSettled(connection: Connection): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  let unsettled = await readDrawing(connection);
  while (unsettled.size > 0) {
    if (performance.now() > deadlineMs) {
      throw new Error(
        `a transaction that creates payments has been open for ${PATIENCE_MS / 1000} s: is it stuck?`,
      );
    }
    await delay(POLL_MS);
    const drawing = await readDrawing(connection);
    unsettled = new Set([...unsettled].filter((transaction) => drawing.has(transaction)));
  }
}

async function readDrawing(connection: Connection): Promise<Set<string>> {
  const rows = await connection.query<{ transaction: string }>(selectDrawing);
  return new Set(rows.map(({ transaction }) => transaction));
}
