import type { Currency } from '../../domain/money.ts';
import type { CancelReason, Payment } from '../../domain/payment.ts';
import { type ForwardStatus, type PaymentStatus, stateOf } from '../../domain/payment-states.ts';
import type { Address } from '../../domain/payout-address.ts';
import type { ProviderChoice } from '../../domain/provider-catalogue.ts';
import { type Column, namesOf, unnest } from './column-lists.ts';

/** Between a payment and its row. Rows are read as arrays in the order of this list; the columns that change come last. */
const fixedColumns: readonly Column[] = [
  ['id', 'text'],
  ['account_id', 'text'],
  ['created_at_ms', 'bigint'],
  ['amount_cents', 'bigint'],
  ['currency', 'text'],
  ['original_amount_cents', 'bigint'],
  ['customer_fee_cents', 'bigint'],
  ['pass_fee_to_customer', 'boolean'],
  ['fee_basis_points', 'integer'],
  ['provider', 'text'],
  ['callback_url', 'text'],
  ['email', 'text'],
  ['token_fingerprint', 'text'],
  ['chain_id', 'bigint'],
  ['factory', 'text'],
  ['payout_address', 'text'],
  ['fee_wallet', 'text'],
  ['deposit_address', 'text'],
  ['usd_units', 'bigint'],
];
const changingColumns: readonly Column[] = [
  ['note', 'text'],
  ['enough_units', 'bigint'],
  ['status', 'text'],
  ['forward_status', 'text'],
  ['paid_at_ms', 'bigint'],
  ['received_units', 'numeric'],
  ['forwarded_units', 'numeric'],
  ['txid_in', 'text'],
  ['txid_out', 'text'],
  ['release_due_at_ms', 'bigint'],
  ['release_refusals', 'integer'],
  ['release_refusal_reason', 'text'],
  ['fruitless_batches', 'integer'],
  ['relay_batch_id', 'bigint'],
  ['cancel_reason', 'text'],
  ['release_requested', 'boolean'],
];

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

type PaymentRow = readonly [
  id: string,
  accountId: string,
  createdAtMs: number,
  amountCents: number,
  currency: Currency,
  originalAmountCents: number | null,
  customerFeeCents: number | null,
  passFeeToCustomer: boolean,
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
  releaseRequested: boolean,
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
    passFeeToCustomer: values[7],
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
    releaseRequested: values[34],
  };
  stateOf(payment);
  return payment;
}

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
    payment.note,
    payment.enoughUnits,
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
    payment.fruitlessBatches,
    payment.relayBatchId,
    payment.cancelReason,
    payment.releaseRequested,
  ];
}

/** The values of its key and of the columns that change, in the order of `updatedPaymentColumns`. */
export function updatedPaymentValues(payment: Payment): unknown[] {
  const values = paymentValues(payment);
  return [payment.id, payment.accountId, ...values.slice(fixedColumns.length)];
}
