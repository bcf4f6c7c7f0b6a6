import { inCurrency } from '../payment/base-currency.ts';
import { type Currency, formatCents, formatRate, formatSigned, type UsdRate } from '../payment/money.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import { shortCodeOf } from '../payment/payment-id.ts';
import type { PaymentQuery } from '../payment/payment-search.ts';
import type { PaymentSearchStore } from '../payment/payment-search-store.ts';
import { type CsvCell, csvLine } from '../platform/csv.ts';
import { appliedUsdRate, type ReportedPayment, readReported } from './journal-and-statement.ts';

/** Payments per chunk. The store reads a chunk in a few milliseconds. */
const PORTION = 200;

type Cell = (payment: Payment, more: ReportedPayment & { readonly baseCurrency: Currency }) => CsvCell;

const cents = (value: number | null) => (value === null ? null : formatCents(value));
const rate = (value: UsdRate | null) => (value === null ? null : formatRate(value));
const time = (timeMs: number | null) => (timeMs === null ? null : new Date(timeMs).toISOString());

/** CSV columns. USDC amounts are final, and in each line and in total, deposited = forwarded + fee + held. */
const columns: Readonly<Record<string, Cell>> = {
  payment_id: ({ id }) => id,
  short_code: ({ id }) => shortCodeOf(id),
  created_at: ({ createdAtMs }) => time(createdAtMs),
  status: ({ status }) => status,
  forward_status: ({ forwardStatus }) => forwardStatus,
  paid_at: ({ paidAtMs }) => time(paidAtMs),
  amount: ({ amountCents }) => cents(amountCents),
  currency: ({ currency }) => currency,
  // Converted at the rate when the payment was created, which the paid threshold also uses.
  usd_amount: ({ usdUnits }) => formatSigned(usdUnits),
  usd_rate: appliedUsdRate,
  original_amount: ({ originalAmountCents }) => cents(originalAmountCents),
  customer_fee_amount: ({ customerFeeCents }) => cents(customerFeeCents),
  fee_percent: ({ feeBasisPoints }) => cents(feeBasisPoints),
  deposited_usdc: (_, { sums: { depositedUnits } }) => formatSigned(depositedUnits),
  forwarded_usdc: (_, { sums: { forwardedUnits } }) => formatSigned(forwardedUnits),
  fee_usdc: (_, { sums: { feeUnits } }) => formatSigned(feeUnits),
  held_usdc: (_, { sums: { depositedUnits, forwardedUnits, feeUnits } }) =>
    formatSigned(depositedUnits - forwardedUnits - feeUnits),
  // As in the create request: `multi` if the customer chooses.
  provider: ({ provider }) => provider,
  session_provider: (_, { sessionProvider }) => sessionProvider,
  // Treats 1 USDC as 1 USD. A rate is empty if the rate of its hour is unknown.
  base_currency: (_, { baseCurrency }) => baseCurrency,
  base_rate_at_creation: (_, { creationRate }) => rate(creationRate),
  base_rate_at_payment: (_, { paidRate }) => rate(paidRate),
  base_forwarded: (_, { sums: { forwardedUnits }, paidRate }) =>
    paidRate === null ? null : formatSigned(inCurrency(forwardedUnits, paidRate)),
  email: ({ email }) => ({ text: email }),
  note: ({ note }) => ({ text: note }),
  reference: ({ reference }) => ({ text: reference }),
  payout_address: ({ payoutAddress }) => payoutAddress,
  deposit_address: ({ depositAddress }) => depositAddress,
  txid_in: ({ txidIn }) => txidIn,
  txid_out: ({ txidOut }) => txidOut,
};

export interface AddedColumns {
  readonly after: string;
  readonly names: readonly string[];
  readonly read: (
    accountId: string,
    ids: readonly PaymentId[],
  ) => Promise<(id: PaymentId) => readonly CsvCell[]>;
}

/** Yields a query's payments as CSV lines, newest first. Reads on demand. USDC amounts come from the journal. */
export async function* exportPayments(
  search: PaymentSearchStore,
  baseCurrency: Currency,
  query: PaymentQuery,
  added: readonly AddedColumns[],
): AsyncGenerator<string> {
  const namesAfter = (column: string) => added.flatMap(({ after, names }) => (after === column ? names : []));
  yield csvLine(Object.keys(columns).flatMap((column) => [column, ...namesAfter(column)]));
  for (let before: PaymentId | null = null; ; ) {
    const { payments, next } = await search.searchPayments(query, before, PORTION);
    const ids = payments.map(({ id }) => id);
    const [reported, ...addedCells] = await Promise.all([
      readReported(search, { id: query.accountId, baseCurrency }, payments),
      ...added.map(async ({ after, read }) => ({ after, cellsOf: await read(query.accountId, ids) })),
    ]);
    const lines = reported.map((facts) => {
      const { payment } = facts;
      const cells = Object.entries(columns).flatMap(([column, cell]) => [
        cell(payment, { ...facts, baseCurrency }),
        ...addedCells.flatMap(({ after, cellsOf }) => (after === column ? cellsOf(payment.id) : [])),
      ]);
      return csvLine(cells);
    });
    if (lines.length > 0) yield lines.join('');
    if (next === null) return;
    before = next;
  }
}
