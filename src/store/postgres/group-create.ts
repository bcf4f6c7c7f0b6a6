import type { Payment } from '../../domain/payment.ts';
import { SLOT_MS } from '../../domain/payment-statistics.ts';
import { bytesOfAddress, checksumAddressBytes } from '../../domain/payout-address.ts';
import {
  type CreateOutcome,
  IDEMPOTENCY_TTL_MS,
  type IdempotencyRecord,
} from '../../domain/ports/payment-store.ts';
import { paymentOfRow } from '../payments.ts';
import { PURGED_PER_RECORD } from '../store.ts';
import { StoreWriteError } from '../store-errors.ts';
import { paymentTable } from '../tables.ts';
import { createTickQueue, type Request } from '../tick-queue.ts';
import { type Connection, ConnectionLostError, type Database, isAway } from './open-database.ts';
import { allPaymentColumns, paymentColumns } from './scripts.ts';
import {
  arrayLiteral,
  arrayStatement,
  statement,
  type TypedColumn,
  unnest,
  valuesByColumn,
} from './statements.ts';

/** While two groups are being committed, the next one grows. One leaves the server idle between two commits. */
const MAXIMUM_GROUPS_UNDER_WAY = 2;
/** A key can be free and then taken again by another instance while we look; hardly ever twice. */
const MAXIMUM_TRIES = 5;

const CREATED: CreateOutcome = { kind: 'created' };
const RESERVED: CreateOutcome = { kind: 'reserved' };

/**
 * Payments that are created within one turn of the event loop share one statement and so one commit, which costs
 * many times a row. A payment that cannot be created fails alone.
 *
 * @param onError called when old idempotency records could not be deleted; no request fails with it
 */
export function createGroupCreate(database: Database, onError: (error: Error) => void) {
  const plain = createTickQueue<Payment>((group) => servePlain(database, group), MAXIMUM_GROUPS_UNDER_WAY);
  const keyed = createTickQueue<KeyedPayment>(async (group) => {
    await serveKeyed(database, group);
    await purge(database, group).catch(onError);
  }, MAXIMUM_GROUPS_UNDER_WAY);
  return {
    create: (payment: Payment, record: IdempotencyRecord | null): Promise<CreateOutcome> =>
      record === null ? plain.ask(payment) : keyed.ask({ payment, record }),
    /** Creates what is waiting; later calls reject. */
    close: async () => void (await Promise.all([plain.close(), keyed.close()])),
  };
}

type Insert<Work> = (connection: Connection, works: readonly Work[]) => Promise<Set<string>>;

/** The work of a request, by the id of its payment. */
type IdOf<Work> = (work: Work) => string;

/**
 * Inserts payments and returns the ids of those that are new. Where the connection breaks off meanwhile, they are inserted
 * again: an id is given once, so whatever is there then, of one attempt or the other, is new.
 */
async function insertOnce<Work>(
  database: Database,
  insert: Insert<Work>,
  idOf: IdOf<Work>,
  works: readonly Work[],
): Promise<Set<string>> {
  try {
    return await insert(database, works);
  } catch (error) {
    if (!(error instanceof ConnectionLostError) || !isAway(error)) throw error;
  }
  await insert(database.repeating, works);
  return idsOf(await database.repeating.query(selectIds, [works.map(idOf)]));
}

/**
 * Inserts a group and returns the ids of the payments that are new. When the group cannot be inserted as a whole,
 * each is inserted on its own, and those that still fail are rejected.
 */
async function insertGroup<Work>(
  insert: (works: readonly Work[]) => Promise<Set<string>>,
  group: readonly Request<Work>[],
): Promise<{ created: Set<string>; remaining: readonly Request<Work>[] }> {
  try {
    return { created: await insert(group.map(({ work }) => work)), remaining: group };
  } catch (error) {
    // Without a connection no row is to blame, and what was sent may even have been committed.
    if (error instanceof StoreWriteError) throw error;
  }
  const created = new Set<string>();
  const remaining: Request<Work>[] = [];
  for (const request of group) {
    try {
      for (const id of await insert([request.work])) created.add(id);
      remaining.push(request);
    } catch (error) {
      request.reject(error);
    }
  }
  return { created, remaining };
}

async function servePlain(database: Database, group: readonly Request<Payment>[]): Promise<void> {
  const { created, remaining } = await insertGroup(
    (payments) => insertOnce(database, insertPayments, ({ id }) => id, payments),
    group,
  );
  const left = remaining.filter(({ work: { id }, resolve }) => {
    // Each id once: if the same id was asked for twice, one of them is new.
    const isCreated = created.delete(id);
    if (isCreated) resolve(CREATED);
    return !isCreated;
  });
  for (const { work, reject } of await answerReserved(database, left, (payment) => payment))
    reject(new Error(`payment ${work.id} exists already, or there is no account ${work.accountId}`));
}

