import type { Payment, PaymentReference } from '../domain/payment.ts';
import { stateOf } from '../domain/payment-states.ts';
import { type Insertion, raw, run, type Script, sql } from './scripts.ts';
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
