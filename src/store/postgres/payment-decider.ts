import type { Payment, PaymentReference } from '../../domain/payment.ts';
import { eventsOfChange } from '../../domain/payment-events.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import { stateOf } from '../../domain/payment-states.ts';
import type { Decide, PaymentView } from '../../domain/ports/payment-store.ts';
import { hostOfCallback, type NewWebhook } from '../../domain/webhook.ts';
import type { Table } from '../columns.ts';
import { EXPIRY_WATERMARK, NO_FINAL_BLOCK, watermarkBefore } from '../observation-rules.ts';
import { paymentOfRow } from '../payment-rows.ts';
import {
  depositTable,
  providerSessionTable,
  releaseTable,
  stateChangeTable,
  unnumberedEventTable,
} from '../tables.ts';
import type { Connection } from './open-database.ts';
import {
  allPaymentColumns,
  askedPayments,
  askedPaymentsSql,
  paymentColumns,
  updatedPaymentColumns,
  updatedPaymentValues,
  updatePaymentsSql,
} from './payment-rows.ts';
import {
  arrayStatement,
  fieldColumns,
  namesOf,
  statement,
  type TypedColumn,
  unnest,
  valuesByColumn,
} from './statements.ts';

/** Reads payments with all that a decision may depend on, and decides them. */
export interface PaymentDecider {
  /** Null when there is no such payment. */
  view(connection: Connection, payment: PaymentReference | PaymentId): Promise<PaymentView | null>;
  /**
   * Locks the payments until the transaction ends, decides them in the given order and writes what was decided.
   * Returns them as they then are; an unknown one is left out. Inside a transaction only.
   */
  decideAll(
    connection: Connection,
    references: readonly PaymentReference[],
    decide: Decide,
  ): Promise<readonly Payment[]>;
}

const lock = statement(
  `SELECT 1 FROM ${askedPaymentsSql} ORDER BY payments.id FOR NO KEY UPDATE OF payments`,
);

const viewSql = `
  SELECT ${paymentColumns}, ${rowsOfPaymentSql(providerSessionTable, 'created_at_ms, id')},
    ${rowsOfPaymentSql(depositTable, 'block_number, log_index')},
    ${rowsOfPaymentSql(releaseTable, 'block_number, log_index')},
    (SELECT max(number) FROM checkpoints)`;
const viewAsked = arrayStatement(`${viewSql} FROM ${askedPaymentsSql}`);
/** For a checkout page, whose address names no account. */
const viewById = arrayStatement(`${viewSql} FROM payments WHERE id = $1`);

const updatePayments = statement(updatePaymentsSql);

const webhookColumns: readonly TypedColumn[] = [
  ['id', 'text'],
  ['account_id', 'text'],
  ['payment_id', 'text'],
  ['host', 'text'],
  ['event', 'text'],
  ['fields', 'json'],
  ['created_at_ms', 'bigint'],
];
const insertWebhooks = statement(`
  INSERT INTO webhooks (${namesOf(webhookColumns)}, status)
  SELECT ${namesOf(webhookColumns)}, 'pending' FROM ${unnest('queued', webhookColumns)}`);

const receiptColumns: readonly TypedColumn[] = [
  ['account_id', 'text'],
  ['payment_id', 'text'],
  ['created_at_ms', 'bigint'],
];
const insertReceipts = statement(`
  INSERT INTO receipts (${namesOf(receiptColumns)}, status)
  SELECT ${namesOf(receiptColumns)}, 'pending' FROM ${unnest('queued', receiptColumns)}`);

const stateChangeColumns = fieldColumns(stateChangeTable);
const cameColumns: readonly TypedColumn[] = [...stateChangeColumns, ['became_paid', 'boolean']];
/** Those that became paid are to be counted: once, also a direct payment, which goes on from paid. */
const insertStateChanges = statement(`
  WITH came AS (SELECT * FROM ${unnest('came', cameColumns)}),
  changes AS (
    INSERT INTO state_changes (${namesOf(stateChangeColumns)})
    SELECT ${namesOf(stateChangeColumns)} FROM came ON CONFLICT DO NOTHING)
  INSERT INTO uncounted_payments (account_id, payment_id)
  SELECT account_id, payment_id FROM came WHERE became_paid ON CONFLICT DO NOTHING`);

const eventColumns = fieldColumns(unnumberedEventTable).slice(1);
/** In the order of the arrays: the identity column counts up row by row. */
const insertEvents = statement(`
  INSERT INTO unnumbered_events (${namesOf(eventColumns)})
  SELECT ${namesOf(eventColumns)} FROM ${unnest('added', eventColumns)}`);

const lowerWatermark = statement(
  `UPDATE watermarks SET payment_id = $1 WHERE name = '${EXPIRY_WATERMARK}' AND payment_id >= $2`,
);

