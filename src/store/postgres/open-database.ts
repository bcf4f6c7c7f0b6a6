import { setTimeout as delay } from 'node:timers/promises';
import { type Client, DatabaseError, Pool, type PoolClient, type PoolConfig, type QueryResult } from 'pg';
import { databaseUrls } from '../../platform/database-url.ts';
import { StoreClosedError, StoreWriteError } from '../store-errors.ts';
import { connectionOptions, DatabaseClient } from './connect.ts';
import { type Statement, statement } from './statements.ts';

/** Maximum attempts at a transaction that conflicts with others. */
const MAXIMUM_TRIES = 5;
/** Duration of an outage after which waiting calls fail. Until it ends, further calls fail immediately. */
const RESTART_MS = 10_000;
const RECONNECT_INTERVAL_MS = 100;
/** Maximum retries of a call after lost connections. */
const MAXIMUM_REPEATS = 3;
const beginStatement = statement('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
const commitStatement = statement('COMMIT');
const rollbackStatement = statement('ROLLBACK');

/** Connection of a transaction, or the whole pool. */
export interface Connection {
  query<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

export type Database = ReturnType<typeof openDatabase>;

/** Opens a pool. Calls `onError` when an idle connection breaks. `options` override connection options, for tests. */
export function openDatabase(
  url: string,
  connections: number,
  onError: (error: Error) => void = () => {},
  options: PoolConfig = {},
) {
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
  let running = 0;
  let closing: PromiseWithResolvers<void> | null = null;

  let awaySinceMs: number | null = null;
  let returning: Promise<void> | null = null;

  /** Waits until the database accepts connections again. All callers share the attempts. */
  function untilBack(reason: unknown): Promise<void> {
    awaySinceMs ??= performance.now();
    const failsAtMs = awaySinceMs + RESTART_MS;
    async function reconnect(): Promise<void> {
      for (;;) {
        if (performance.now() >= failsAtMs || closing !== null) throw reason;
        await delay(RECONNECT_INTERVAL_MS);
        try {
          (await connect(pool)).release();
          awaySinceMs = null;
          return;
        } catch (error) {
          if (!isAway(error)) throw error;
        }
      }
    }
    returning ??= reconnect().finally(() => {
      returning = null;
    });
    return returning;
  }

  /** Returns a connection. Waits while the database restarts. */
  async function acquire(): Promise<PoolClient> {
    for (;;) {
      try {
        const client = await connect(pool);
        awaySinceMs = null;
        return client;
      } catch (error) {
        if (!isAway(error)) throw error;
        await untilBack(error);
      }
    }
  }

  async function withConnection<T>(
    use: (connection: Connection) => Promise<T>,
    mayRepeat: () => boolean = () => false,
  ): Promise<T> {
    if (closing !== null) throw new StoreClosedError();
    running++;
    try {
      for (let repeats = 0; ; repeats++) {
        try {
          return await useClient(await acquire(), preparesStatements, use);
        } catch (error) {
          const isLost = error instanceof ConnectionLostError && isAway(error);
          if (!isLost || repeats === MAXIMUM_REPEATS || (error.wasSent && !mayRepeat())) throw error;
          await untilBack(error);
        }
      }
    } finally {
      running--;
      endIfIdle();
    }
  }

  function endIfIdle(): void {
    if (running === 0) closing?.resolve();
  }

  const queryIf = (mayRepeat?: () => boolean): Connection => ({
    query: (statement, values) =>
      withConnection((connection) => connection.query(statement, values), mayRepeat),
  });
  return {
    ...queryIf(),
    /** Runs reads and idempotent writes, and retries them after a lost connection. */
    repeating: queryIf(() => true),
    /** Runs `work` in a READ COMMITTED transaction. `work` must lock the rows that it depends on, and may run again. */
    async transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
      // Prevents a retry after a COMMIT was sent, because it may have taken effect without a response.
      let isCommitSent = false;
      const run = (connection: Connection) =>
        runTransaction(connection, work, () => {
          isCommitSent = true;
        });
      return withConnection(run, () => !isCommitSent);
    },
    countCalls: () => ({ running: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
    /** Resolves after all running calls. Later calls reject. Must be called only once. */
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
    throw new StoreWriteError('could not connect to the database', { cause: error });
  }
}

/** Error for a connection lost during a statement. A COMMIT or a single statement may have taken effect. */
export class ConnectionLostError extends StoreWriteError {
  /** Whether the statement may have reached the server. False if the driver found the connection broken beforehand. */
  readonly wasSent: boolean;

  constructor(cause: unknown) {
    // Compares the message, because the driver's timeout error has neither a class nor a code.
    const isUnanswered = cause instanceof Error && cause.message === 'Query read timeout';
    const unanswered =
      'the database did not answer a statement in time: a commit can wait for a missing synchronous standby';
    super(isUnanswered ? unanswered : 'the connection to the database was lost', { cause });
    this.wasSent = !(cause instanceof Error && cause.message.endsWith('is not queryable'));
  }
}

/** @param preparesStatements false behind a pooler that switches connections and thus loses prepared statements */
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
    });
  } finally {
    client.release(isLost);
  }
}

/** Replaces NUL, the only character that PostgreSQL cannot store in text. Normal clients never send this character. */
function withoutNul(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNul);
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}

async function runTransaction<T>(
  connection: Connection,
  work: (connection: Connection) => Promise<T>,
  onCommit: () => void,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    await connection.query(beginStatement);
    try {
      const value = await work(connection);
      onCommit();
      await connection.query(commitStatement);
      return value;
    } catch (error) {
      if (error instanceof ConnectionLostError) throw error;
      await connection.query(rollbackStatement);
      if (!isConflict(error) || tries === MAXIMUM_TRIES) throw error;
    }
  }
}

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
/** Codes with which the server ends a connection: shutdown, crash, startup, or an idle timeout. */
const FAREWELLS = ['57P01', '57P02', '57P03', '57P05', '25P03'];
/** Codes with which a standby refuses writes (25006) and writable transactions (0A000). */
const REFUSALS_OF_STANDBYS = ['25006', '0A000'];
const connectionLosses = new Set([...FAREWELLS, ...REFUSALS_OF_STANDBYS]);
const CONNECTION_EXCEPTION = '08';

/** Returns whether a transaction failed only because of concurrent ones, so that a retry makes sense. */
function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** Returns whether the connection is unusable after this error. Other errors of PostgreSQL leave it usable. */
function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error);
  return code === null || connectionLosses.has(code) || code.startsWith(CONNECTION_EXCEPTION);
}

/** Returns whether the database is temporarily away. A timeout does not count, because the call has already waited. */
export function isAway(error: unknown): boolean {
  const cause = error instanceof StoreWriteError ? error.cause : error;
  return isConnectionLoss(cause) && !(cause instanceof Error && /timeout/i.test(cause.message));
}

/** Returns the SQLSTATE of an error from PostgreSQL; null for other errors. */
function codeOf(error: unknown): string | null {
  return error instanceof DatabaseError ? (error.code ?? null) : null;
}
