import { inCurrency, ratesAt } from '../domain/base-currency.ts';
import { type Currency, formatCents, formatRate, formatSigned, type UsdRate } from '../domain/money.ts';
import type { Payment } from '../domain/payment.ts';
import { type PaymentId, shortCodeOf } from '../domain/payment-id.ts';
import type { PaymentQuery } from '../domain/payment-search.ts';
import type { FinalSums, PaymentSearchStore } from '../domain/ports/payment-search-store.ts';
import type { RefundStore } from '../domain/ports/refund-store.ts';
import type { ProviderId } from '../domain/provider-catalogue.ts';
import { type CsvCell, csvLine } from '../platform/csv.ts';
import { appliedUsdRate } from './export-journal.ts';

/** Payments of a portion: some milliseconds of the store's time, with other work between two of them. */
const PORTION = 200;

const nothingYet: FinalSums = { depositedUnits: 0n, forwardedUnits: 0n, feeUnits: 0n };

interface Column {
  readonly name: string;
  readonly cell: (payment: Payment, more: ExportedFacts) => CsvCell;
}

/** Facts of a line besides the payment itself. */
interface ExportedFacts {
  readonly sums: FinalSums;
  readonly refundedUnits: bigint;
  readonly sessionProvider: ProviderId | null;
  readonly baseCurrency: Currency;
  /** USD for one unit of the base currency; null where it is unknown, or the payment is not paid. */
  readonly creationRate: UsdRate | null;
  readonly paidRate: UsdRate | null;
}

const cents = (value: number | null) => (value === null ? null : formatCents(value));
const rate = (value: UsdRate | null) => (value === null ? null : formatRate(value));
const time = (timeMs: number | null) => (timeMs === null ? null : new Date(timeMs).toISOString());

/** The columns. Final amounts add up, in each line and over all of them: deposited = forwarded + fee + held. */
const columns: readonly Column[] = [
  { name: 'payment_id', cell: ({ id }) => id },
  { name: 'short_code', cell: ({ id }) => shortCodeOf(id) },
  { name: 'created_at', cell: ({ createdAtMs }) => time(createdAtMs) },
  { name: 'status', cell: ({ status }) => status },
  { name: 'forward_status', cell: ({ forwardStatus }) => forwardStatus },
  { name: 'paid_at', cell: ({ paidAtMs }) => time(paidAtMs) },
  { name: 'amount', cell: ({ amountCents }) => cents(amountCents) },
  { name: 'currency', cell: ({ currency }) => currency },
  // At creation: what the payment's threshold was computed from.
  { name: 'usd_amount', cell: ({ usdUnits }) => formatSigned(usdUnits) },
  { name: 'usd_rate', cell: appliedUsdRate },
  { name: 'original_amount', cell: ({ originalAmountCents }) => cents(originalAmountCents) },
  { name: 'customer_fee_amount', cell: ({ customerFeeCents }) => cents(customerFeeCents) },
  { name: 'fee_percent', cell: ({ feeBasisPoints }) => cents(feeBasisPoints) },
  { name: 'deposited_usdc', cell: (_, { sums: { depositedUnits } }) => formatSigned(depositedUnits) },
  { name: 'forwarded_usdc', cell: (_, { sums: { forwardedUnits } }) => formatSigned(forwardedUnits) },
  { name: 'fee_usdc', cell: (_, { sums: { feeUnits } }) => formatSigned(feeUnits) },
  {
    name: 'held_usdc',
    cell: (_, { sums: { depositedUnits, forwardedUnits, feeUnits } }) =>
      formatSigned(depositedUnits - forwardedUnits - feeUnits),
  },
  // From the merchant's own wallet, so it is not part of the sums above.
  { name: 'refunded_usdc', cell: (_, { refundedUnits }) => formatSigned(refundedUnits) },
  // As the create request named it: `multi` where the customer chooses.
  { name: 'provider', cell: ({ provider }) => provider },
  { name: 'session_provider', cell: (_, { sessionProvider }) => sessionProvider },
  // 1 USDC counts as 1 USD. Empty where the service read no rate in that hour.
  { name: 'base_currency', cell: (_, { baseCurrency }) => baseCurrency },
  { name: 'base_rate_at_creation', cell: (_, { creationRate }) => rate(creationRate) },
  { name: 'base_rate_at_payment', cell: (_, { paidRate }) => rate(paidRate) },
  {
    name: 'base_forwarded',
    cell: (_, { sums: { forwardedUnits }, paidRate }) =>
      paidRate === null ? null : formatSigned(inCurrency(forwardedUnits, paidRate)),
  },
  { name: 'email', cell: ({ email }) => ({ text: email }) },
  { name: 'note', cell: ({ note }) => ({ text: note }) },
  { name: 'payout_address', cell: ({ payoutAddress }) => payoutAddress },
  { name: 'deposit_address', cell: ({ depositAddress }) => depositAddress },
  { name: 'txid_in', cell: ({ txidIn }) => txidIn },
  { name: 'txid_out', cell: ({ txidOut }) => txidOut },
];

/**
 * The payments of a query as the lines of a CSV, newest first, a portion at a time and only as fast as they are taken.
 * The amounts of USDC are those of the journal.
 */
export async function* exportPayments(
  search: Pick<PaymentSearchStore, 'searchPayments' | 'listFinalSums' | 'listLastSessions' | 'listRates'>,
  refunds: Pick<RefundStore, 'sumPaidRefunds'>,
  baseCurrency: Currency,
  query: PaymentQuery,
): AsyncGenerator<string> {
  yield csvLine(columns.map(({ name }) => name));
  for (let before: PaymentId | null = null; ; ) {
    const { payments, next } = await search.searchPayments(query, before, PORTION);
    const ids = payments.map(({ id }) => id);
    const timesMs = payments.flatMap(({ createdAtMs, paidAtMs }) => [createdAtMs, paidAtMs ?? createdAtMs]);
    const [sums, sessions, refunded, rateAt] = await Promise.all([
      search.listFinalSums(ids),
      search.listLastSessions(query.accountId, ids),
      refunds.sumPaidRefunds(query.accountId, ids),
      ratesAt(search.listRates, baseCurrency, timesMs),
    ]);
    const lines = payments.map((payment) => {
      const more = {
        sums: sums.get(payment.id) ?? nothingYet,
        refundedUnits: refunded.get(payment.id) ?? 0n,
        sessionProvider: sessions.get(payment.id)?.provider ?? null,
        baseCurrency,
        creationRate: rateAt(payment.createdAtMs),
        paidRate: payment.paidAtMs === null ? null : rateAt(payment.paidAtMs),
      };
      return csvLine(columns.map(({ cell }) => cell(payment, more)));
    });
    if (lines.length > 0) yield lines.join('');
    if (next === null) return;
    before = next;
  }
}
