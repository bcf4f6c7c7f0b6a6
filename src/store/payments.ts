import { bytesOfAddress, checksumAddressBytes } from '../payment/address.ts';
import { UnknownStateError } from '../payment/errors.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import { eventsOfChange, type NewWebhook } from '../payment/payment-events.ts';
import { stateOf } from '../payment/payment-states.ts';
import { createdChange, paidChanges } from '../payment/payment-statistics.ts';
import type {
  CreateOutcome,
  Decide,
  DepositOwner,
  IdempotencyRecord,
  PaymentView,
} from '../payment/payment-store.ts';
import { LONGEST_DELAY_MS, LONGEST_FIRST_DELAY_MS } from '../payment/release-schedule.ts';
import { IDEMPOTENCY_TTL_MS } from '../payment/retention-periods.ts';
import { hostOfCallback, webhookIdOf } from '../webhooks/send-webhook.ts';
import type { Row, Table } from './columns.ts';
import { giveUpSent, RESTORED, restoredBlockOf } from './restores.ts';
import {
  type Fragment,
  hasRow,
  type Insertion,
  lockPayments,
  raw,
  run,
  runForOne,
  type Script,
  sql,
} from './scripts.ts';
import type { MovedPayment, StoredFeature } from './stored-feature.ts';
import {
  changeTable,
  depositSumTable,
  depositTable,
  paymentTable,
  providerSessionTable,
  receiptTable,
  releaseSumTable,
  releaseTable,
  type StoredWebhook,
  stateChangeTable,
  unindexedTable,
  unnumberedEventTable,
  webhookTable,
} from './tables.ts';

/** Number of the final block before the first scan. */
export const NO_FINAL_BLOCK = -1;

/** Returns the payment. Throws `UnknownStateError` with the payment's id if its state is invalid. */
function withKnownState(payment: Payment): Payment {
  try {
    stateOf(payment);
  } catch (error) {
    if (!(error instanceof UnknownStateError)) throw error;
    throw new UnknownStateError(
      `payment ${payment.id}: ${error.message}. If rows were changed, see "Incidents" in docs/operating.md`,
    );
  }
  return payment;
}

export function* findDepositOwners(addresses: readonly string[]): Script<DepositOwner[]> {
  const bytes = addresses.map((address) => `\\x${address.slice(2)}`);
  const rows = yield* run`
    SELECT id, deposit_address AS address FROM payments WHERE deposit_address = ANY(${bytes}::bytea[])`;
  return rows.map(({ id, address }) => ({
    id: id as PaymentId,
    depositAddress: checksumAddressBytes(address as Uint8Array),
  }));
}

/** Reads payments. The template is the statement from `FROM` on. Throws `UnknownStateError` for an invalid state. */
export function* selectPayments(
  texts: TemplateStringsArray,
  ...insertions: readonly Insertion[]
): Script<Payment[]> {
  const payments = yield* paymentTable.selectFrom(texts, ...insertions);
  return payments.map(withKnownState);
}

export function paymentOf(row: Row): Payment {
  return withKnownState(paymentTable.ofRow(row));
}

/** Creates a payment. Concurrent duplicates are serialized, because SQLite runs one write transaction at a time. */
export function* createPaymentInSqlite(
  payment: Payment,
  record: IdempotencyRecord | null,
): Script<CreateOutcome> {
  if (record !== null) {
    const { accountId, key, createdAtMs } = record;
    const earlier = yield* findIdempotent(accountId, key, createdAtMs - IDEMPOTENCY_TTL_MS);
    if (earlier !== null) return { kind: 'replayed', ...earlier };
  }
  if (!(yield* insertPayment(payment))) return { kind: 'reserved' };
  if (record !== null) yield* insertRecord(record, payment);
  return { kind: 'created' };
}

/** Stores an idempotency record, replacing an expired one with the same key. Also deletes a few expired records. */
function* insertRecord(
  { accountId, key, fingerprint, createdAtMs }: IdempotencyRecord,
  { id }: Payment,
): Script<void> {
  yield* run`
    DELETE FROM idempotency_records WHERE (account_id, key) IN (
      SELECT account_id, key FROM idempotency_records WHERE created_at_ms <= ${createdAtMs - IDEMPOTENCY_TTL_MS}
      ORDER BY created_at_ms LIMIT ${PURGED_PER_RECORD})`;
  yield* run`
    INSERT OR REPLACE INTO idempotency_records (account_id, key, fingerprint, payment_id, created_at_ms)
    VALUES (${accountId}, ${key}, ${fingerprint}, ${id}, ${createdAtMs})`;
}

/** Inserts a payment with its rows for search and statistics; false if the payout address is a deposit address. */
export function* insertPayment(payment: Payment): Script<boolean> {
  if (yield* hasRow`SELECT 1 FROM payments WHERE deposit_address = ${bytesOfAddress(payment.payoutAddress)}`)
    return false;
  yield* paymentTable.insert(payment);
  yield* unindexedTable.insert({ accountId: payment.accountId, paymentId: payment.id });
  yield* changeTable.insert(createdChange(payment));
  return true;
}

