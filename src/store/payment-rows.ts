import type { Currency } from '../domain/money.ts';
import type { AmountMismatch, CancelReason, Payment } from '../domain/payment.ts';
import { type ForwardStatus, type PaymentStatus, stateOf } from '../domain/payment-states.ts';
import type { Address } from '../domain/payout-address.ts';
import type { ProviderChoice } from '../domain/provider-catalogue.ts';

/**
 * From a row to a payment. Rows are read as arrays in the order of these lists: with thirty columns that takes half
 * the time of objects.
 */

/** Columns that never change. */
export const fixedPaymentColumns = [
  'id',
  'account_id',
  'created_at_ms',
  'amount_cents',
  'currency',
  'original_amount_cents',
  'customer_fee_cents',
  'pass_fee_to_customer',
  'fee_basis_points',
  'provider',
  'callback_url',
  'email',
  'token_fingerprint',
  'chain_id',
  'factory',
  'payout_address',
  'fee_wallet',
  'deposit_address',
  'usd_units',
  'tolerance_basis_points',
  'max_provider_fee_basis_points',
] as const;

/** Columns that change, which follow those that do not. */
export const changingPaymentColumns = [
  'note',
  'paid_threshold_units',
  'status',
  'forward_status',
  'paid_at_ms',
  'received_units',
  'forwarded_units',
  'txid_in',
  'txid_out',
  'release_due_at_ms',
  'release_refusals',
  'release_refusal_reason',
  'no_op_batches',
  'relay_batch_id',
  'cancel_reason',
  'release_requested',
  'amount_mismatch',
] as const;

export type PaymentColumn = (typeof fixedPaymentColumns | typeof changingPaymentColumns)[number];

/** SQLite knows no booleans. */
type Flag = 0 | 1 | boolean;

type PaymentRow = readonly [
  id: string,
  accountId: string,
  createdAtMs: number,
  amountCents: number,
  currency: Currency,
  originalAmountCents: number | null,
  customerFeeCents: number | null,
  passFeeToCustomer: Flag,
  feeBasisPoints: number,
  provider: ProviderChoice,
  callbackUrl: string,
  email: string | null,
  tokenFingerprint: string,
  chainId: number,
  factory: Address,
  payoutAddress: Address,
  feeWallet: Address,
  depositAddress: Address,
  usdUnits: number,
  toleranceBasisPoints: number | null,
  maxProviderFeeBasisPoints: number | null,
  note: string | null,
  paidThresholdUnits: number,
  status: PaymentStatus,
  forwardStatus: ForwardStatus,
  paidAtMs: number | null,
  receivedUnits: string,
  forwardedUnits: string,
  txidIn: string | null,
  txidOut: string | null,
  releaseDueAtMs: number | null,
  releaseRefusals: number,
  releaseRefusalReason: string | null,
  noOpBatches: number,
  relayBatchId: number | null,
  cancelReason: CancelReason | null,
  releaseRequested: Flag,
  amountMismatch: AmountMismatch | null,
];

/** A row of these columns, read as an array. @throws UnknownStateError for a state the domain does not know */
export function paymentOfRow(row: unknown): Payment {
  const values = row as PaymentRow;
  const payment: Payment = {
    id: values[0],
    accountId: values[1],
    createdAtMs: values[2],
    amountCents: values[3],
    currency: values[4],
    originalAmountCents: values[5],
    customerFeeCents: values[6],
    passFeeToCustomer: isSet(values[7]),
    feeBasisPoints: values[8],
    provider: values[9],
    callbackUrl: values[10],
    email: values[11],
    tokenFingerprint: values[12],
    chainId: values[13],
    factory: values[14],
    payoutAddress: values[15],
    feeWallet: values[16],
    depositAddress: values[17],
    usdUnits: BigInt(values[18]),
    toleranceBasisPoints: values[19],
    maxProviderFeeBasisPoints: values[20],
    note: values[21],
    paidThresholdUnits: BigInt(values[22]),
    status: values[23],
    forwardStatus: values[24],
    paidAtMs: values[25],
    receivedUnits: BigInt(values[26]),
    forwardedUnits: BigInt(values[27]),
    txidIn: values[28],
    txidOut: values[29],
    releaseDueAtMs: values[30],
    releaseRefusals: values[31],
    releaseRefusalReason: values[32],
    noOpBatches: values[33],
    relayBatchId: values[34],
    cancelReason: values[35],
    releaseRequested: isSet(values[36]),
    amountMismatch: values[37],
  };
  stateOf(payment);
  return payment;
}

function isSet(flag: Flag): boolean {
  return flag === true || flag === 1;
}

/** From a payment to its row; from a row to a payment is the same for all engines. */

const columns = [...fixedPaymentColumns, ...changingPaymentColumns];

/** Columns for `SELECT … FROM payments`; read the rows as arrays and hand them to `paymentOfRow`. */
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
    payment.paidThresholdUnits,
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
    payment.noOpBatches,
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
