import type { Payment, PaymentReference } from '../domain/payment.ts';
import { eventsOfChange } from '../domain/payment-events.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import { stateOf } from '../domain/payment-states.ts';
import type { Decide, PaymentView } from '../domain/ports/payment-store.ts';
import { hostOfCallback, type NewWebhook } from '../domain/webhook.ts';
import { type Decision, insertRows, run, type Script } from './scripts.ts';
import {
  receiptTable,
  stateChangeTable,
  uncountedTable,
  unnumberedEventTable,
  unsentWebhook,
  webhookTable,
} from './tables.ts';

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
