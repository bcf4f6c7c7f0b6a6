import type { DatabaseSync } from 'node:sqlite';
import type { ChainObservations, Payment, PaymentReference } from '../../domain/payment.ts';
import { eventsOfChange } from '../../domain/payment-events.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import { stateOf } from '../../domain/payment-states.ts';
import type { Decide, PaymentView } from '../../domain/ports/payment-store.ts';
import { hostOfCallback, type NewWebhook } from '../../domain/webhook.ts';
import type { Table } from '../columns.ts';
import { EXPIRY_WATERMARK, NO_FINAL_BLOCK, watermarkBefore } from '../observation-rules.ts';
import { changingPaymentColumns, changingValues, paymentColumns, paymentOfRow } from '../payment-rows.ts';
import { depositTable, providerSessionTable, releaseTable } from '../tables.ts';
import { storedValues } from './open-database.ts';

/** Reads and decides one payment; synchronous, to be called inside a read or a transaction. */
export interface PaymentDecider {
  readPayment(id: PaymentId): Payment | null;
  /** Null when there is no such payment. */
  view(payment: PaymentReference | PaymentId): PaymentView | null;
  /** Applies a decision and returns the payment as it then is; null when there is none. Inside a transaction only. */
  decide(payment: PaymentReference | PaymentId, decide: Decide): Payment | null;
}

export function createPaymentDecider(database: DatabaseSync, nowMs: () => number): PaymentDecider {
  const selectPayment = database.prepare(`SELECT ${paymentColumns} FROM payments WHERE id = ?`);
  selectPayment.setReturnArrays(true);
  const updatePayment = database.prepare(
    `UPDATE payments SET ${changingPaymentColumns.map(({ name }) => `${name} = ?`).join(', ')} WHERE id = ?`,
  );
  const insertWebhook = database.prepare(
    `INSERT INTO webhooks (id, account_id, payment_id, host, event, fields, status, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)`,
  );
  const insertReceipt = database.prepare(
    `INSERT INTO receipts (account_id, payment_id, status, created_at_ms) VALUES (?, ?, 'pending', ?)`,
  );
  const insertStateChange = database.prepare(
    `INSERT INTO state_changes (account_id, payment_id, at_ms, state) VALUES (?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const insertEvent = database.prepare(
    'INSERT INTO unnumbered_events (account_id, payment_id, at_ms, type) VALUES (?, ?, ?, ?)',
  );
  const insertUncounted = database.prepare(
    'INSERT INTO uncounted_payments (account_id, payment_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const lowerWatermark = database.prepare(
    `UPDATE watermarks SET payment_id = ? WHERE name = '${EXPIRY_WATERMARK}' AND payment_id >= ?`,
  );
  const readObservations = prepareObservationRead(database);
  const readSessions = prepareReadOf(database, providerSessionTable, 'created_at_ms, id');

  function readPayment(id: PaymentId): Payment | null {
    const row = selectPayment.get(id);
    return row === undefined ? null : paymentOfRow(row);
  }

  function view(asked: PaymentReference | PaymentId): PaymentView | null {
    const { id, accountId } = typeof asked === 'string' ? { id: asked, accountId: null } : asked;
    const payment = readPayment(id);
    if (payment === null || (accountId !== null && payment.accountId !== accountId)) return null;
    return { payment, observations: readObservations(id), sessions: readSessions(id) };
  }

  function queueWebhook(payment: Payment, webhook: NewWebhook): void {
    const id = `${payment.id}:${webhook.event}`;
    insertWebhook.run(
      id,
      payment.accountId,
      payment.id,
      hostOfCallback(payment.callbackUrl),
      webhook.event,
      JSON.stringify(webhook.fields),
      nowMs(),
    );
  }

  function recordChange(before: Payment, after: Payment): void {
    for (const type of eventsOfChange(before, after))
      insertEvent.run(after.accountId, after.id, nowMs(), type);
    const state = stateOf(after);
    if (state === stateOf(before)) return;
    insertStateChange.run(after.accountId, after.id, nowMs(), state);
    // A direct payment goes on from paid: it is counted once.
    if (after.status === 'paid' && before.status !== 'paid') insertUncounted.run(after.accountId, after.id);
  }

  return {
    readPayment,
    view,
    decide(asked, decide) {
      const seen = view(asked);
      if (seen === null) return null;
      const { id } = seen.payment;
      const decision = decide(seen);
      if (decision === null) return seen.payment;
      const changed: Payment = { ...seen.payment, ...decision.change };
      updatePayment.run(...storedValues(changingValues(changed)), id);
      recordChange(seen.payment, changed);
      for (const webhook of decision.webhooks ?? []) queueWebhook(changed, webhook);
      if (decision.receipt === true) insertReceipt.run(changed.accountId, changed.id, nowMs());
      if (decision.revisitExpiry === true) lowerWatermark.run(watermarkBefore(id), id);
      return changed;
    },
  };
}

function prepareObservationRead(database: DatabaseSync): (id: PaymentId) => ChainObservations {
  const readDeposits = prepareReadOf(database, depositTable, 'block_number, log_index');
  const readReleases = prepareReadOf(database, releaseTable, 'block_number, log_index');
  const selectFinalBlock = database.prepare('SELECT max(number) AS number FROM checkpoints');

  return (id) => {
    const finalBlock = selectFinalBlock.get()?.number as number | null | undefined;
    return {
      deposits: readDeposits(id),
      releases: readReleases(id),
      finalBlock: finalBlock ?? NO_FINAL_BLOCK,
    };
  };
}

/** Reads the rows of a table that belong to a payment. */
function prepareReadOf<Entity>(
  database: DatabaseSync,
  { name, names, ofValues }: Table<Entity>,
  order: string,
): (id: PaymentId) => Entity[] {
  const select = database.prepare(`SELECT ${names} FROM ${name} WHERE payment_id = ? ORDER BY ${order}`);
  select.setReturnArrays(true);
  return (id) => (select.all(id) as unknown as unknown[][]).map(ofValues);
}
