import { Client } from 'pg';
import type { Payment } from '../../src/domain/payment.ts';
import { createPaymentIdGenerator } from '../../src/domain/payment-id.ts';
import { openPostgresStore } from '../../src/store/postgres/open-store.ts';
import { CARRIED, DUE, SYNTHETIC_NOW_MS } from './fill-payments.ts';

/** What is asked for in one turn of the event loop of a busy instance. */
const GROUP = 64;
/** Deposits that one pass of the watcher finds on a busy day. */
const FOUND = 50;

/** Payments and names from a filled database, for operations to work on. */
export interface Sample {
  /** The number of payments that are stored. */
  readonly payments: number;
  /** From the oldest to the newest, of many accounts. */
  readonly spread: readonly Payment[];
  /** Waiting for money. */
  readonly open: readonly Payment[];
  /** Carried by the open batch. */
  readonly carried: readonly Payment[];
  /** Every other one of the newest: those that have an Idempotency-Key, newest first. */
  readonly keyed: readonly Payment[];
  /** Like `spread`, but new. */
  readonly fresh: readonly Payment[];
  readonly keyHashes: readonly string[];
  readonly openBatchId: number;
}

/** Picks the same payments each time. */
export async function readSample(url: string, payments: number): Promise<Sample> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const store = await openPostgresStore({ url, poolSize: 1 });
  try {
    const rowsOf = async (sql: string) =>
      (await client.query({ text: sql, rowMode: 'array' })).rows.map(([row]) => row);
    const find = (rows: readonly number[]) => store.payments.findPaymentsByRow(rows);
    const spread = await find(
      Array.from({ length: GROUP }, (_, index) => Math.ceil(((index + 0.5) * payments) / GROUP)),
    );
    const openRows = await rowsOf(
      `SELECT row::integer FROM payments WHERE row > ${payments} - 5000 AND forward_status = 'pending' ORDER BY row LIMIT ${FOUND}`,
    );
    const firstCarried = payments - DUE - CARRIED + 1;
    const createId = createPaymentIdGenerator(() => SYNTHETIC_NOW_MS);
    return {
      payments,
      spread,
      keyed: await find(Array.from({ length: GROUP }, (_, index) => payments - 2 * index)),
      open: await find(openRows),
      carried: await find(Array.from({ length: CARRIED }, (_, index) => firstCarried + index)),
      fresh: spread.map((payment) => ({ ...payment, id: createId(), createdAtMs: SYNTHETIC_NOW_MS })),
      keyHashes: (await rowsOf(`SELECT hash FROM api_keys ORDER BY hash LIMIT ${GROUP}`)) as string[],
      openBatchId: Number((await rowsOf('SELECT id FROM relay_batches WHERE outcome IS NULL'))[0]),
    };
  } finally {
    await store.close();
    await client.end();
  }
}