/** Answers those whose payout address is the deposit address of a payment; returns the others. */
async function answerReserved<Work>(
  { repeating }: Database,
  group: readonly Request<Work>[],
  paymentOf: (work: Work) => Payment,
): Promise<readonly Request<Work>[]> {
  if (group.length === 0) return [];
  const payoutOf = ({ work }: Request<Work>) => paymentOf(work).payoutAddress;
  const asked = arrayLiteral(group.map((request) => bytesOfAddress(payoutOf(request))));
  const rows = await repeating.query<{ address: Uint8Array }>(selectReserved, [asked]);
  const reserved = new Set(rows.map(({ address }) => checksumAddressBytes(address)));
  return group.filter((request) => {
    const isReserved = reserved.has(payoutOf(request));
    if (isReserved) request.resolve(RESERVED);
    return !isReserved;
  });
}

/** Duplicates in one group are resolved here, those of several groups and instances by the table's primary key. */
async function serveKeyed(database: Database, group: readonly Request<KeyedPayment>[]): Promise<void> {
  let undecided = group;
  for (let tries = 0; undecided.length > 0 && tries < MAXIMUM_TRIES; tries++) {
    const leaders = firstOfEachKey(undecided);
    const others = undecided.filter((request) => !leaders.includes(request));
    const { created, remaining } = await insertGroup(
      (works) => insertOnce(database, insertKeyedPayments, ({ payment }) => payment.id, works),
      leaders,
    );
    const replayed: Request<KeyedPayment>[] = [...others];
    for (const request of remaining) {
      if (created.delete(request.work.payment.id)) request.resolve(CREATED);
      else replayed.push(request);
    }
    const unanswered = await answerReplays(database, replayed);
    undecided = await answerReserved(database, unanswered, ({ payment }) => payment);
  }
  for (const { work, reject } of undecided) {
    reject(
      new Error(
        `payment ${work.payment.id} could not be created: there is no account ${work.record.accountId}`,
      ),
    );
  }
}

function firstOfEachKey(group: readonly Request<KeyedPayment>[]): readonly Request<KeyedPayment>[] {
  const leaders = new Map<string, Request<KeyedPayment>>();
  for (const request of group) {
    const { accountId, key } = request.work.record;
    const name = nameOf(accountId, key);
    if (!leaders.has(name)) leaders.set(name, request);
  }
  return [...leaders.values()];
}

/** Answers those whose key stands for a payment; returns the others, whose key has become free meanwhile. */
async function answerReplays(
  database: Database,
  group: readonly Request<KeyedPayment>[],
): Promise<readonly Request<KeyedPayment>[]> {
  if (group.length === 0) return [];
  const find = await findIdempotencyRecords(
    database.repeating,
    group.map(({ work }) => askedKeyOf(work)),
  );
  return group.filter(({ work, resolve }) => {
    const found = find(askedKeyOf(work));
    if (found !== null) resolve({ kind: 'replayed', ...found });
    return found === null;
  });
}

function askedKeyOf({ record }: KeyedPayment) {
  return { ...record, sinceMs: record.createdAtMs - IDEMPOTENCY_TTL_MS };
}

/** Deletes a few records that are too old, as many as keep up with the new ones. */
async function purge(database: Database, group: readonly Request<KeyedPayment>[]): Promise<void> {
  const newestMs = Math.max(...group.map(({ work }) => work.record.createdAtMs));
  await database.execute(purgeRecords, [newestMs - IDEMPOTENCY_TTL_MS, group.length * PURGED_PER_RECORD]);
}

/** A payment that is created at most once for its Idempotency-Key. */
interface KeyedPayment {
  readonly payment: Payment;
  readonly record: IdempotencyRecord;
}

/**
 * A subquery of each row on its own and no join, because a join may bring the rows into another order. It replaces
 * a foreign key, which would lock the account's row for every creation.
 */
const hasAccount = '(SELECT true FROM accounts WHERE accounts.id = given.account_id)';

/** What follows `created`, the inserted payments: rows of the same statement for searches and statistics; their ids. */
const queueCreated = `
  queued AS (INSERT INTO unindexed_payments (account_id, payment_id) SELECT account_id, id FROM created),
  counted AS (
    INSERT INTO uncounted_changes (account_id, currency, start_ms, created)
    SELECT account_id, currency, created_at_ms - created_at_ms % ${SLOT_MS} AS slot, count(*) FROM created
    GROUP BY account_id, currency, slot
  )
  SELECT id FROM created`;

