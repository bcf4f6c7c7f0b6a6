import type { Payment, PaymentReference } from '../domain/payment.ts';
import { eventsOfChange } from '../domain/payment-events.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import { stateOf } from '../domain/payment-states.ts';
import type { Decide, PaymentView } from '../domain/ports/payment-store.ts';
import { hostOfCallback, type NewWebhook } from '../domain/webhook.ts';
import { type Decision, type Insertion, insertRows, raw, run, type Script, sql } from './scripts.ts';
import {
  FIXED_PAYMENT_COLUMNS,
  paymentTable,
  receiptTable,
  stateChangeTable,
  uncountedTable,
  unnumberedEventTable,
  unsentWebhook,
  webhookTable,
} from './tables.ts';

/**
 * Reads and updates of payments on all engines. Their rows are read as arrays in the order of the columns: with thirty
 * columns that takes half the time of objects.
 */

/** Columns for `SELECT … FROM payments`. */
export const paymentColumns = paymentTable.names;

/** The columns that change, in the order of `changingValues`. */
export const changingPaymentColumns = paymentTable.columns
  .slice(FIXED_PAYMENT_COLUMNS)
  .filter(({ field }) => field !== null);

/** A row of these columns, read as an array. @throws UnknownStateError for a state the domain does not know */
export function paymentOfRow(values: unknown): Payment {
  const payment = paymentTable.ofValues(values as readonly unknown[]);
  stateOf(payment);
  return payment;
}

/** Reads payments: a statement from its `FROM` on. @throws UnknownStateError for a state the domain does not know */
export function* selectPayments(
  texts: TemplateStringsArray,
  ...insertions: readonly Insertion[]
): Script<Payment[]> {
  const rows = yield* run`SELECT ${raw(paymentTable.qualifiedNames)} ${sql(texts, ...insertions)}`;
  const payments = rows.map(paymentTable.ofRow);
  for (const payment of payments) stateOf(payment);
  return payments;
}

/** Reads one payment; null where the account has none with this id. */
export function* selectPayment({ accountId, id }: PaymentReference): Script<Payment | null> {
  const [payment] = yield* selectPayments`FROM payments WHERE account_id = ${accountId} AND id = ${id}`;
  return payment ?? null;
}

/** The values of the columns that change. */
export function changingValues(payment: Payment) {
  return paymentTable.valuesOf(payment).slice(FIXED_PAYMENT_COLUMNS);
}

/** The row of the watermarks' table up to which the expiry step has come. */
export const EXPIRY_WATERMARK = 'expiry';

/** Locks and decides payments in the order of their ids. @throws when one of them does not exist */
export function* decideAll(
  payments: readonly (PaymentReference | PaymentId)[],
  decide: Decide,
): Script<readonly Payment[]> {
  const idOf = (payment: PaymentReference | PaymentId) =>
    typeof payment === 'string' ? payment : payment.id;
  if (payments.length === 0) return [];
  const byId = new Map(payments.map((payment) => [idOf(payment), payment]));
  const ordered = [...byId.keys()].sort().map((id) => byId.get(id) as PaymentReference | PaymentId);
  const decided = (yield { payments: ordered, decide }) as readonly unknown[] as readonly Payment[];
  if (decided.length < ordered.length) {
    throw new Error(
      `${ordered.length - decided.length} of ${ordered.length} payments to decide do not exist`,
    );
  }
  return decided;
}

/** Locks and decides a payment; null when it does not exist. */
export function* decideOne(payment: PaymentReference, decide: Decide): Script<Payment | null> {
  const [decided = null] = (yield { payments: [payment], decide }) as unknown as readonly Payment[];
  return decided;
}

/** A payment whose decision changes it. */
interface Change {
  readonly before: Payment;
  readonly after: Payment;
}

/** Locks payments, decides them in this order and writes what was decided. An unknown one is left out of the result. */
export function* applyDecision({ payments, decide }: Decision, nowMs: number): Script<readonly Payment[]> {
  const changes: Change[] = [];
  const webhooks: (readonly [Payment, NewWebhook])[] = [];
  const receipts: Payment[] = [];
  const revisited: PaymentId[] = [];
  const decided = ((yield { view: payments }) as unknown as readonly PaymentView[]).map((view) => {
    const decision = decide(view);
    if (decision === null) return view.payment;
    const after: Payment = { ...view.payment, ...decision.change };
    changes.push({ before: view.payment, after });
    for (const webhook of decision.webhooks ?? []) webhooks.push([after, webhook]);
    if (decision.receipt === true) receipts.push(after);
    if (decision.revisitExpiry === true) revisited.push(after.id);
    return after;
  });
  if (changes.length > 0) yield { update: changes.map(({ after }) => after) };
  yield* insertRows(
    webhookTable,
    webhooks.flatMap(([{ id: paymentId, accountId, callbackUrl }, { event, fields }]) => {
      if (callbackUrl === null) return [];
      const webhook = {
        ...unsentWebhook,
        id: `${paymentId}:${event}`,
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
  yield* insertRows(
    receiptTable,
    receipts.map(({ id, accountId }) => [accountId, id, 'pending', nowMs, null, null]),
  );
  yield* recordChanges(changes, nowMs);
  // After the payments, in which every transaction locks its rows.
  const [lowest] = revisited.sort();
  if (lowest !== undefined) {
    yield* run`
      UPDATE watermarks SET payment_id = ${watermarkBefore(lowest)}
      WHERE name = ${EXPIRY_WATERMARK} AND payment_id >= ${lowest}`;
  }
  return decided;
}

function* recordChanges(changes: readonly Change[], nowMs: number): Script<void> {
  const moved = changes.filter(({ before, after }) => stateOf(before) !== stateOf(after));
  // A direct payment goes on from paid: it is counted once.
  const paid = moved.filter(({ before, after }) => after.status === 'paid' && before.status !== 'paid');
  yield* insertRows(
    stateChangeTable,
    moved.map(({ after }) => [after.accountId, after.id, nowMs, stateOf(after)]),
    { keepsExisting: true },
  );
  yield* insertRows(
    uncountedTable,
    paid.map(({ after }) => [after.accountId, after.id]),
    { keepsExisting: true },
  );
  yield* insertRows(
    unnumberedEventTable,
    changes.flatMap(({ before, after }) =>
      eventsOfChange(before, after).map((type) => [after.accountId, after.id, nowMs, type, null]),
    ),
  );
}

/** A watermark that a payment lies beyond: a beginning of an id sorts just before it. */
export function watermarkBefore(id: PaymentId): string {
  return id.slice(0, -1);
}
