import type { PaymentId } from '../payment/payment.ts';
import type { RelayAttempt, RelayBatch, RelayStore } from '../settlement/settlement-store.ts';
import type { Row } from './columns.ts';
import { type Decisions, isReleaseDue, selectPayments } from './payments.ts';
import {
  countOf,
  type Fragment,
  lockPayments,
  type Rows,
  raw,
  run,
  type Script,
  type Scripts,
  sql,
} from './scripts.ts';
import { RelayConflictError } from './store-errors.ts';
import { relayAttemptTable, relayBatchPaymentTable, relayBatchTable } from './tables.ts';

export function createRelayBatches(
  { read, write }: Scripts,
  { decideAll }: Decisions,
): Omit<RelayStore, 'claimDueReleases' | 'dropClaims'> {
  return {
    listOpenBatchesOf: read((relayer) =>
      listBatches(
        sql`WHERE relayer = ${relayer} AND outcome IS NULL ORDER BY nonce LIMIT ${raw(MAXIMUM_LISTED)}`,
      ),
    ),
    listRelayersInFlight: read(function* () {
      const rows = yield* run`
        SELECT DISTINCT relayer FROM relay_batches WHERE outcome IS NULL
        ORDER BY relayer LIMIT ${raw(MAXIMUM_LISTED)}`;
      return rows.map(({ relayer }) => String(relayer));
    }),
    findNextNonce: read(function* (relayer) {
      const newest = yield* run`
        SELECT nonce, outcome FROM relay_batches WHERE relayer = ${relayer}
        ORDER BY id DESC LIMIT ${raw(MAXIMUM_LISTED)}`;
      const abandoned = newest.findIndex(({ outcome }) => outcome === 'abandoned');
      const nonces = newest
        .slice(0, abandoned === -1 ? undefined : abandoned)
        .map(({ nonce }) => Number(nonce));
      return nonces.length === 0 ? null : Math.max(...nonces) + 1;
    }),
    // `id + 0` keeps SQLite from scanning all batches for the order.
    listOpenBatches: read((limit) => listBatches(sql`WHERE outcome IS NULL ORDER BY id + 0 LIMIT ${limit}`)),
    openBatch: write(function* (batch, decide) {
      checkNewBatch(batch);
      const opened = yield* insertBatch(batch);
      yield* lockPayments(batch.paymentIds);
      yield* carryPayments(opened);
      yield* decideAll(batch.paymentIds, decide);
      return opened;
    }),
    replaceBatch: write(function* (batchId, replacement, closedAtMs, decide) {
      checkNewBatch(replacement);
      const batch = yield* markClosed(batchId, 'replaced', closedAtMs);
      checkReplacement(batch, replacement);
      const opened = yield* insertBatch(replacement);
      yield* lockPayments(batch.paymentIds);
      yield* freePayments(batchId);
      yield* carryPayments(opened);
      yield* decideAll(batch.paymentIds, decide);
      return opened;
    }),
    addAttempt: write(function* (batchId, attempt) {
      // Locks the batch by updating its row.
      const held = yield* run`
        UPDATE relay_batches SET outcome = outcome WHERE id = ${batchId} AND outcome IS NULL RETURNING id`;
      if (held.length === 0) throw notOpen(batchId);
      const attempts = yield* countOf`relay_attempts WHERE batch_id = ${batchId}`;
      yield* insertAttempts(batchId, attempts, [attempt]);
    }),
    closeBatch: write(function* (batchId, outcome, closedAtMs, decide) {
      const batch = yield* markClosed(batchId, outcome, closedAtMs);
      yield* lockPayments(batch.paymentIds);
      yield* freePayments(batchId);
      yield* decideAll(batch.paymentIds, decide);
    }),
  };
}

/** Assigns locked payments to a batch. Throws `RelayConflictError` if a payment already belongs to another batch. */
function* carryPayments({ id, kind, paymentIds }: RelayBatch): Script<void> {
  if (kind !== 'forward') return;
  const carried = yield* run`
    UPDATE payments SET relay_batch_id = ${id} WHERE id = ANY(${paymentIds}) AND relay_batch_id IS NULL
    RETURNING id`;
  if (carried.length !== paymentIds.length)
    throw new RelayConflictError(`another batch carries a payment of batch ${id}`);
}

function* freePayments(batchId: number): Script<void> {
  yield* run`UPDATE payments SET relay_batch_id = NULL WHERE relay_batch_id = ${batchId}`;
}

/** Inserts a batch. Throws `RelayConflictError` if another batch with its nonce is open, even if uncommitted. */
function* insertBatch(batch: NewBatch): Script<RelayBatch> {
  const { relayer, nonce, kind, rescueToken, gasLimit, paymentIds, attempts, createdAtMs } = batch;
  const [row] = yield* run`
    INSERT INTO relay_batches (relayer, nonce, kind, rescue_token, gas_limit, created_at_ms)
    VALUES (${relayer}, ${nonce}, ${kind}, ${rescueToken}, ${String(gasLimit)}, ${createdAtMs})
    ON CONFLICT (relayer, nonce) WHERE outcome IS NULL DO NOTHING RETURNING id`;
  if (row === undefined)
    throw new RelayConflictError(`relayer ${relayer} has a batch in flight at nonce ${nonce}`);
  const id = row['id'] as number;
  yield* relayBatchPaymentTable.insertRows(
    paymentIds.map((paymentId, position) =>
      relayBatchPaymentTable.valuesOf({ batchId: id, position, paymentId }),
    ),
  );
  yield* insertAttempts(id, 0, attempts);
  return { ...batch, id };
}

