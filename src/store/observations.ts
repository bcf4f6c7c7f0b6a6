import { entriesOf, takenBack } from '../domain/journal.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { Decide } from '../domain/ports/payment-store.ts';
import type {
  BlockReference,
  FoundOnChain,
  ObservationStore,
  ScanRecord,
  SettlementStore,
} from '../domain/ports/settlement-store.ts';
import { appendEntries, listEntries, listEntriesOf, newEntries, rescuedAbove } from './journal.ts';
import {
  addRows,
  missingRows,
  paymentsAbove,
  readRange,
  removeMoved,
  removeRange,
} from './observation-rows.ts';
import {
  checkScan,
  EXPIRY_WATERMARK,
  finalRows,
  isCursor,
  NO_FINAL_BLOCK,
  requireCheckpoint,
  requireCursor,
  requireFinal,
  stopBeforeRevisited,
} from './observation-rules.ts';
import {
  decideAll,
  insert,
  lock,
  run,
  runForOne,
  type Script,
  type Scripts,
  select,
  selectOne,
} from './scripts.ts';
import { checkListLimit, MAXIMUM_CHECKPOINTS } from './store.ts';
import { checkpointTable, settlementTable } from './tables.ts';

/** Observations of the chain and the journal, on any engine. */
export function createObservationStore(scripts: Scripts, nowMs: () => number): ObservationStore {
  /** Writers come one after the other, whichever instance they are of. */
  function write<T>(script: () => Script<T>): Promise<T> {
    return scripts.write(function* () {
      yield* lock('observations');
      return yield* script();
    });
  }

  return {
    readCursor: () => scripts.read(newestCheckpoint),
    startCursor: (block) =>
      write(function* () {
        if ((yield* newestCheckpoint()) === null) yield* addCheckpoint(block);
      }),
    recordScan: (scan, decide) => write(() => recordScan(scan, decide, nowMs())),
    listMissing: (found) =>
      scripts.read(function* () {
        return { ...(yield* missingRows(found)), rescues: yield* missingRescues(found) };
      }),
    recordMissed: (missed, decide) => write(() => recordMissed(missed, decide, nowMs())),
    async listCheckpoints(limit) {
      checkListLimit(limit);
      return scripts.read(() => select(checkpointTable, 'ORDER BY number DESC LIMIT ?1', limit));
    },
    rewindTo: (block, decide) => write(() => rewindTo(block, decide, nowMs())),
    async listEntries(after, limit) {
      checkListLimit(limit);
      return scripts.read(() => listEntries(after, limit));
    },
    listEntriesOf: (id) => scripts.read(() => listEntriesOf(id)),
    async readExpiryWatermark() {
      const sql = 'SELECT payment_id AS id FROM watermarks WHERE name = ?1';
      const watermark = await scripts.read(() => runForOne<{ id: string }>(sql, EXPIRY_WATERMARK));
      return watermark?.id ?? '';
    },
    advanceExpiryWatermark: (ids, watermark, decide) =>
      scripts.write(() => advanceExpiryWatermark(ids, watermark, decide)),
  };
}

function* recordScan(scan: ScanRecord, decide: Decide, nowMs: number): Script<void> {
  checkScan(scan);
  requireCursor(yield* newestCheckpoint(), scan.from);
  const before = yield* paymentsAbove(scan.from.number);
  yield* removeRange(scan.from.number, scan.scannedTo);
  yield* removeMoved(scan, scan.from.number);
  const found = finalRows({ ...scan, ...(yield* addRows(scan)) }, scan.final.number);
  yield* appendEntries(yield* newEntries(entriesOf(found)), nowMs);
  yield* addCheckpoint(scan.final);
  yield* decideAll([...before, ...paymentsOf(scan)], decide);
}

function paymentsOf({ deposits, releases }: Pick<ScanRecord, 'deposits' | 'releases'>): PaymentId[] {
  return [...deposits, ...releases].map(({ paymentId }) => paymentId);
}

