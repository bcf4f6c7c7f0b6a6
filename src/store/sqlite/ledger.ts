import type { DatabaseSync } from 'node:sqlite';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { BlockReference, LedgerStore, ScanRecord } from '../../domain/ports/ledger-store.ts';
import type { Decide } from '../../domain/ports/payment-store.ts';
import { LedgerConflictError } from '../store-errors.ts';
import { checkListLimit } from '../store-limits.ts';
import { createCheckpoints } from './checkpoints.ts';
import type { GroupCommit } from './group-commit.ts';
import type { GroupRead } from './group-read.ts';
import { createLedgerRows } from './ledger-rows.ts';
import type { PaymentDecider } from './payment-decider.ts';

const EXPIRY = 'expiry';

export function createLedgerStore(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
  decider: PaymentDecider,
): LedgerStore {
  const checkpoints = createCheckpoints(database);
  const ledgerRows = createLedgerRows(database);
  const selectFrontier = database.prepare('SELECT payment_id FROM frontiers WHERE name = ?');
  const upsertFrontier = database.prepare(
    `INSERT INTO frontiers (name, payment_id) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET payment_id = excluded.payment_id`,
  );

  function decideAll(ids: Iterable<PaymentId>, decide: Decide): void {
    for (const id of [...ids].sort()) {
      if (decider.decide(id, decide) === null) throw new Error(`there is no payment ${id} to decide`);
    }
  }

  function recordScan(scan: ScanRecord, decide: Decide): void {
    checkScan(scan);
    requireCursor(checkpoints.newest(), scan.from);
    const affected = ledgerRows.paymentsAbove(scan.from.number);
    ledgerRows.removeRange(scan.from.number, scan.scannedTo);
    ledgerRows.removeMoved(scan, scan.from.number);
    ledgerRows.add(scan);
    for (const row of [...scan.deposits, ...scan.releases]) affected.add(row.paymentId);
    checkpoints.add(scan.final);
    decideAll(affected, decide);
  }

  function recordMissed(rows: Pick<ScanRecord, 'deposits' | 'releases'>, decide: Decide): { added: number } {
    const cursor = checkpoints.newest();
    for (const { blockNumber } of [...rows.deposits, ...rows.releases]) {
      if (cursor === null || blockNumber > cursor.number) {
        throw new RangeError(`block ${blockNumber} is not among the final blocks that were scanned`);
      }
    }
    const moved = cursor === null ? [] : ledgerRows.removeMoved(rows, cursor.number);
    const added = ledgerRows.add(rows);
    decideAll(new Set([...moved, ...added]), decide);
    return { added: added.length };
  }

  return {
    readCursor: () => reads.run(() => checkpoints.newest()),
    async startCursor(block) {
      await writes.runStatement(() => {
        if (checkpoints.newest() === null) checkpoints.add(block);
      });
    },
    recordScan: (scan, decide) => writes.runTransaction(() => recordScan(scan, decide)),
    recordMissed: (rows, decide) => writes.runTransaction(() => recordMissed(rows, decide)),
    listCheckpoints: (limit) =>
      reads.run(() => {
        checkListLimit(limit);
        return checkpoints.list(limit);
      }),
    rewindTo: (block, decide) =>
      writes.runTransaction(() => {
        const affected = ledgerRows.paymentsAbove(block.number);
        ledgerRows.removeRange(block.number, Number.MAX_SAFE_INTEGER);
        checkpoints.rewindTo(block);
        decideAll(affected, decide);
      }),
    readExpiryFrontier: () =>
      reads.run(() => (selectFrontier.get(EXPIRY)?.payment_id as string | undefined) ?? ''),
    advanceExpiryFrontier: (ids, frontier, decide) =>
      writes.runTransaction(() => {
        decideAll(new Set(ids), decide);
        upsertFrontier.run(EXPIRY, frontier);
      }),
  };
}

function checkScan(scan: ScanRecord): void {
  const { from, final, scannedTo } = scan;
  if (final.number < from.number || scannedTo < final.number) {
    throw new RangeError(`a scan from ${from.number} to ${scannedTo} cannot be final up to ${final.number}`);
  }
  for (const { blockNumber } of [...scan.deposits, ...scan.releases]) {
    if (blockNumber <= from.number || blockNumber > scannedTo) {
      throw new RangeError(`block ${blockNumber} is outside the scan from ${from.number} to ${scannedTo}`);
    }
  }
}

function requireCursor(cursor: BlockReference | null, from: BlockReference): void {
  if (cursor?.number === from.number && cursor.hash === from.hash) return;
  const found = cursor === null ? 'not set' : `at block ${cursor.number} (${cursor.hash})`;
  throw new LedgerConflictError(
    `a scan began at block ${from.number} (${from.hash}), but the cursor is ${found}`,
  );
}
