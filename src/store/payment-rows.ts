import type { Payment, PaymentReference } from '../domain/payment.ts';
import { stateOf } from '../domain/payment-states.ts';
import type { ColumnValue } from './columns.ts';
import { run, type Script } from './scripts.ts';
import { FIXED_PAYMENT_COLUMNS, paymentTable } from './tables.ts';

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

/** Reads payments: the statement from its `FROM` on. @throws UnknownStateError for a state the domain does not know */
export function* selectPayments(from: string, ...values: readonly ColumnValue[]): Script<Payment[]> {
  const payments = (yield* run(`SELECT ${paymentTable.qualifiedNames} ${from}`, ...values)).map(
    paymentTable.ofRow,
  );
  for (const payment of payments) stateOf(payment);
  return payments;
}

/** Reads one payment; null where the account has none with this id. */
export function* selectPayment({ accountId, id }: PaymentReference): Script<Payment | null> {
  const [payment] = yield* selectPayments('FROM payments WHERE account_id = ?1 AND id = ?2', accountId, id);
  return payment ?? null;
}

/** The values of the columns that change. */
export function changingValues(payment: Payment) {
  return paymentTable.valuesOf(payment).slice(FIXED_PAYMENT_COLUMNS);
}