/** The rows of a table that belong to a row of `payments`, as a JSON array with the values of each; amounts are text. */
function rowsOfPaymentSql({ name, columns }: Table, order: string): string {
  const values = columns
    .filter(({ field }) => field !== null)
    .map((column) => (column.kind === 'amount' ? `${column.name}::text` : column.name));
  return `
    (SELECT coalesce(json_agg(json_build_array(${values.join(', ')}) ORDER BY ${order}), '[]')
     FROM ${name} WHERE ${name}.account_id = payments.account_id AND payment_id = payments.id)`;
}

/**
 * Locks payments until the transaction ends; in the order of their ids, so that two transactions that lock the same
 * payments wait for each other and never cross.
 */
export async function lockPayments(
  connection: Connection,
  payments: readonly PaymentReference[],
): Promise<void> {
  await connection.execute(lock, askedPayments(payments));
}

export function createPaymentDecider(nowMs: () => number): PaymentDecider {
  async function viewAll(
    connection: Connection,
    references: readonly PaymentReference[],
  ): Promise<Map<PaymentId, PaymentView>> {
    const rows = await connection.query<unknown[]>(viewAsked, askedPayments(references));
    return new Map(rows.map(viewOfRow).map((view) => [view.payment.id, view]));
  }

  return {
    async view(connection, payment) {
      const [row] =
        typeof payment === 'string'
          ? await connection.query<unknown[]>(viewById, [payment])
          : await connection.query<unknown[]>(viewAsked, askedPayments([payment]));
      return row === undefined ? null : viewOfRow(row);
    },
    async decideAll(connection, references, decide) {
      if (references.length === 0) return [];
      // A statement of its own: one that waited for a lock would still read everything else as it was before.
      await lockPayments(connection, references);
      const views = await viewAll(connection, references);
      const changed: Payment[] = [];
      const webhooks: unknown[][] = [];
      const receipts: unknown[][] = [];
      const states: unknown[][] = [];
      const events: unknown[][] = [];
      const revisited: PaymentId[] = [];
      const payments = references.flatMap(({ id }) => {
        const view = views.get(id);
        if (view === undefined) return [];
        const decision = decide(view);
        if (decision === null) return [view.payment];
        const payment: Payment = { ...view.payment, ...decision.change };
        changed.push(payment);
        const state = stateOf(payment);
        if (state !== stateOf(view.payment)) {
          const becamePaid = payment.status === 'paid' && view.payment.status !== 'paid';
          states.push([payment.accountId, payment.id, nowMs(), state, becamePaid]);
        }
        for (const type of eventsOfChange(view.payment, payment)) {
          events.push([payment.accountId, payment.id, nowMs(), type, null]);
        }
        for (const webhook of decision.webhooks ?? []) {
          webhooks.push(webhookValues(payment, webhook, nowMs()));
        }
        if (decision.receipt === true) receipts.push([payment.accountId, payment.id, nowMs()]);
        if (decision.revisitExpiry === true) revisited.push(payment.id);
        return [payment];
      });
      await write(connection, changed, { webhooks, receipts, states, events });
      // After the payments, in which every transaction locks its rows.
      const [lowest] = revisited.sort();
      if (lowest !== undefined) await connection.execute(lowerWatermark, [watermarkBefore(lowest), lowest]);
      return payments;
    },
  };
}

async function write(
  connection: Connection,
  changed: readonly Payment[],
  {
    webhooks,
    receipts,
    states,
    events,
  }: Readonly<Record<'webhooks' | 'receipts' | 'states' | 'events', readonly unknown[][]>>,
): Promise<void> {
  if (changed.length > 0) {
    const rows = changed.map(updatedPaymentValues);
    await connection.execute(updatePayments, valuesByColumn(updatedPaymentColumns, rows));
  }
  if (webhooks.length > 0) await connection.execute(insertWebhooks, valuesByColumn(webhookColumns, webhooks));
  if (receipts.length > 0) await connection.execute(insertReceipts, valuesByColumn(receiptColumns, receipts));
  if (states.length > 0) {
    await connection.execute(insertStateChanges, valuesByColumn(cameColumns, states));
  }
  if (events.length > 0) await connection.execute(insertEvents, valuesByColumn(eventColumns, events));
}

function webhookValues(payment: Payment, { event, fields }: NewWebhook, createdAtMs: number): unknown[] {
  return [
    `${payment.id}:${event}`,
    payment.accountId,
    payment.id,
    hostOfCallback(payment.callbackUrl),
    event,
    JSON.stringify(fields),
    createdAtMs,
  ];
}

function viewOfRow(row: unknown[]): PaymentView {
  const [sessions, deposits, releases, finalBlock] = row.slice(allPaymentColumns.length) as [
    unknown[][],
    unknown[][],
    unknown[][],
    number | null,
  ];
  return {
    payment: paymentOfRow(row),
    observations: {
      deposits: deposits.map(depositTable.ofValues),
      releases: releases.map(releaseTable.ofValues),
      finalBlock: finalBlock ?? NO_FINAL_BLOCK,
    },
    sessions: sessions.map(providerSessionTable.ofValues),
  };
}
