import type { Account } from '../accounts/account.ts';
import { inCurrency, ratesAt } from '../payment/base-currency.ts';
import {
  type Currency,
  formatCents,
  formatRate,
  formatUnits,
  UNITS_PER_CENT,
  type UsdRate,
} from '../payment/money.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import type { PaymentQuery } from '../payment/payment-search.ts';
import type { FinalSums, PaymentSearchStore } from '../payment/payment-search-store.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import { csvLine } from '../platform/csv.ts';
import type { LocalMonth } from '../platform/time-zone.ts';

const PORTION = 200;
/** Maximum payments read for a statement, so that it takes only a few seconds. Larger months can be exported as CSV. */
const MAXIMUM_STATEMENT_PAYMENTS = 50_000;

export interface ReportedPayment {
  readonly payment: Payment;
  readonly sums: FinalSums;
  readonly sessionProvider: ProviderId | null;
  /** USD for one unit of the base currency; null if unknown. `paidRate` is also null for an unpaid payment. */
  readonly creationRate: UsdRate | null;
  readonly paidRate: UsdRate | null;
}

export const journalAccounts = {
  sales: 'The USD value of the charges of paid payments, at the rate of their creation.',
  surplus: 'What arrived for paid payments above that value.',
  unassigned_deposits: 'What arrived for payments that are not paid.',
  payout_wallet: 'What your wallet received.',
  service_fees: 'What the service kept.',
  provider_costs:
    'What the provider kept, and what you accepted as missing: the USD value less what arrived.',
  deposit_address: 'What is still at the deposit addresses.',
} as const;

/** Debit in 10⁻⁶ USDC, or credit if negative. */
interface Posting {
  readonly account: keyof typeof journalAccounts;
  readonly units: bigint;
}

/**
 * Returns a payment's postings, which add up to zero. 1 USDC counts as 1 USD. A reorganization that reverses a final
 * transaction can make an amount negative. The amount is then posted on the opposite side.
 */
export function postingsOf(payment: Pick<Payment, 'status' | 'usdUnits'>, sums: FinalSums): Posting[] {
  const { depositedUnits, forwardedUnits, feeUnits } = sums;
  const costUnits = payment.usdUnits - depositedUnits;
  const received: Posting[] =
    payment.status === 'paid'
      ? [
          { account: 'sales', units: -payment.usdUnits },
          { account: costUnits > 0n ? 'provider_costs' : 'surplus', units: costUnits },
        ]
      : [{ account: 'unassigned_deposits', units: -depositedUnits }];
  const sent: Posting[] = [
    { account: 'payout_wallet', units: forwardedUnits },
    { account: 'service_fees', units: feeUnits },
    { account: 'deposit_address', units: depositedUnits - forwardedUnits - feeUnits },
  ];
  return [...received, ...sent].filter(({ units }) => units !== 0n);
}

type Search = Pick<PaymentSearchStore, 'searchPayments' | 'listFinalSums' | 'listLastSessions' | 'listRates'>;

type ReportedAccount = Pick<Account, 'id' | 'baseCurrency'>;

/** Yields payments paid in a month, and unpaid payments created in it that received money. Yields them in chunks. */
async function* listBooked(
  search: Search,
  account: ReportedAccount,
  { startMs, endMs }: LocalMonth,
): AsyncGenerator<{ readonly read: number; readonly booked: readonly ReportedPayment[] }> {
  const { id: accountId } = account;
  const queries: PaymentQuery[] = [
    { accountId, fromMs: startMs, beforeMs: endMs },
    { accountId, paid: { fromMs: startMs, beforeMs: endMs }, beforeMs: startMs },
  ];
  for (const query of queries) {
    for (let before: PaymentId | null = null; ; ) {
      const { payments, next } = await search.searchPayments(query, before, PORTION);
      const ofMonth = payments.filter(({ status, paidAtMs, createdAtMs }) =>
        status === 'paid'
          ? paidAtMs !== null && paidAtMs >= startMs && paidAtMs < endMs
          : createdAtMs >= startMs,
      );
      const reported = await readReported(search, account, ofMonth);
      yield { read: payments.length, booked: reported.filter(isBooked) };
      if (next === null) break;
      before = next;
    }
  }
}

const nothingYet: FinalSums = { depositedUnits: 0n, forwardedUnits: 0n, feeUnits: 0n };

export async function readReported(
  search: Search,
  { id: accountId, baseCurrency }: ReportedAccount,
  payments: readonly Payment[],
): Promise<ReportedPayment[]> {
  const ids = payments.map(({ id }) => id);
  const timesMs = payments.flatMap((payment) => [payment.createdAtMs, dateOf(payment)]);
  const [sums, sessions, rateAt] = await Promise.all([
    search.listFinalSums(ids),
    search.listLastSessions(accountId, ids),
    ratesAt(search.listRates, baseCurrency, timesMs),
  ]);
  return payments.map((payment) => ({
    payment,
    sums: sums.get(payment.id) ?? nothingYet,
    sessionProvider: sessions.get(payment.id)?.provider ?? null,
    creationRate: rateAt(payment.createdAtMs),
    paidRate: payment.paidAtMs === null ? null : rateAt(payment.paidAtMs),
  }));
}

function isBooked({ payment, sums }: ReportedPayment): boolean {
  return payment.status === 'paid' || Object.values(sums).some((units) => units !== 0n);
}

const providerOf = ({ payment, sessionProvider }: ReportedPayment) => sessionProvider ?? payment.provider;

/** Returns the rate of the hour in which the payment was paid or, if unpaid, created. */
const baseRateOf = ({ payment, paidRate, creationRate }: ReportedPayment) =>
  payment.paidAtMs === null ? creationRate : paidRate;

