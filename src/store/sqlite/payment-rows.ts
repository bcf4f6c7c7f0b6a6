import type { Payment } from '../../domain/payment.ts';
import { changingPaymentColumns, fixedPaymentColumns } from '../payment-rows.ts';

/** From a payment to its row; from a row to a payment is the same for all engines. */

const columns = [...fixedPaymentColumns, ...changingPaymentColumns];

/** For `SELECT … FROM payments`; read the rows as arrays and hand them to `paymentOfRow`. */
export const paymentColumns = columns.join(', ');

/** Takes `paymentValues`. */
export const insertPaymentSql = `INSERT INTO payments (${paymentColumns}) VALUES (${columns.map(() => '?').join(', ')})`;

/** Takes `changingValues` and then the id. */
export const updatePaymentSql = `UPDATE payments SET ${changingPaymentColumns.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`;

/** The values of a whole row, in the order of `insertPaymentSql`. */
export function paymentValues(payment: Payment): (string | number | bigint | null)[] {
  return [
    payment.id,
    payment.accountId,
    payment.createdAtMs,
    payment.amountCents,
    payment.currency,
    payment.originalAmountCents,
    payment.customerFeeCents,
    payment.passFeeToCustomer ? 1 : 0,
    payment.feeBasisPoints,
    payment.provider,
    payment.callbackUrl,
    payment.email,
    payment.tokenFingerprint,
    payment.chainId,
    payment.factory,
    payment.payoutAddress,
    payment.feeWallet,
    payment.depositAddress,
    payment.usdUnits,
    payment.toleranceBasisPoints,
    payment.maxProviderFeeBasisPoints,
    payment.note,
    payment.enoughUnits,
    payment.status,
    payment.forwardStatus,
    payment.paidAtMs,
    payment.receivedUnits.toString(),
    payment.forwardedUnits.toString(),
    payment.txidIn,
    payment.txidOut,
    payment.releaseDueAtMs,
    payment.releaseRefusals,
    payment.releaseRefusalReason,
    payment.fruitlessBatches,
    payment.relayBatchId,
    payment.cancelReason,
    payment.releaseRequested ? 1 : 0,
    payment.amountMismatch,
  ];
}

/** The values of the columns that change, in the order of `updatePaymentSql`. */
export function changingValues(payment: Payment): (string | number | bigint | null)[] {
  return paymentValues(payment).slice(fixedPaymentColumns.length);
}
