import type { TakeSharedCall } from '../../providers/outgoing-limiter.ts';
import { createTickQueue, type Request } from '../tick-queue.ts';
import type { Database } from './open-database.ts';
import { statement, type TypedColumn, unnest, valuesByColumn } from './statements.ts';

const WINDOW_MS = 60_000;
/** Minimum time between deletions of ended windows. */
const PURGE_INTERVAL_MS = 1_000;
/** Maximum windows per deletion. */
const MAXIMUM_PURGED = 10_000;

const takenColumns: readonly TypedColumn[] = [
  ['kind', 'text'],
  ['key', 'text'],
  ['requests', 'integer'],
];
/** Counts requests, including refused ones, in fixed windows. Sorts rows, so that two instances cannot deadlock. */
const countRequests = statement(`
  INSERT INTO rate_windows AS present (kind, key, requests, ends_at)
  SELECT kind, key, requests, clock_timestamp() + interval '${WINDOW_MS} milliseconds'
  FROM ${unnest('taken', takenColumns)} ORDER BY kind COLLATE "C", key COLLATE "C"
  ON CONFLICT (kind, key) DO UPDATE SET
    requests = excluded.requests + CASE WHEN present.ends_at > clock_timestamp() THEN present.requests ELSE 0 END,
    ends_at = CASE WHEN present.ends_at > clock_timestamp() THEN present.ends_at ELSE excluded.ends_at END
  RETURNING key, requests, extract(epoch FROM ends_at - clock_timestamp())::double precision * 1000 AS "remainingMs"`);
/** Takes a call from a budget that refills steadily; returns no row if it is empty. A full budget needs no row. */
const takeCall = statement(`
  INSERT INTO rate_windows AS present (kind, key, requests, ends_at)
  VALUES ('provider calls', $1, 1, clock_timestamp() + $2::double precision * interval '1 millisecond')
  ON CONFLICT (kind, key) DO UPDATE SET
    ends_at = greatest(present.ends_at, clock_timestamp()) + $2::double precision * interval '1 millisecond'
  WHERE present.ends_at <= clock_timestamp() + $3::double precision * interval '1 millisecond'
  RETURNING key`);
/** Deletes ended windows, except locked ones in which another process counts. Uses `ctid` to avoid a table scan. */
const purgeWindows = statement(`
  DELETE FROM rate_windows WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM rate_windows WHERE ends_at <= clock_timestamp()
    ORDER BY ends_at LIMIT $1 FOR UPDATE SKIP LOCKED))`);

interface WindowRow {
  readonly key: string;
  /** Number of requests in the window, including those of this statement. */
  readonly requests: number;
  readonly remainingMs: number;
}

/**
 * Creates a rate limiter of one kind for all instances, by the server's clock. While a statement runs, new requests
 * wait for the next one and share it, so that even a flood runs only one statement at a time.
 *
 * @param onError called when ended windows could not be deleted; requests do not fail
 */
export function createSharedRateLimiter(
  database: Database,
  kind: string,
  requestsPerMinute: number,
  onError: (error: Error) => void,
) {
  let nextPurgeMs = 0;

  async function serve(group: readonly Request<string>[]): Promise<void> {
    const askers = Map.groupBy(group, ({ work: key }) => key);
    const taken = [...askers].map(([key, requests]) => [kind, key, requests.length]);
    // A retry may count requests twice, which is stricter for a minute, but better than an error.
    const rows = await database.repeating.query<WindowRow>(
      countRequests,
      valuesByColumn(takenColumns, taken),
    );
    for (const { key, requests, remainingMs } of rows) {
      const asking = askers.get(key) as readonly Request<string>[];
      const before = requests - asking.length;
      // Rounds up, so that the window has ended when the caller retries.
      const waitSeconds = Math.max(1, Math.ceil(remainingMs / 1000));
      for (const [index, { resolve }] of asking.entries()) {
        resolve(before + index < requestsPerMinute ? 0 : waitSeconds);
      }
    }
    await purge().catch(onError);
  }

  async function purge(): Promise<void> {
    if (performance.now() < nextPurgeMs) return;
    nextPurgeMs = performance.now() + PURGE_INTERVAL_MS;
    await database.query(purgeWindows, [MAXIMUM_PURGED]);
  }

  const queue = createTickQueue(serve);
  return {
    limiter: { take: (key: string) => queue.ask<number>(key) },
    close: () => queue.close(),
  };
}

/** Limits calls to providers across all instances. Each call costs a round trip to the database. */
export function createProviderCalls(database: Database): TakeSharedCall {
  return async (provider, { intervalMs, spareMs }) =>
    (await database.query(takeCall, [provider, intervalMs, spareMs])).length === 1;
}