/**
 * Decides it in the same statement: a merchant knows the deposit address of no payment that is not committed yet. A subquery
 * of each row as well, because a join may read all payments.
 */
const isUnreserved = `(SELECT true FROM payments
  WHERE deposit_address = decode(substr(given.payout_address, 3), 'hex')) IS NULL`;
const selectReserved = statement(
  'SELECT deposit_address AS address FROM payments WHERE deposit_address = ANY($1::bytea[])',
);

const selectIds = statement('SELECT id FROM payments WHERE id = ANY($1::text[])');

const insertPlain = statement(`
  WITH created AS (
    INSERT INTO payments (${paymentTable.names})
    SELECT ${paymentTable.names} FROM ${unnest('given', allPaymentColumns)}
    WHERE ${hasAccount} AND ${isUnreserved}
    ON CONFLICT DO NOTHING RETURNING id, account_id, currency, created_at_ms
  ), ${queueCreated}`);

const recordColumns: readonly TypedColumn[] = [
  ['idempotency_key', 'text'],
  ['fingerprint', 'text'],
  ['recorded_at_ms', 'bigint'],
];
const keyedColumns = [...allPaymentColumns, ...recordColumns];

/**
 * A create that finds the key taken waits for the other's commit, and takes it over only where it is older than 24 hours.
 * In the order of keys, so that two groups with the same keys wait for each other and never cross.
 */
const insertKeyed = statement(`
  WITH given AS MATERIALIZED (SELECT * FROM ${unnest('keyed', keyedColumns)}),
  claimed AS (
    INSERT INTO idempotency_records (account_id, key, fingerprint, payment_id, created_at_ms)
    SELECT account_id, idempotency_key, fingerprint, id, recorded_at_ms FROM given
    WHERE ${hasAccount} AND ${isUnreserved} ORDER BY account_id COLLATE "C", idempotency_key COLLATE "C"
    ON CONFLICT (account_id, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, payment_id = excluded.payment_id, created_at_ms = excluded.created_at_ms
    WHERE idempotency_records.created_at_ms <= excluded.created_at_ms - ${IDEMPOTENCY_TTL_MS}
    RETURNING payment_id
  ),
  created AS (
    INSERT INTO payments (${paymentTable.names})
    SELECT ${paymentTable.names} FROM given WHERE id IN (SELECT payment_id FROM claimed)
    ORDER BY id COLLATE "C" RETURNING id, account_id, currency, created_at_ms
  ), ${queueCreated}`);

/** Inserts payments in this order; returns the ids of those that are new and have an account. */
async function insertPayments(connection: Connection, payments: readonly Payment[]): Promise<Set<string>> {
  const values = valuesByColumn(allPaymentColumns, payments.map(paymentTable.valuesOf));
  return idsOf(await connection.query(insertPlain, values));
}

/**
 * Inserts the payments whose key is free, each key being given once; returns their ids. All of them or none.
 *
 * @throws when a payment's id exists already
 */
async function insertKeyedPayments(
  connection: Connection,
  keyed: readonly KeyedPayment[],
): Promise<Set<string>> {
  const rows = keyed.map(({ payment, record }) => [
    ...paymentTable.valuesOf(payment),
    record.key,
    record.fingerprint,
    record.createdAtMs,
  ]);
  return idsOf(await connection.query(insertKeyed, valuesByColumn(keyedColumns, rows)));
}

function idsOf(rows: readonly { readonly id: string }[]): Set<string> {
  return new Set(rows.map(({ id }) => id));
}

/** An Idempotency-Key of an account, of interest if it was used after `sinceMs`. */
export interface AskedKey extends Pick<IdempotencyRecord, 'accountId' | 'key'> {
  readonly sinceMs: number;
}

/** What a key stands for. */
export type FoundIdempotency = Omit<Extract<CreateOutcome, { kind: 'replayed' }>, 'kind'>;

const askedColumns: readonly TypedColumn[] = [
  ['account_id', 'text'],
  ['key', 'text'],
  ['since_ms', 'bigint'],
];
const selectRecords = arrayStatement(`
  SELECT ${paymentColumns}, fingerprint, key, idempotency_records.created_at_ms
  FROM (SELECT DISTINCT account_id, key FROM ${unnest('listed', askedColumns)}) AS asked
  JOIN idempotency_records USING (account_id, key)
  JOIN payments ON payments.id = idempotency_records.payment_id`);

/**
 * Rows that others write are left to their next turn, so that this never waits. By their place in the table: by
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

/** One text for account and key: a key may contain any character but this one. */
function nameOf(accountId: string, key: string): string {
  return `${accountId}\0${key}`;
}