/** Maximum expired idempotency records to delete per added record; more than one, so that the table can shrink. */
export const PURGED_PER_RECORD = 4;

/** Returns the payment of an Idempotency-Key that was used after `sinceMs`, or null. */
export function* findIdempotent(
  accountId: string,
  key: string,
  sinceMs: number,
): Script<{ payment: Payment; fingerprint: string } | null> {
  const record = yield* runForOne<{ id: PaymentId; fingerprint: string }>`
    SELECT payment_id AS id, fingerprint FROM idempotency_records
    WHERE account_id = ${accountId} AND key = ${key} AND created_at_ms > ${sinceMs}`;
  if (record === null) return null;
  const payment = yield* selectPayment(record.id);
  if (payment === null) throw new Error(`payment ${record.id} of an Idempotency-Key is missing`);
  return { payment, fingerprint: record.fingerprint };
}

export function* selectPayment(id: PaymentId): Script<Payment | null> {
  const [payment] = yield* selectPayments`FROM payments WHERE id = ${id}`;
  return payment ?? null;
}

/** Returns the condition for due releases. Its IS NOT NULL lets SQLite use the partial index despite the OR. */
export function isReleaseDue(nowMs: number): Fragment {
  return sql`release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL AND (
    release_due_at_ms <= ${nowMs} OR release_due_at_ms > ${nowMs + LONGEST_DELAY_MS} OR
    (release_due_at_ms > ${nowMs + LONGEST_FIRST_DELAY_MS} AND release_refusals = 0 AND no_op_batches = 0))`;
}

/** Returns SQL for a payment's rows in another table, as a JSON array of arrays of values. Amounts are text. */
function rowsOfPayment(
  { name, columns }: Table,
  order: string,
  from = `${name} WHERE ${OF_PAYMENT}`,
): string {
  const values = columns
    .filter(({ field }) => field !== null)
    .map((column) => (column.kind === 'amount' ? `CAST(${column.name} AS text)` : column.name));
  return `(SELECT coalesce(json_agg(json_build_array(${values.join(', ')}) ORDER BY ${order}), '[]')
    FROM ${from}) AS ${name}`;
}

const OF_PAYMENT = 'payment_id = payments.id';

/** Returns SQL for a payment's deposits or releases, with one sum in place of folded rows. */
function observationsOfPayment(table: Table, sums: Table): string {
  const rows = `(SELECT ${table.names} FROM ${table.name} WHERE ${OF_PAYMENT} AND folded = 0
    UNION ALL SELECT ${table.names} FROM ${sums.name} WHERE ${OF_PAYMENT}) AS observed`;
  return rowsOfPayment(table, 'block_number, log_index', rows);
}

/** Reads all data that decisions depend on, in one statement. Keeps the order of `ids`. Omits unknown payments. */
export function* viewPayments(ids: readonly PaymentId[]): Script<PaymentView[]> {
  const rows = yield* run`
    SELECT ${raw(paymentTable.qualifiedNames)},
      ${raw(rowsOfPayment(providerSessionTable, 'created_at_ms, id'))},
      ${raw(observationsOfPayment(depositTable, depositSumTable))},
      ${raw(observationsOfPayment(releaseTable, releaseSumTable))},
      (SELECT max(number) FROM checkpoints) AS final_block, ${raw(RESTORED)} AS restored
    FROM payments WHERE payments.id = ANY(${ids})`;
  const views = new Map(rows.map(viewOfRow).map((view) => [view.payment.id, view]));
  return ids.flatMap((id) => views.get(id) ?? []);
}

function viewOfRow(row: Row): PaymentView {
  const entitiesOf = <Entity>({ name, ofValues }: Table<Entity>): Entity[] => {
    const rows = row[name];
    return ((typeof rows === 'string' ? JSON.parse(rows) : rows) as unknown[][]).map(ofValues);
  };
  return {
    payment: paymentOf(row),
    observations: {
      deposits: entitiesOf(depositTable),
      releases: entitiesOf(releaseTable),
      finalBlock: (row['final_block'] as number | null) ?? NO_FINAL_BLOCK,
      restoredBlock: restoredBlockOf(row['restored']),
    },
    sessions: entitiesOf(providerSessionTable),
  };
}

export const EXPIRY_WATERMARK = 'expiry';

export type Decisions = ReturnType<typeof createDecisions>;

/** Creates functions that decide on payments and run the features' steps for payments that changed state. */
export function createDecisions(features: readonly StoredFeature[], nowMs: () => number) {
  return {
    /** Locks payments and decides on them in id order. Throws if a payment does not exist. */
    *decideAll(ids: readonly PaymentId[], decide: Decide): Script<readonly Payment[]> {
      if (ids.length === 0) return [];
      const ordered = [...new Set(ids)].sort();
      const decided = yield* applyDecision(ordered, decide, features, nowMs());
      if (decided.length < ordered.length) {
        throw new Error(
          `${ordered.length - decided.length} of ${ordered.length} payments to decide do not exist`,
        );
      }
      return decided;
    },
    *decideOne(id: PaymentId, decide: Decide): Script<Payment | null> {
      const [decided = null] = yield* applyDecision([id], decide, features, nowMs());
      return decided;
    },
  };
}