function* recordMissed(
  missed: FoundOnChain & Pick<ScanRecord, 'from'>,
  decide: Decide,
  nowMs: number,
): Script<{ added: number }> {
  const { from } = missed;
  const checkpoint = yield* selectOne(checkpointTable, 'WHERE number = ?1', from.number);
  requireCheckpoint(checkpoint?.hash ?? null, from);
  const finalNumber = yield* newestFinalNumber();
  requireFinal(missed, finalNumber);
  const moved = yield* removeMoved(missed, finalNumber);
  const found = yield* addRows(missed);
  const entered = yield* newEntries(entriesOf({ ...missed, ...found }));
  yield* appendEntries(entered, nowMs);
  const added = paymentsOf(found);
  yield* decideAll([...moved, ...added], decide);
  return { added: added.length + entered.filter(({ kind }) => kind === 'rescued').length };
}

/** Rescues stand in the journal alone. */
function* missingRescues({ rescues = [] }: FoundOnChain): Script<NonNullable<FoundOnChain['rescues']>> {
  const missing: (typeof rescues)[number][] = [];
  for (const rescue of rescues) {
    const entries = entriesOf({ deposits: [], releases: [], rescues: [rescue] });
    if ((yield* newEntries(entries)).length > 0) missing.push(rescue);
  }
  return missing;
}

function* rewindTo(block: BlockReference, decide: Decide, nowMs: number): Script<void> {
  const lost = yield* readRange(block.number, yield* newestFinalNumber());
  yield* appendEntries(takenBack([...entriesOf(lost), ...(yield* rescuedAbove(block.number))]), nowMs);
  const affected = yield* paymentsAbove(block.number);
  yield* removeRange(block.number, Number.MAX_SAFE_INTEGER);
  yield* run('DELETE FROM checkpoints WHERE number >= ?1', block.number);
  yield* insert(checkpointTable, block);
  yield* decideAll(affected, decide);
}

function* advanceExpiryWatermark(
  ids: readonly PaymentId[],
  { from, to }: { readonly from: string; readonly to: string },
  decide: Decide,
): Script<void> {
  const stop = stopBeforeRevisited(to, decide);
  yield* decideAll(ids, stop.decide);
  yield* run(
    `INSERT INTO watermarks AS present (name, payment_id) VALUES (?1, ?2)
     ON CONFLICT (name) DO UPDATE SET payment_id = excluded.payment_id WHERE present.payment_id = ?3`,
    EXPIRY_WATERMARK,
    stop.reached(),
    from,
  );
}

/** The cursor: the newest of the final blocks that were scanned up to. */
function newestCheckpoint(): Script<BlockReference | null> {
  return selectOne(checkpointTable, 'ORDER BY number DESC LIMIT 1');
}

function* newestFinalNumber(): Script<number> {
  return (yield* newestCheckpoint())?.number ?? NO_FINAL_BLOCK;
}

/** Moves the cursor on, and forgets the oldest checkpoint when there are too many. */
function* addCheckpoint(block: BlockReference): Script<void> {
  if (isCursor(yield* newestCheckpoint(), block)) return;
  yield* insert(checkpointTable, block);
  yield* run(
    `DELETE FROM checkpoints WHERE number <=
       (SELECT number FROM checkpoints ORDER BY number DESC LIMIT 1 OFFSET ${MAXIMUM_CHECKPOINTS})`,
  );
}

/** The settlements a service was started with, on any engine. They are a handful, so each call reads them anew. */
export function createSettlementStore(scripts: Scripts): SettlementStore {
  const moveToFront = `ON CONFLICT (chain_id, factory, fee_wallet)
    DO UPDATE SET last_started_at_ms = excluded.last_started_at_ms`;
  return {
    async rememberSettlement(settlement) {
      await scripts.write(() => insert(settlementTable, settlement, moveToFront));
    },
    listSettlements: () => scripts.read(() => select(settlementTable, 'ORDER BY last_started_at_ms DESC')),
  };
}
