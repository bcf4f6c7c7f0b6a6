import { entriesOf, takenBack } from '../../domain/journal.ts';
import type { PaymentReference } from '../../domain/payment.ts';
import type { Decide } from '../../domain/ports/payment-store.ts';
import type {
  BlockReference,
  FoundOnChain,
  ObservationStore,
  ScanRecord,
} from '../../domain/ports/settlement-store.ts';
import {
  checkScan,
  EXPIRY_WATERMARK,
  finalRows,
  NO_FINAL_BLOCK,
  requireCheckpoint,
  requireCursor,
  requireFinal,
  stopBeforeRevisited,
} from '../observation-rules.ts';
import { checkListLimit } from '../store.ts';
import { findReferences } from './asked-payments.ts';
import { appendEntries, listEntries, listEntriesOf, newEntries, rescuedAbove } from './journal.ts';
import {
  addCheckpoint,
  addRows,
  checkpointHashAt,
  type FoundRows,
  listCheckpoints,
  lockObservations,
  missingRows,
  newestCheckpoint,
  paymentsAbove,
  readRange,
  removeMoved,
  removeRange,
  rewindCheckpoints,
} from './observation-rows.ts';
import type { Connection, Database } from './open-database.ts';
import type { PaymentDecider } from './payment-decider.ts';
import { statement } from './statements.ts';

const selectWatermark = statement('SELECT payment_id AS "paymentId" FROM watermarks WHERE name = $1');
const moveWatermark = statement(`
  INSERT INTO watermarks AS present (name, payment_id) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET payment_id = excluded.payment_id WHERE present.payment_id = $3`);

export function createObservationStore(
  database: Database,
  decider: PaymentDecider,
  nowMs: () => number,
): ObservationStore {
  /** Writers to the observations come one after the other, whichever instance they are of. */
  function write<T>(work: (observations: LockedObservations) => Promise<T>): Promise<T> {
    return database.transaction(async (connection) => {
      await lockObservations(connection);
      return work({ connection, decider, nowMs });
    });
  }

  return {
    readCursor: () => newestCheckpoint(database),
    startCursor: (block) =>
      write(async ({ connection }) => {
        if ((await newestCheckpoint(connection)) === null) await addCheckpoint(connection, block);
      }),
    recordScan: (scan, decide) => write((observations) => recordScan(observations, scan, decide)),
    listMissing: async (found) => ({
      ...(await missingRows(database, found)),
      ...(await missingRescues(database, found)),
    }),
    recordMissed: (missed, decide) => write((observations) => recordMissed(observations, missed, decide)),
    async listCheckpoints(limit) {
      checkListLimit(limit);
      return listCheckpoints(database, limit);
    },
    rewindTo: (block, decide) => write((observations) => rewindTo(observations, block, decide)),
    async listEntries(after, limit) {
      checkListLimit(limit);
      return listEntries(database, after, limit);
    },
    listEntriesOf: (id) => listEntriesOf(database, id),
    async readExpiryWatermark() {
      const [watermark] = await database.query<{ paymentId: string }>(selectWatermark, [EXPIRY_WATERMARK]);
      return watermark?.paymentId ?? '';
    },
    advanceExpiryWatermark: (ids, watermark, decide) =>
      database.transaction(async (connection) => {
        const payments = await findReferences(connection, ids);
        if (payments.length !== ids.length) throw new Error('a payment to expire does not exist');
        const stop = stopBeforeRevisited(watermark.to, decide);
        await decideAll({ connection, decider, nowMs }, payments, stop.decide);
        await connection.execute(moveWatermark, [EXPIRY_WATERMARK, stop.reached(), watermark.from]);
      }),
  };
}

/** A transaction that has locked the observations. */
interface LockedObservations {
  readonly connection: Connection;
  readonly decider: PaymentDecider;
  readonly nowMs: () => number;
}

async function recordScan(observations: LockedObservations, scan: ScanRecord, decide: Decide): Promise<void> {
  const { connection } = observations;
  checkScan(scan);
  requireCursor(await newestCheckpoint(connection), scan.from);
  const before = await paymentsAbove(connection, scan.from.number);
  await removeRange(connection, scan.from.number, scan.scannedTo);
  await removeMoved(connection, scan, scan.from.number);
  const found = finalRows({ ...scan, ...(await addRows(connection, scan)) }, scan.final.number);
  await appendEntries(connection, await newEntries(connection, entriesOf(found)), observations.nowMs());
  await addCheckpoint(connection, scan.final);
  await decideAll(observations, [...before, ...referencesOf(scan)], decide);
}

function referencesOf({ deposits, releases }: FoundRows): PaymentReference[] {
  return [...deposits, ...releases].map(({ paymentId: id, accountId }) => ({ id, accountId }));
}

async function recordMissed(
  observations: LockedObservations,
  missed: FoundOnChain & Pick<ScanRecord, 'from'>,
  decide: Decide,
): Promise<{ added: number }> {
  const { connection } = observations;
  requireCheckpoint(await checkpointHashAt(connection, missed.from.number), missed.from);
  const finalNumber = (await newestCheckpoint(connection))?.number ?? NO_FINAL_BLOCK;
  requireFinal(missed, finalNumber);
  const moved = await removeMoved(connection, missed, finalNumber);
  const found = await addRows(connection, missed);
  const entered = await newEntries(connection, entriesOf({ ...missed, ...found }));
  await appendEntries(connection, entered, observations.nowMs());
  const added = referencesOf(found);
  await decideAll(observations, [...moved, ...added], decide);
  return { added: added.length + entered.filter(({ kind }) => kind === 'rescued').length };
}

/** Rescues stand in the book alone. */
async function missingRescues(
  connection: Connection,
  { rescues = [] }: FoundOnChain,
): Promise<Pick<FoundOnChain, 'rescues'>> {
  const missing: (typeof rescues)[number][] = [];
  for (const rescue of rescues) {
    const entries = entriesOf({ deposits: [], releases: [], rescues: [rescue] });
    if ((await newEntries(connection, entries)).length > 0) missing.push(rescue);
  }
  return { rescues: missing };
}

async function rewindTo(
  observations: LockedObservations,
  block: BlockReference,
  decide: Decide,
): Promise<void> {
  const { connection } = observations;
  const cursor = await newestCheckpoint(connection);
  const lost = await readRange(connection, block.number, cursor?.number ?? NO_FINAL_BLOCK);
  const takenBackNow = [...entriesOf(lost), ...(await rescuedAbove(connection, block.number))];
  await appendEntries(connection, takenBack(takenBackNow), observations.nowMs());
  const affected = await paymentsAbove(connection, block.number);
  await removeRange(connection, block.number, Number.MAX_SAFE_INTEGER);
  await rewindCheckpoints(connection, block);
  await decideAll(observations, affected, decide);
}

async function decideAll(
  { connection, decider }: LockedObservations,
  payments: readonly PaymentReference[],
  decide: Decide,
): Promise<void> {
  const byId = new Map(payments.map((payment) => [payment.id, payment]));
  const once = [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  const decided = await decider.decideAll(connection, once, decide);
  if (decided.length !== once.length)
    throw new Error(`one of ${once.length} payments to decide does not exist`);
}
