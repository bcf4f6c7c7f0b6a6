import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deserialize } from 'node:v8';
import { Pool, type PoolClient } from 'pg';
import { createPaymentIdGenerator } from '../../../src/payment/payment-id.ts';
import type { BenchServer } from './bench-server.ts';
import { answer, answerLikeTheApi, listen, readJson } from './raw-servers.ts';
import {
  kindOf,
  type LearnedStatement,
  learnCreates,
  type RecordedCreate,
  type Value,
} from './recorded-creates.ts';

/** Writes of one create, under a new id. */
interface Create {
  readonly paymentId: string;
  readonly statements: readonly LearnedStatement[];
}

/** Resolves when the create is durable. */
type Write = (create: Create) => Promise<void>;

/**
 * What a durable create can cost at best on plain `node:http`: read JSON, write what the service writes, answer JSON. No
 * key, limit, rule, cryptography, log or metric. `folder` has what a service wrote for a few creates, and for SQLite its
 * database, so that rows, tables and indexes are the service's own, whatever its schema.
 */
export async function startCeiling(folder: string, databaseUrl: string | null): Promise<BenchServer> {
  const recorded = deserialize(readFileSync(join(folder, 'recorded'))) as RecordedCreate[];
  const learned = learnCreates(recorded);
  const databaseFile = databaseUrl === null ? join(folder, 'card-checkout.sqlite') : null;
  // Creates share a statement wherever the service's INSERT takes a list of rows.
  const isGrouped = [...learned.values()]
    .flat(2)
    .some(({ sql }) => sql.includes('INSERT INTO payments') && takesList(sql, 0));
  const { write, close } =
    databaseUrl === null ? openSqlite(databaseFile as string) : openPostgres(databaseUrl, isGrouped);
  const newPaymentId = createPaymentIdGenerator(Date.now);
  let position = 0;
  return listen(
    (request, response) => {
      readJson(request, (body) => {
        const kind = kindOf({
          hasNote: body.note !== undefined,
          hasKey: request.headers['idempotency-key'] !== undefined,
        });
        const creates = learned.get(kind) as readonly (readonly LearnedStatement[])[];
        const paymentId = newPaymentId();
        const statements = creates[position++ % creates.length] as readonly LearnedStatement[];
        write({ paymentId, statements }).then(
          () => answer(response, JSON.stringify(answerLikeTheApi(body, paymentId))),
          (error) => {
            console.error(String(error));
            response.writeHead(500).end();
          },
        );
      });
    },
    databaseFile,
    close,
  );
}

/** Groups the requests of one turn of the event loop, with a limit on concurrent groups. */
function createGroups(
  serve: (group: readonly Create[]) => void | Promise<void>,
  maximumUnderWay: number,
): Write {
  let waiting: { readonly create: Create; readonly done: PromiseWithResolvers<void> }[] = [];
  let underWay = 0;
  let isScheduled = false;
  const schedule = () => {
    if (isScheduled || waiting.length === 0 || underWay === maximumUnderWay) return;
    isScheduled = true;
    setImmediate(async () => {
      isScheduled = false;
      const group = waiting;
      waiting = [];
      underWay++;
      try {
        await serve(group.map(({ create }) => create));
        for (const { done } of group) done.resolve();
      } catch (error) {
        for (const { done } of group) done.reject(error);
      }
      underWay--;
      schedule();
    });
  };
  return (create) => {
    const done = Promise.withResolvers<void>();
    waiting.push({ create, done });
    schedule();
    return done.promise;
  };
}

function openSqlite(file: string) {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: true });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384');
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  const prepare = remember((sql) => database.prepare(sql));
  const write = createGroups((group) => {
    begin.run();
    for (const { paymentId, statements } of group) {
      for (const { sql, valuesFor } of statements) {
        prepare(sql).run(...(valuesFor(paymentId) as (string | number | null | Uint8Array)[]));
      }
    }
    commit.run();
  }, 1);
  return { write, close: async () => database.close() };
}

/** More groups would only be smaller. */
const MAXIMUM_GROUPS_UNDER_WAY = 4;
const MAXIMUM_CONNECTIONS = 10;

function openPostgres(connectionString: string, isGrouped: boolean) {
  const pool = new Pool({ connectionString, max: MAXIMUM_CONNECTIONS });
  const nameOf = remember((text) => hash('sha1', text));
  const send = async (client: PoolClient, text: string, values: readonly Value[]) => {
    await client.query({ name: nameOf(text), text, values: values as unknown[] });
  };
  const onClient = async (work: (client: PoolClient) => Promise<void>) => {
    const client = await pool.connect();
    try {
      await work(client);
    } finally {
      client.release();
    }
  };
  const alone: Write = ({ paymentId, statements }) =>
    onClient(async (client) => {
      for (const { sql, valuesFor } of statements) await send(client, sql, valuesFor(paymentId));
    });
  const together = createGroups(
    (group) =>
      onClient(async (client) => {
        const rows = group.flatMap(({ paymentId, statements }) =>
          statements.map(({ sql, valuesFor }) => ({ sql, values: valuesFor(paymentId) })),
        );
        for (const [sql, alike] of Map.groupBy(rows, (row) => row.sql)) {
          const values = alike.map((row) => row.values);
          await send(client, sql, joined(sql, values));
        }
      }),
    MAXIMUM_GROUPS_UNDER_WAY,
  );
  return { write: isGrouped ? together : alone, close: () => pool.end() };
}

function remember<Result>(make: (sql: string) => Result): (sql: string) => Result {
  const made = new Map<string, Result>();
  return (sql) => {
    const result = made.get(sql) ?? make(sql);
    made.set(sql, result);
    return result;
  };
}

function takesList(sql: string, index: number): boolean {
  return new RegExp(`\\$${index + 1}::[a-z ]+\\[\\]`).test(sql);
}

/** One list per parameter with the values of all rows, without duplicates; other parameters as in the first. */
function joined(sql: string, rows: readonly (readonly Value[])[]): readonly Value[] {
  const first = rows[0] as readonly Value[];
  const unique = [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
  return first.map((value, index) => {
    if (!takesList(sql, index)) return value;
    const lists = unique.map((row) => row[index]);
    if (typeof value !== 'string') return lists.flat() as Value[];
    return `{${lists.map((list) => String(list).slice(1, -1)).join(',')}}`;
  });
}
