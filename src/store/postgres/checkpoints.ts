import type { BlockReference } from '../../domain/ports/ledger-store.ts';
import { isCursor } from '../ledger-rules.ts';
import { MAXIMUM_CHECKPOINTS } from '../store-limits.ts';
import type { Connection } from './open-database.ts';
import { statement } from './statement.ts';

/** The final blocks that were scanned up to; the newest is the cursor. */

const lock = statement('LOCK TABLE checkpoints IN EXCLUSIVE MODE');
const select = statement(
  'SELECT number, hash, timestamp_ms AS "timestampMs" FROM checkpoints ORDER BY number DESC LIMIT $1',
);
const selectHash = statement('SELECT hash FROM checkpoints WHERE number = $1');
const insert = statement('INSERT INTO checkpoints (number, hash, timestamp_ms) VALUES ($1, $2, $3)');
const prune = statement(`
  DELETE FROM checkpoints WHERE number <=
    (SELECT number FROM checkpoints ORDER BY number DESC LIMIT 1 OFFSET ${MAXIMUM_CHECKPOINTS})`);
const removeFrom = statement('DELETE FROM checkpoints WHERE number >= $1');

/** Makes whoever else writes to the ledger wait until the transaction ends; readers are not held up. */
export async function lockLedger(connection: Connection): Promise<void> {
  await connection.execute(lock);
}

/** Newest first. */
export function listCheckpoints(connection: Connection, limit: number): Promise<BlockReference[]> {
  return connection.query<BlockReference>(select, [limit]);
}

export async function newestCheckpoint(connection: Connection): Promise<BlockReference | null> {
  const [newest] = await listCheckpoints(connection, 1);
  return newest ?? null;
}

/** Null where there is no checkpoint. */
export async function checkpointHashAt(connection: Connection, blockNumber: number): Promise<string | null> {
  const [found] = await connection.query<{ hash: string }>(selectHash, [blockNumber]);
  return found?.hash ?? null;
}

/** Moves the cursor on, and forgets the oldest checkpoint when there are too many. With the ledger locked. */
export async function addCheckpoint(connection: Connection, block: BlockReference): Promise<void> {
  if (isCursor(await newestCheckpoint(connection), block)) return;
  await connection.execute(insert, [block.number, block.hash, block.timestampMs]);
  await connection.execute(prune);
}

/** Forgets every checkpoint above the block and makes it the cursor. With the ledger locked. */
export async function rewindCheckpoints(connection: Connection, block: BlockReference): Promise<void> {
  await connection.execute(removeFrom, [block.number]);
  await connection.execute(insert, [block.number, block.hash, block.timestampMs]);
}
