import type { Payment } from '../../domain/payment.ts';
import { changingPaymentColumns, fixedPaymentColumns, type PaymentColumn } from '../payment-rows.ts';
import { type Column, namesOf, unnest } from './statements.ts';

/** From a payment to its row; from a row to a payment is the same for all engines. */

const types: Readonly<Record<PaymentColumn, string>> = {
  id: 'text',
  account_id: 'text',
  created_at_ms: 'bigint',
  amount_cents: 'bigint',
  currency: 'text',
  original_amount_cents: 'bigint',
  customer_fee_cents: 'bigint',
  pass_fee_to_customer: 'boolean',
  fee_basis_points: 'integer',
  provider: 'text',
  callback_url: 'text',
  email: 'text',
  token_fingerprint: 'text',
  chain_id: 'bigint',
  factory: 'text',
  payout_address: 'text',
  fee_wallet: 'text',
  deposit_address: 'text',
  usd_units: 'bigint',
  tolerance_basis_points: 'integer',
  max_provider_fee_basis_points: 'integer',
  note: 'text',
  paid_threshold_units: 'bigint',
  status: 'text',
  forward_status: 'text',
  paid_at_ms: 'bigint',
  received_units: 'numeric',
  forwarded_units: 'numeric',
  txid_in: 'text',
  txid_out: 'text',
  release_due_at_ms: 'bigint',
  release_refusals: 'integer',
  release_refusal_reason: 'text',
  no_op_batches: 'integer',
  relay_batch_id: 'bigint',
  cancel_reason: 'text',
  release_requested: 'boolean',
  amount_mismatch: 'text',
};

const typed = (name: PaymentColumn): Column => [name, types[name]];
const fixedColumns = fixedPaymentColumns.map(typed);
const changingColumns = changingPaymentColumns.map(typed);

/** For `paymentValues`. */
export const allPaymentColumns: readonly Column[] = [...fixedColumns, ...changingColumns];

/** For `SELECT … FROM payments`; read the rows as arrays and hand them to `paymentOfRow`. */
export const paymentColumns = namesOf(allPaymentColumns).replaceAll(/\w+/g, 'payments.$&');

/** For `INSERT INTO payments (…)`. */
export const insertedPaymentColumns = namesOf(allPaymentColumns);

/** For `updatePaymentsSql`: the row's key, then what changes. */
export const updatedPaymentColumns: readonly Column[] = [...fixedColumns.slice(0, 2), ...changingColumns];

/** Takes `updatedPaymentValues` of any number of payments, by column. */
export const updatePaymentsSql = `
  UPDATE payments SET ${changingColumns.map(([name]) => `${name} = changed.${name}`).join(', ')}
  FROM ${unnest('changed', updatedPaymentColumns)}
  WHERE payments.account_id = changed.account_id AND payments.id = changed.id`;

/** The values of a whole row, in the order of `allPaymentColumns`. */
export function paymentValues(payment: Payment): unknown[] {
  return [
    payment.id,
    payment.accountId,
    payment.createdAtMs,
    payment.amountCents,
    payment.currency,
    payment.originalAmountCents,
    payment.customerFeeCents,
    payment.passFeeToCustomer,
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
    payment.paidThresholdUnits,
    payment.status,
    payment.forwardStatus,
    payment.paidAtMs,
    payment.receivedUnits,
    payment.forwardedUnits,
    payment.txidIn,
    payment.txidOut,
    payment.releaseDueAtMs,
    payment.releaseRefusals,
    payment.releaseRefusalReason,
    payment.noOpBatches,
    payment.relayBatchId,
    payment.cancelReason,
    payment.releaseRequested,
    payment.amountMismatch,
  ];
}

/** The values of its key and of the columns that change, in the order of `updatedPaymentColumns`. */
export function updatedPaymentValues(payment: Payment): unknown[] {
  const values = paymentValues(payment);
  return [payment.id, payment.accountId, ...values.slice(fixedColumns.length)];
}
