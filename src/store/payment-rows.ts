import type { Payment } from '../domain/payment.ts';
import { stateOf } from '../domain/payment-states.ts';
import type { Row } from './columns.ts';
import { FIXED_PAYMENT_COLUMNS, paymentTable } from './tables.ts';

/**
 * Reads and updates of payments on all engines. Their rows are read as arrays in the order of the columns: with thirty
 * columns that takes half the time of objects.
 */

/** Columns for `SELECT … FROM payments`. */
export const paymentColumns = paymentTable.names;

/** The same, for statements that join other tables. */
export const qualifiedPaymentColumns = paymentTable.qualifiedNames;

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

/** Rows of these columns, read as objects. @throws UnknownStateError for a state the domain does not know */
export function paymentsOfRows(rows: readonly Row[]): Payment[] {
  return rows.map((row) => {
    const payment = paymentTable.ofRow(row);
    stateOf(payment);
    return payment;
  });
}

/** The values of the columns that change. */
export function changingValues(payment: Payment) {
  return paymentTable.valuesOf(payment).slice(FIXED_PAYMENT_COLUMNS);
}
