import type { Payment } from '../../domain/payment.ts';
import {
  type CreateOutcome,
  IDEMPOTENCY_TTL_MS,
  type IdempotencyRecord,
} from '../../domain/ports/payment-store.ts';
import { StoreWriteError } from '../store-errors.ts';
import { findIdempotencyRecords, nameOf, purgeIdempotencyRecords } from './idempotency.ts';
import { insertKeyedPayments, insertPayments, type KeyedPayment } from './insert-payments.ts';
import type { Database } from './open-database.ts';
import { createTickQueue, type Request } from './tick-queue.ts';

/** While two groups are being committed, the next one grows. One leaves the server idle between two commits. */
const MAXIMUM_GROUPS_UNDER_WAY = 2;
/** A key can be free and then taken again by another instance while we look; hardly ever twice. */
const MAXIMUM_TRIES = 5;

const CREATED: CreateOutcome = { kind: 'created', row: null };

/**
 * Payments that are created within one turn of the event loop share one statement and so one commit, which costs
 * many times a row. A payment that cannot be created fails alone.
 */
export interface GroupCreate {
  create(payment: Payment, record: IdempotencyRecord | null): Promise<CreateOutcome>;
  /** Creates what is waiting; later calls reject. */
  close(): Promise<void>;
}

/** @param onError told when old idempotency records could not be deleted; no request fails with it */
export function createGroupCreate(database: Database, onError: (error: Error) => void): GroupCreate {
  const plain = createTickQueue<Payment>((group) => servePlain(database, group), MAXIMUM_GROUPS_UNDER_WAY);
  const keyed = createTickQueue<KeyedPayment>(async (group) => {
    await serveKeyed(database, group);
    await purge(database, group).catch(onError);
  }, MAXIMUM_GROUPS_UNDER_WAY);
  return {
    create: (payment, record) => (record === null ? plain.ask(payment) : keyed.ask({ payment, record })),
    close: async () => void (await Promise.all([plain.close(), keyed.close()])),
  };
}

type Insert<Work> = (works: readonly Work[]) => Promise<Set<string>>;

/**
 * Inserts a group and returns the ids of the payments that are new. When the group cannot be inserted as a whole,
 * each is inserted on its own, and those that still fail are rejected.
 */
async function insertGroup<Work>(
  insert: Insert<Work>,
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
  const { created, remaining } = await insertGroup((payments) => insertPayments(database, payments), group);
  for (const { work: payment, resolve, reject } of remaining) {
    // Each id once: if the same id was asked for twice, one of them is new.
    if (created.delete(payment.id)) resolve(CREATED);
    else
      reject(new Error(`payment ${payment.id} exists already, or there is no account ${payment.accountId}`));
  }
}

/** Twins of one group are told apart here, those of several groups and instances by the table's primary key. */
async function serveKeyed(database: Database, group: readonly Request<KeyedPayment>[]): Promise<void> {
  let undecided = group;
  for (let tries = 0; undecided.length > 0 && tries < MAXIMUM_TRIES; tries++) {
    const leaders = firstOfEachKey(undecided);
    const others = undecided.filter((request) => !leaders.includes(request));
    const { created, remaining } = await insertGroup(
      (works) => insertKeyedPayments(database, works),
      leaders,
    );
    const replayed: Request<KeyedPayment>[] = [...others];
    for (const request of remaining) {
      if (created.delete(request.work.payment.id)) request.resolve(CREATED);
      else replayed.push(request);
    }
    undecided = await answerReplays(database, replayed);
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
    database,
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

async function purge(database: Database, group: readonly Request<KeyedPayment>[]): Promise<void> {
  const newestMs = Math.max(...group.map(({ work }) => work.record.createdAtMs));
  await purgeIdempotencyRecords(database, newestMs - IDEMPOTENCY_TTL_MS, group.length);
}