const unsentWebhook = {
  status: 'pending',
  claimedAtMs: null,
  httpStatus: null,
  reason: null,
  durationMs: null,
  responseExcerpt: null,
  body: null,
  signature: null,
  finishedAtMs: null,
} as const satisfies Partial<StoredWebhook>;

interface Change extends MovedPayment {
  readonly sessions: PaymentView['sessions'];
}

/** Locks payments, decides on each in order, and writes the decisions. The result omits unknown payments. */
function* applyDecision(
  ids: readonly PaymentId[],
  decide: Decide,
  features: readonly StoredFeature[],
  nowMs: number,
): Script<readonly Payment[]> {
  const changes: Change[] = [];
  const webhooks: (readonly [Payment, NewWebhook])[] = [];
  const receipts: Payment[] = [];
  const revisited: PaymentId[] = [];
  const dueBefore: string[] = [];
  // Locks in a separate statement, because a statement that waits for a lock reads other rows from its old snapshot.
  yield* lockPayments(ids);
  const decided = (yield* viewPayments(ids)).map((view) => {
    const decision = decide(view);
    if (decision === null) return view.payment;
    const after: Payment = { ...view.payment, ...decision.change };
    changes.push({ before: view.payment, after, sessions: view.sessions });
    for (const webhook of decision.webhooks ?? []) webhooks.push([after, webhook]);
    for (const event of decision.dueBefore ?? []) dueBefore.push(webhookIdOf(after.id, event));
    if (decision.receipt === true) receipts.push(after);
    if (decision.revisitExpiry === true) revisited.push(after.id);
    return after;
  });
  for (const { after } of changes) yield* paymentTable.update(after);
  yield* webhookTable.insertRows(
    webhooks.flatMap(([{ id: paymentId, accountId, callbackUrl }, { event, fields }]) => {
      if (callbackUrl === null) return [];
      const webhook = {
        ...unsentWebhook,
        id: webhookIdOf(paymentId, event),
        accountId,
        paymentId,
        host: hostOfCallback(callbackUrl),
        event,
        fields,
        createdAtMs: nowMs,
      };
      return [webhookTable.valuesOf(webhook)];
    }),
  );
  yield* receiptTable.insertRows(
    receipts.map(({ id }) => [id, 'pending', null, null, nowMs, null, null]),
    { keepsExisting: true },
  );
  const moved = changes.filter(({ before, after }) => stateOf(before) !== stateOf(after));
  yield* recordChanges(changes, moved, nowMs);
  yield* queueWantedReceipts(moved, nowMs);
  yield* giveUpSent(dueBefore, nowMs);
  for (const feature of features) yield* feature.paymentsMoved?.(moved) ?? [];
  // Writes the watermark last, because every transaction locks payments first. Another order could deadlock.
  const [lowest] = revisited.sort();
  if (lowest !== undefined) {
    yield* run`
      UPDATE watermarks SET payment_id = ${watermarkBefore(lowest)}
      WHERE name = ${EXPIRY_WATERMARK} AND payment_id >= ${lowest}`;
  }
  return decided;
}

/** Queues receipts that customers requested on the checkout page, for payments without an email address. */
function* queueWantedReceipts(moved: readonly Change[], nowMs: number): Script<void> {
  const ended = moved.filter(({ before, after }) => before.status === 'unpaid' && after.status !== 'unpaid');
  const ids = ended.flatMap(({ after }) => (after.email === null ? after.id : []));
  if (ids.length === 0) return;
  yield* run`
    UPDATE receipts SET status = 'pending', created_at_ms = ${nowMs}
    WHERE payment_id = ANY(${ids}) AND status = 'wanted' AND email IS NOT NULL`;
}

function* recordChanges(changes: readonly Change[], moved: readonly Change[], nowMs: number): Script<void> {
  // Counts a direct payment only once, although it changes state again after it became paid.
  const paid = moved.filter(({ before, after }) => after.status === 'paid' && before.status !== 'paid');
  yield* stateChangeTable.insertRows(
    moved.map(({ after }) => [after.id, stateOf(after), nowMs]),
    { keepsExisting: true },
  );
  yield* changeTable.insertRows(
    paid.flatMap(({ after, sessions }) => paidChanges(after, sessions).map(changeTable.valuesOf)),
  );
  yield* unnumberedEventTable.insertRows(
    changes.flatMap(({ before, after }) =>
      eventsOfChange(before, after).map((type) => [after.accountId, after.id, type, null, nowMs]),
    ),
  );
}

/** Returns a watermark just below a payment: a prefix of its id, which sorts before the id. */
export function watermarkBefore(id: PaymentId): string {
  return id.slice(0, -1);
}
