import type { DatabaseSync } from 'node:sqlite';
import type { BlockReference } from '../../domain/ports/ledger-store.ts';
import { isCursor } from '../ledger-rules.ts';
import { MAXIMUM_CHECKPOINTS } from '../store-limits.ts';

/** The final blocks that were scanned up to; the newest is the cursor. Synchronous, inside a read or transaction. */
export interface Checkpoints {
  newest(): BlockReference | null;
  /** Null where there is no checkpoint. */
  hashAt(blockNumber: number): string | null;
  /** Newest first. */
  list(limit: number): BlockReference[];
  /** Moves the cursor on, and forgets the oldest checkpoint when there are too many. */
  add(block: BlockReference): void;
  /** Forgets every checkpoint above the block and makes it the cursor. */
  rewindTo(block: BlockReference): void;
}

export function createCheckpoints(database: DatabaseSync): Checkpoints {
  const select = database.prepare(
    'SELECT number, hash, timestamp_ms AS "timestampMs" FROM checkpoints ORDER BY number DESC LIMIT ?',
  );
  const insert = database.prepare('INSERT INTO checkpoints (number, hash, timestamp_ms) VALUES (?, ?, ?)');
  const prune = database.prepare(
    `DELETE FROM checkpoints WHERE number <=
       (SELECT number FROM checkpoints ORDER BY number DESC LIMIT 1 OFFSET ${MAXIMUM_CHECKPOINTS})`,
  );
  const selectHash = database.prepare('SELECT hash FROM checkpoints WHERE number = ?');
  const removeFrom = database.prepare('DELETE FROM checkpoints WHERE number >= ?');

  function list(limit: number): BlockReference[] {
    return (select.all(limit) as unknown as BlockReference[]).map((row) => ({ ...row }));
  }

  function newest(): BlockReference | null {
    return list(1)[0] ?? null;
  }

  function put(block: BlockReference): void {
    insert.run(block.number, block.hash, block.timestampMs);
  }

  return {
    newest,
    hashAt: (blockNumber) => (selectHash.get(blockNumber)?.hash as string | undefined) ?? null,
    list,
    add(block) {
      if (isCursor(newest(), block)) return;
      put(block);
      prune.run();
    },
    rewindTo(block) {
      removeFrom.run(block.number);
      put(block);
    },
  };
}
