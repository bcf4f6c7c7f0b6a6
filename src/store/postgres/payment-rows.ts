import type { Payment } from '../../domain/payment.ts';
import { changingPaymentColumns, changingValues, qualifiedPaymentColumns } from '../payment-rows.ts';
import { paymentTable } from '../tables.ts';
import { fieldColumns, postgresTypes, type TypedColumn, unnest } from './statements.ts';

/** The columns of `paymentTable.valuesOf`. */
export const allPaymentColumns = fieldColumns(paymentTable);

/** For `SELECT … FROM payments`; read the rows as arrays and hand them to `paymentOfRow`. */
export const paymentColumns = qualifiedPaymentColumns;

/** For `updatePaymentsSql`: the row's key, then what changes. */
export const updatedPaymentColumns: readonly TypedColumn[] = [
  ['id', 'text'],
  ['account_id', 'text'],
  ...changingPaymentColumns.map(({ name, kind }): TypedColumn => [name, postgresTypes[kind]]),
];

/** Takes `updatedPaymentValues` of any number of payments, by column. */
export const updatePaymentsSql = `
  UPDATE payments SET ${changingPaymentColumns.map(({ name }) => `${name} = changed.${name}`).join(', ')}
  FROM ${unnest('changed', updatedPaymentColumns)}
  WHERE payments.account_id = changed.account_id AND payments.id = changed.id`;

/** The values of its key and of the columns that change, in the order of `updatedPaymentColumns`. */
export function updatedPaymentValues(payment: Payment): unknown[] {
  return [payment.id, payment.accountId, ...changingValues(payment)];
}