function* insertAttempts(batchId: number, from: number, attempts: readonly RelayAttempt[]): Script<void> {
  const rows = attempts.map((attempt, index) => [
    ...relayAttemptTable.valuesOf(attempt),
    batchId,
    from + index,
  ]);
  yield* relayAttemptTable.insertRows(rows);
}

/** Marks an open batch as closed and returns it. Throws `RelayConflictError` if it is not open. */
function* markClosed(batchId: number, outcome: string, closedAtMs: number): Script<RelayBatch> {
  const closed = yield* run`
    UPDATE relay_batches SET outcome = ${outcome}, closed_at_ms = ${closedAtMs}
    WHERE id = ${batchId} AND outcome IS NULL RETURNING ${raw(relayBatchTable.names)}`;
  const [batch] = yield* batchesOf(closed);
  if (batch === undefined) throw notOpen(batchId);
  return batch;
}

function notOpen(batchId: number): RelayConflictError {
  return new RelayConflictError(`there is no open relay batch ${batchId}`);
}

function* listBatches(rest: Fragment): Script<RelayBatch[]> {
  return yield* batchesOf(yield* run`SELECT ${raw(relayBatchTable.names)} FROM relay_batches ${rest}`);
}

function* batchesOf(rows: Rows): Script<RelayBatch[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row['id'] as number);
  const payments = yield* run`
    SELECT batch_id, payment_id FROM relay_batch_payments WHERE batch_id = ANY(${ids})
    ORDER BY batch_id, position`;
  const attempts = yield* run`
    SELECT batch_id, ${raw(relayAttemptTable.names)} FROM relay_attempts WHERE batch_id = ANY(${ids})
    ORDER BY batch_id, position`;
  const batchOf = (row: Row) => row['batch_id'];
  const [paymentsOf, attemptsOf] = [Map.groupBy(payments, batchOf), Map.groupBy(attempts, batchOf)];
  return rows.map((row) => ({
    ...relayBatchTable.ofRow(row),
    paymentIds: (paymentsOf.get(row['id']) ?? []).map((payment) => payment['payment_id'] as PaymentId),
    attempts: (attemptsOf.get(row['id']) ?? []).map(relayAttemptTable.ofRow),
  }));
}

type NewBatch = Omit<RelayBatch, 'id'>;

const MAXIMUM_LISTED = 200;

/** Throws `RangeError` for a batch without a signed attempt. All but self-transfers need at least one payment. */
function checkNewBatch({ kind, paymentIds, attempts }: NewBatch): void {
  const isEmpty = paymentIds.length === 0;
  if (isEmpty !== (kind === 'self_transfer') || attempts.length === 0) {
    throw new RangeError('a relay batch needs a signed attempt, and a payment unless it is a self-transfer');
  }
}

/** Throws `RangeError` unless the nonces are equal, so that only one batch can be mined, and no payment is added. */
function checkReplacement(batch: RelayBatch, replacement: NewBatch): void {
  const isSame =
    batch.relayer === replacement.relayer &&
    batch.nonce === replacement.nonce &&
    (batch.kind === replacement.kind || replacement.kind === 'self_transfer');
  const carried = new Set(batch.paymentIds);
  if (isSame && replacement.paymentIds.every((id) => carried.has(id))) return;
  throw new RangeError(
    `relay batch ${batch.id} is replaced at its own nonce by some of its own payments only`,
  );
}

/** Keeps claims in memory for SQLite, where this process is the only one. The claims end with the process. */
export function createClaimsInMemory({ read }: Scripts): Pick<RelayStore, 'claimDueReleases' | 'dropClaims'> {
  const claims = new Map<string, { readonly relayer: string; readonly endsAtMs: number }>();

  function dropWhere(isOver: (claim: { relayer: string; endsAtMs: number }) => boolean): void {
    for (const [id, claim] of claims) if (isOver(claim)) claims.delete(id);
  }

  return {
    claimDueReleases: read(function* (relayer, nowMs, limit, durationMs) {
      const startedAtMs = performance.now();
      dropWhere(({ endsAtMs }) => endsAtMs <= startedAtMs);
      const ofOthers = [...claims].flatMap(([id, claim]) => (claim.relayer === relayer ? [] : [id]));
      const due = yield* selectPayments`
        FROM payments WHERE ${isReleaseDue(nowMs)} AND id <> ALL(${ofOthers})
        ORDER BY release_due_at_ms, id LIMIT ${limit}`;
      for (const { id } of due) claims.set(id, { relayer, endsAtMs: startedAtMs + durationMs });
      return due;
    }),
    dropClaims: async (relayer) => dropWhere((claim) => claim.relayer === relayer),
  };
}
