import type { PaymentReference } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { PaymentView } from '../../domain/ports/payment-store.ts';
import type { Table } from '../columns.ts';
import { NO_FINAL_BLOCK } from '../observations.ts';
import { paymentOfRow } from '../payment-rows.ts';
import { depositTable, providerSessionTable, releaseTable } from '../tables.ts';
import type { Connection } from './open-database.ts';
import { allPaymentColumns, askedPayments, askedPaymentsSql, paymentColumns } from './payment-rows.ts';
import { arrayStatement, statement } from './statements.ts';

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

/** Locks these payments and reads them with all that a decision may depend on, in their order; without the unknown ones. */
export async function viewLocked(
  connection: Connection,
  payments: readonly PaymentReference[],
): Promise<readonly PaymentView[]> {
  if (payments.length === 0) return [];
  // A statement of its own: one that waited for a lock would still read everything else as it was before.
  await lockPayments(connection, payments);
  const rows = await connection.query<unknown[]>(viewAsked, askedPayments(payments));
  const views = new Map(rows.map(viewOfRow).map((view) => [view.payment.id, view]));
  return payments.flatMap(({ id }) => views.get(id) ?? []);
}

/** Null when there is no such payment. */
export async function viewPayment(
  connection: Connection,
  payment: PaymentReference | PaymentId,
): Promise<PaymentView | null> {
  const [row] =
    typeof payment === 'string'
      ? await connection.query<unknown[]>(viewById, [payment])
      : await connection.query<unknown[]>(viewAsked, askedPayments([payment]));
  return row === undefined ? null : viewOfRow(row);
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