function dateOf({ paidAtMs, createdAtMs }: Payment): number {
  return paidAtMs ?? createdAtMs;
}

/** Returns the rate that converted the charge: USD for one unit of its currency, with six decimals. */
export function appliedUsdRate({ usdUnits, amountCents }: Payment): string {
  return formatUnits((usdUnits * 1_000_000n) / (BigInt(amountCents) * UNITS_PER_CENT));
}

const columns = [
  'date',
  'payment_id',
  'account',
  'debit_usd',
  'credit_usd',
  'provider',
  'amount',
  'currency',
  'usd_rate',
  'base_currency',
  'base_rate',
];

export async function* exportJournal(
  search: Search,
  account: ReportedAccount,
  month: LocalMonth,
): AsyncGenerator<string> {
  // Sent with the first chunk, so that a failure of the first read precedes any output.
  let head = csvLine(columns);
  for await (const { booked } of listBooked(search, account, month)) {
    yield head + booked.map((payment) => journalLines(payment, account.baseCurrency)).join('');
    head = '';
  }
}

function journalLines(reported: ReportedPayment, baseCurrency: Currency): string {
  const { payment, sums } = reported;
  const { id, amountCents, currency } = payment;
  const date = new Date(dateOf(payment)).toISOString();
  const units = (value: bigint) => (value > 0n ? formatUnits(value) : null);
  const charge = [providerOf(reported), formatCents(amountCents), currency, appliedUsdRate(payment)];
  const baseRate = baseRateOf(reported);
  const base = [baseCurrency, baseRate === null ? null : formatRate(baseRate)];
  return postingsOf(payment, sums)
    .map((posting) =>
      csvLine([date, id, posting.account, units(posting.units), units(-posting.units), ...charge, ...base]),
    )
    .join('');
}

/** Sums of paid payments, in 10⁻⁶ USDC. */
export interface StatementSums {
  paid: number;
  chargedUnits: bigint;
  keptUnits: bigint;
  surplusUnits: bigint;
}

export interface BaseSums {
  readonly currency: Currency;
  chargedUnits: bigint;
  forwardedUnits: bigint;
  feeUnits: bigint;
  /** Number of paid payments that the sums omit, because the rate of their hour is unknown. */
  paymentsWithoutRate: number;
}

export interface Statement {
  readonly paid: number;
  readonly paidCents: ReadonlyMap<Currency, number>;
  readonly providers: ReadonlyMap<Payment['provider'], StatementSums>;
  /** Sums of paid payments in the base currency, each at the rate when it was paid, in 10⁻⁶ units. */
  readonly inBase: BaseSums;
  /** Debits less credits of each account. Across all accounts, they sum to zero. */
  readonly balances: ReadonlyMap<keyof typeof journalAccounts, bigint>;
}

const floorCents = (units: bigint) => units / UNITS_PER_CENT - (units % UNITS_PER_CENT < 0n ? 1n : 0n);

export const sumOf = (values: readonly bigint[]) => values.reduce((sum, value) => sum + value, 0n);

/** Rounds amounts to cents by largest remainder, so that they add up to their rounded sum. */
export function roundedCents(units: readonly bigint[]): bigint[] {
  const cents = units.map(floorCents);
  const missing = Number(floorCents(sumOf(units) + UNITS_PER_CENT / 2n) - sumOf(cents));
  const left = (index: number) => Number((units[index] ?? 0n) - (cents[index] ?? 0n) * UNITS_PER_CENT);
  const order = [...units.keys()].sort((one, other) => left(other) - left(one));
  for (const index of order.slice(0, missing)) cents[index] = (cents[index] ?? 0n) + 1n;
  return cents;
}

/** Returns a month's sums; null above `MAXIMUM_STATEMENT_PAYMENTS`. */
export async function readStatement(
  search: Search,
  account: ReportedAccount,
  month: LocalMonth,
): Promise<Statement | null> {
  let [read, paid] = [0, 0];
  const paidCents = new Map<Currency, number>();
  const providers = new Map<Payment['provider'], StatementSums>();
  const balances = new Map<keyof typeof journalAccounts, bigint>();
  const nothing = { chargedUnits: 0n, forwardedUnits: 0n, feeUnits: 0n, paymentsWithoutRate: 0 };
  const inBase: BaseSums = { currency: account.baseCurrency, ...nothing };
  for await (const portion of listBooked(search, account, month)) {
    read += portion.read;
    if (read > MAXIMUM_STATEMENT_PAYMENTS) return null;
    for (const reported of portion.booked) {
      const { payment, sums } = reported;
      for (const { account, units } of postingsOf(payment, sums)) {
        balances.set(account, (balances.get(account) ?? 0n) + units);
      }
      if (payment.status !== 'paid') continue;
      const { currency, amountCents, usdUnits } = payment;
      paid++;
      paidCents.set(currency, (paidCents.get(currency) ?? 0) + amountCents);
      const provider = providerOf(reported);
      const own = providers.get(provider) ?? { paid: 0, chargedUnits: 0n, keptUnits: 0n, surplusUnits: 0n };
      own.paid++;
      own.chargedUnits += usdUnits;
      const costUnits = usdUnits - sums.depositedUnits;
      own[costUnits > 0n ? 'keptUnits' : 'surplusUnits'] += costUnits > 0n ? costUnits : -costUnits;
      providers.set(provider, own);
      const baseRate = baseRateOf(reported);
      if (baseRate === null) {
        inBase.paymentsWithoutRate++;
        continue;
      }
      inBase.chargedUnits += inCurrency(usdUnits, baseRate);
      inBase.forwardedUnits += inCurrency(sums.forwardedUnits, baseRate);
      inBase.feeUnits += inCurrency(sums.feeUnits, baseRate);
    }
  }
  return { paid, paidCents, providers, inBase, balances };
}
