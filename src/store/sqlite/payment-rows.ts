import type { Currency } from '../../domain/money.ts';
import type { CancelReason, Payment } from '../../domain/payment.ts';
import { type ForwardStatus, type PaymentStatus, stateOf } from '../../domain/payment-states.ts';
import type { Address } from '../../domain/payout-address.ts';
import type { ProviderChoice } from '../../domain/provider-catalogue.ts';

/**
 * Between a payment and its row. Rows are read as arrays in the order of this list: with thirty columns that takes
 * half the time of objects. The columns that change come last.
 */
const fixedColumns = [
  ...['id', 'account_id', 'created_at_ms', 'amount_cents', 'currency', 'original_amount_cents'],
  ...['customer_fee_cents', 'pass_fee_to_customer', 'fee_basis_points', 'provider', 'callback_url', 'email'],
  ...[
    'token_fingerprint',
    'chain_id',
    'factory',
    'payout_address',
    'fee_wallet',
    'deposit_address',
    'usd_units',
  ],
];
const changingColumns = [
  ...['note', 'enough_units', 'status', 'forward_status', 'paid_at_ms', 'received_units', 'forwarded_units'],
  ...[
    'txid_in',
    'txid_out',
    'release_due_at_ms',
    'release_refusals',
    'release_refusal_reason',
    'fruitless_batches',
    'relay_batch_id',
  ],
  ...['cancel_reason', 'release_requested'],
];
const columns = [...fixedColumns, ...changingColumns];

/** For `SELECT … FROM payments`; read the rows as arrays and hand them to `paymentOfRow`. */
export const paymentColumns = columns.join(', ');

/** Takes `paymentValues`. */
export const insertPaymentSql = `INSERT INTO payments (${paymentColumns}) VALUES (${columns.map(() => '?').join(', ')})`;

/** Takes `changingValues` and then the id. */
export const updatePaymentSql = `UPDATE payments SET ${changingColumns.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`;

type Flag = 0 | 1;

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
  note: string | null,
  enoughUnits: number,
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
  fruitlessBatches: number,
  relayBatchId: number | null,
  cancelReason: CancelReason | null,
  releaseRequested: Flag,
];

/** A row of `paymentColumns`, read as an array. @throws UnknownStateError for a state the domain does not know */
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
    passFeeToCustomer: values[7] === 1,
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
    note: values[19],
    enoughUnits: BigInt(values[20]),
    status: values[21],
    forwardStatus: values[22],
    paidAtMs: values[23],
    receivedUnits: BigInt(values[24]),
    forwardedUnits: BigInt(values[25]),
    txidIn: values[26],
    txidOut: values[27],
    releaseDueAtMs: values[28],
    releaseRefusals: values[29],
    releaseRefusalReason: values[30],
    fruitlessBatches: values[31],
    relayBatchId: values[32],
    cancelReason: values[33],
    releaseRequested: values[34] === 1,
  };
  stateOf(payment);
  return payment;
}

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
  ];
}

/** The values of the columns that change, in the order of `updatePaymentSql`. */
export function changingValues(payment: Payment): (string | number | bigint | null)[] {
  return paymentValues(payment).slice(fixedColumns.length);
}
