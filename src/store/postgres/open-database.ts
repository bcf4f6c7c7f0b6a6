import { type Client, DatabaseError, Pool, type PoolClient, type PoolConfig, type QueryResult } from 'pg';
import { databaseUrls } from '../../platform/database-url.ts';
import { StoreClosedError, StoreOverloadedError, StoreWriteError } from '../store-errors.ts';
import { connectionOptions, DatabaseClient } from './connect.ts';
import { type Statement, statement } from './statements.ts';

/** The most that may wait for a connection. */
const MAXIMUM_WAITING = 20_000;
/** How often a transaction that met another one is tried again. */
const MAXIMUM_TRIES = 5;
const beginStatement = statement('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
const commitStatement = statement('COMMIT');
const rollbackStatement = statement('ROLLBACK');

/** Something that runs statements: a connection in a transaction, or any connection outside of one. */
export interface Connection {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /** The number of rows that the statement wrote. */
  execute(statement: Statement, values?: readonly unknown[]): Promise<number>;
}

export interface Database extends Connection {
  /**
   * Runs `work` in a transaction (READ COMMITTED: it locks what it depends on). It may run again when it meets
   * another transaction, so what it does besides must bear that.
   */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  /** Resolves once all that was asked for is done; what is asked later rejects. To be called once. */
  close(): Promise<void>;
}

/**
 * @param onError called when an idle connection breaks; the next one is made when it is needed
 * @param options in place of those of every connection, for tests
 */
export function openDatabase(
  url: string,
  connections: number,
  onError: (error: Error) => void = () => {},
  options: PoolConfig = {},
): Database {
  const [first = ''] = databaseUrls(url);
  const preparesStatements = new URL(first).searchParams.get('prepared_statements') !== 'false';
  const pool = new Pool({
    ...connectionOptions(url),
    ...options,
    Client: DatabaseClient as typeof Client,
    max: connections,
    idleTimeoutMillis: 60_000,
  });
  pool.on('error', onError);
  // A connection that breaks between two statements of a transaction says so here; the next statement fails.
  pool.on('connect', (client) => client.on('error', () => {}));
  let running = 0;
  let closing: PromiseWithResolvers<void> | null = null;

  async function withConnection<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    if (closing !== null) throw new StoreClosedError();
    if (pool.waitingCount >= MAXIMUM_WAITING) throw new StoreOverloadedError(pool.waitingCount);
    running++;
    try {
      return await useClient(await connect(pool), preparesStatements, use);
    } finally {
      running--;
      endIfIdle();
    }
  }

  function endIfIdle(): void {
    if (running === 0) closing?.resolve();
  }

  return {
    query: (statement, values) => withConnection((connection) => connection.query(statement, values)),
    execute: (statement, values) => withConnection((connection) => connection.execute(statement, values)),
    transaction: (work) => withConnection((connection) => runTransaction(connection, work)),
    async close() {
      closing = Promise.withResolvers<void>();
      endIfIdle();
      await closing.promise;
      await pool.end();
    },
  };
}

async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw new StoreWriteError('no connection to the database could be had', { cause: error });
  }
}

/** The connection broke off in a statement, which may have taken effect if it was a COMMIT. */
class ConnectionLostError extends StoreWriteError {
  constructor(cause: unknown) {
    // The driver has no class and no code for giving up waiting.
    const isUnanswered = cause instanceof Error && cause.message === 'Query read timeout';
    const unanswered =
      'the database did not answer a statement in time: a commit can wait for a missing synchronous standby';
    super(isUnanswered ? unanswered : 'the connection to the database was lost', { cause });
  }
}

/** @param preparesStatements false where a pooler gives each transaction another connection: these know no names */
async function useClient<T>(
  client: PoolClient,
  preparesStatements: boolean,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  let isLost = false;
  async function run(statement: Statement, values: readonly unknown[] = []): Promise<QueryResult> {
    const name = preparesStatements ? statement.name : undefined;
    try {
      return await client.query({ ...statement, name, values: values.map(withoutNul) });
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      isLost = true;
      throw new ConnectionLostError(error);
    }
  }
  try {
    return await use({
      query: async <Row>(statement: Statement, values?: readonly unknown[]) =>
        (await run(statement, values)).rows as Row[],
      execute: async (statement, values) => (await run(statement, values)).rowCount ?? 0,
    });
  } finally {
    client.release(isLost);
  }
}

/** PostgreSQL takes every character in a text but this one, which only a stranger or a broken host sends. */
function withoutNul(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}

async function runTransaction<T>(
  connection: Connection,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    await connection.execute(beginStatement);
    try {
      const value = await work(connection);
      await connection.execute(commitStatement);
      return value;
    } catch (error) {
      if (error instanceof ConnectionLostError) throw error;
      await connection.execute(rollbackStatement);
      if (!isConflict(error) || tries === MAXIMUM_TRIES) throw error;
    }
  }
}

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
/** The server ends the connection: shutdown, crash, not ready yet; or a transaction was idle for too long. */
const FAREWELLS = ['57P01', '57P02', '57P03', '57P05', '25P03'];
/** It is a standby: a write is refused (25006), and so is a transaction that could write (0A000). */
const REFUSALS_OF_STANDBYS = ['25006', '0A000'];
const connectionLosses = new Set([...FAREWELLS, ...REFUSALS_OF_STANDBYS]);
const CONNECTION_EXCEPTION = '08';

/** Whether the transaction was undone only because it met another one: the same again makes sense. */
function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** Whether a failed statement's connection is of no use any more: PostgreSQL's other objections leave it usable. */
function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error);
  return code === null || connectionLosses.has(code) || code.startsWith(CONNECTION_EXCEPTION);
}

/** The SQLSTATE of what PostgreSQL said; null for an error that came from anywhere else. */
function codeOf(error: unknown): string | null {
  return error instanceof DatabaseError ? (error.code ?? null) : null;
}
