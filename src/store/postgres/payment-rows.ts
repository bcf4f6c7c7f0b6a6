import type { Payment, PaymentReference } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { PaymentView } from '../../domain/ports/payment-store.ts';
import type { Table } from '../columns.ts';
import { NO_FINAL_BLOCK } from '../observations.ts';
import { changingPaymentColumns, changingValues, paymentOfRow } from '../payments.ts';
import { depositTable, paymentTable, providerSessionTable, releaseTable } from '../tables.ts';
import type { Connection } from './open-database.ts';
import {
  arrayStatement,
  fieldColumns,
  postgresTypes,
  statement,
  type TypedColumn,
  unnest,
  valuesByColumn,
} from './statements.ts';

/** The columns of `paymentTable.valuesOf`. */
export const allPaymentColumns = fieldColumns(paymentTable);

/** For `SELECT … FROM payments`; read the rows as arrays and hand them to `paymentOfRow`. */
export const paymentColumns = paymentTable.qualifiedNames;

/** The row's key, then what changes. */
const updatedColumns: readonly TypedColumn[] = [
  ['id', 'text'],
  ['account_id', 'text'],
  ...changingPaymentColumns.map(({ name, kind }): TypedColumn => [name, postgresTypes[kind]]),
];
const updateChanging = statement(`
  UPDATE payments SET ${changingPaymentColumns.map(({ name }) => `${name} = changed.${name}`).join(', ')}
  FROM ${unnest('changed', updatedColumns)}
  WHERE payments.account_id = changed.account_id AND payments.id = changed.id`);

/** Writes the columns of payments that change. */
export async function updatePayments(connection: Connection, payments: readonly Payment[]): Promise<void> {
  const rows = payments.map((payment) => [payment.id, payment.accountId, ...changingValues(payment)]);
  await connection.execute(updateChanging, valuesByColumn(updatedColumns, rows));
}

/** Payments that are asked for with their accounts, so that a statement names where each of them lies. */

const columns: readonly TypedColumn[] = [
  ['account_id', 'text'],
  ['id', 'text'],
];

/** For `SELECT … FROM`: the rows of `payments` that were asked for. The first two parameters are `askedPayments`. */
export const askedPaymentsSql = `${unnest('asked', columns)} JOIN payments USING (account_id, id)`;

const selectReferences = statement(
  'SELECT id, account_id AS "accountId" FROM payments WHERE id = ANY($1::text[])',
);

/** The first two parameters of a statement with `askedPaymentsSql`. */
export function askedPayments(payments: readonly PaymentReference[]): string[] {
  return valuesByColumn(
    columns,
    payments.map(({ accountId, id }) => [accountId, id]),
  );
}

/** The payments with their accounts, in the same order; those of which only the id is known are looked up, and unknown ones left out. */
export async function referencesOf(
  connection: Connection,
  payments: readonly (PaymentReference | PaymentId)[],
): Promise<readonly PaymentReference[]> {
  if (payments.every((payment) => typeof payment !== 'string')) return payments;
  const ids = payments.map((payment) => (typeof payment === 'string' ? payment : payment.id));
  const found = await connection.query<PaymentReference>(selectReferences, [ids]);
  const byId = new Map(found.map((reference) => [reference.id, reference]));
  return ids.flatMap((id) => byId.get(id) ?? []);
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
