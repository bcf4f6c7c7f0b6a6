import type { DatabaseSync } from 'node:sqlite';
import { movementsOf, takenBack } from '../../domain/movement.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type {
  BlockReference,
  FoundOnChain,
  LedgerStore,
  ScanRecord,
} from '../../domain/ports/ledger-store.ts';
import type { Decide } from '../../domain/ports/payment-store.ts';
import {
  checkScan,
  EXPIRY_FRONTIER,
  finalRows,
  NO_FINAL_BLOCK,
  requireCheckpoint,
  requireCursor,
  requireFinal,
  stopBeforeRevisited,
} from '../ledger-rules.ts';
import { checkListLimit } from '../store-limits.ts';
import { type Checkpoints, createCheckpoints } from './checkpoints.ts';
import type { GroupCommit } from './group-commit.ts';
import type { GroupRead } from './group-read.ts';
import { createLedgerRows, type LedgerRows } from './ledger-rows.ts';
import { createMovementBook, type MovementBook } from './movements.ts';
import type { PaymentDecider } from './payment-decider.ts';

/** What the operations work on, within a transaction. */
interface LedgerTables {
  readonly checkpoints: Checkpoints;
  readonly rows: LedgerRows;
  readonly movements: MovementBook;
  readonly decider: PaymentDecider;
}

export function createLedgerStore(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
  decider: PaymentDecider,
  nowMs: () => number,
): LedgerStore {
  const checkpoints = createCheckpoints(database);
  const movements = createMovementBook(database, nowMs);
  const tables: LedgerTables = { checkpoints, rows: createLedgerRows(database), movements, decider };
  const selectFrontier = database.prepare('SELECT payment_id FROM frontiers WHERE name = ?');
  const moveFrontier = database.prepare(
    `INSERT INTO frontiers (name, payment_id) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET payment_id = excluded.payment_id WHERE payment_id = ?`,
  );

  return {
    readCursor: () => reads.run(() => checkpoints.newest()),
    startCursor: (block) =>
      writes.runStatement(() => {
        if (checkpoints.newest() === null) checkpoints.add(block);
      }),
    recordScan: (scan, decide) => writes.runTransaction(() => recordScan(tables, scan, decide)),
    listMissing: (found) =>
      reads.run(() => ({ ...tables.rows.missing(found), ...missingRescues(tables.movements, found) })),
    recordMissed: (missed, decide) => writes.runTransaction(() => recordMissed(tables, missed, decide)),
    listCheckpoints: (limit) =>
      reads.run(() => {
        checkListLimit(limit);
        return checkpoints.list(limit);
      }),
    rewindTo: (block, decide) => writes.runTransaction(() => rewindTo(tables, block, decide)),
    listMovements: (after, limit) =>
      reads.run(() => {
        checkListLimit(limit);
        return movements.list(after, limit);
      }),
    listMovementsOf: (id) => reads.run(() => movements.listOf(id)),
    readExpiryFrontier: () =>
      reads.run(() => (selectFrontier.get(EXPIRY_FRONTIER)?.payment_id as string | undefined) ?? ''),
    advanceExpiryFrontier: (ids, frontier, decide) =>
      writes.runTransaction(() => {
        const stop = stopBeforeRevisited(frontier.to, decide);
        decideAll(decider, new Set(ids), stop.decide);
        moveFrontier.run(EXPIRY_FRONTIER, stop.reached(), frontier.from);
      }),
  };
}

function recordScan(
  { checkpoints, rows, movements, decider }: LedgerTables,
  scan: ScanRecord,
  decide: Decide,
): void {
  checkScan(scan);
  requireCursor(checkpoints.newest(), scan.from);
  const affected = rows.paymentsAbove(scan.from.number);
  rows.removeRange(scan.from.number, scan.scannedTo);
  rows.removeMoved(scan, scan.from.number);
  const found = finalRows({ ...scan, ...rows.add(scan) }, scan.final.number);
  movements.append(movements.fresh(movementsOf(found)));
  for (const row of [...scan.deposits, ...scan.releases]) affected.add(row.paymentId);
  checkpoints.add(scan.final);
  decideAll(decider, affected, decide);
}

function recordMissed(
  { checkpoints, rows, movements, decider }: LedgerTables,
  missed: FoundOnChain & Pick<ScanRecord, 'from'>,
  decide: Decide,
): { added: number } {
  requireCheckpoint(checkpoints.hashAt(missed.from.number), missed.from);
  const finalNumber = checkpoints.newest()?.number ?? NO_FINAL_BLOCK;
  requireFinal(missed, finalNumber);
  const moved = rows.removeMoved(missed, finalNumber);
  const found = rows.add(missed);
  const entered = movements.fresh(movementsOf({ ...missed, ...found }));
  movements.append(entered);
  const added = [...found.deposits, ...found.releases].map(({ paymentId }) => paymentId);
  decideAll(decider, new Set([...moved, ...added]), decide);
  return { added: added.length + entered.filter(({ kind }) => kind === 'rescued').length };
}

/** Rescues stand in the book alone. */
function missingRescues(
  movements: MovementBook,
  { rescues = [] }: FoundOnChain,
): Pick<FoundOnChain, 'rescues'> {
  const isFresh = (rescue: (typeof rescues)[number]) =>
    movements.fresh(movementsOf({ deposits: [], releases: [], rescues: [rescue] })).length > 0;
  return { rescues: rescues.filter(isFresh) };
}

function rewindTo(
  { checkpoints, rows, movements, decider }: LedgerTables,
  block: BlockReference,
  decide: Decide,
): void {
  const lost = rows.readRange(block.number, checkpoints.newest()?.number ?? NO_FINAL_BLOCK);
  movements.append(takenBack([...movementsOf(lost), ...movements.rescuedAbove(block.number)]));
  const affected = rows.paymentsAbove(block.number);
  rows.removeRange(block.number, Number.MAX_SAFE_INTEGER);
  checkpoints.rewindTo(block);
  decideAll(decider, affected, decide);
}

function decideAll(decider: PaymentDecider, ids: Iterable<PaymentId>, decide: Decide): void {
  for (const id of [...ids].sort()) {
    if (decider.decide(id, decide) === null) throw new Error(`there is no payment ${id} to decide`);
  }
}
