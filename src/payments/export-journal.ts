import { type Currency, formatCents, formatUnits, UNITS_PER_CENT } from '../domain/money.ts';
import type { Payment } from '../domain/payment.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { PaymentQuery } from '../domain/payment-search.ts';
import type { FinalSums, PaymentSearchStore } from '../domain/ports/payment-search-store.ts';
import { csvLine } from '../platform/csv.ts';
import type { LocalMonth } from '../platform/time-zone.ts';

/** Payments that one call of the store reads. */
const PORTION = 200;
/** Payments that a statement reads at most: some seconds. The CSV of a larger month is streamed. */
const MAXIMUM_STATEMENT_PAYMENTS = 50_000;

/** A payment of a month with money that is final. */
interface BookedPayment {
  readonly payment: Payment;
  readonly sums: FinalSums;
  /** The presumed provider: that of the last session before the payment was paid. */
  readonly provider: Payment['provider'];
}

/** Accounts of the double-entry journal, with what each contains. */
export const journalAccounts = {
  sales: 'The USD value of the charges of paid payments, at the rate of their creation.',
  surplus: 'What arrived for paid payments above that value.',
  unassigned_deposits: 'What arrived for payments that are not paid.',
  payout_wallet: 'What your wallet received.',
  service_fees: 'What the service kept.',
  provider_costs: 'What the provider kept: the USD value less what arrived.',
  deposit_address: 'What is still at the deposit addresses.',
} as const;

/** One line: one of both amounts is zero, in 10⁻⁶ USDC. */
interface Posting {
  readonly account: keyof typeof journalAccounts;
  readonly debitUnits: bigint;
  readonly creditUnits: bigint;
}

/**
 * The postings of a payment, whose debits equal its credits: what its customer was charged, and where the money is.
 * 1 USDC counts as 1 USD.
 */
export function postingsOf(payment: Pick<Payment, 'status' | 'usdUnits'>, sums: FinalSums): Posting[] {
  const { depositedUnits, forwardedUnits, feeUnits } = sums;
  const costUnits = payment.usdUnits - depositedUnits;
  const credits: Posting[] =
    payment.status === 'paid'
      ? [
          credit('sales', payment.usdUnits),
          costUnits > 0n ? debit('provider_costs', costUnits) : credit('surplus', -costUnits),
        ]
      : [credit('unassigned_deposits', depositedUnits)];
  return [
    ...credits,
    debit('payout_wallet', forwardedUnits),
    debit('service_fees', feeUnits),
    debit('deposit_address', depositedUnits - forwardedUnits - feeUnits),
  ].filter(({ debitUnits, creditUnits }) => debitUnits !== creditUnits);
}

/** A negative amount, where the chain took back what was final, is on the other side. */
function debit(account: Posting['account'], units: bigint): Posting {
  return { account, debitUnits: units > 0n ? units : 0n, creditUnits: units < 0n ? -units : 0n };
}

function credit(account: Posting['account'], units: bigint): Posting {
  return debit(account, -units);
}

type Search = Pick<PaymentSearchStore, 'searchPayments' | 'listFinalSums' | 'listLastSessions' | 'listSlots'>;

/**
 * The payments that belong to a month, a portion at a time: those paid in it, and those created in it that are not paid
 * and have money. Payments that were created before are read until all that were counted as paid in it are found.
 */
async function* listBooked(
  search: Search,
  accountId: string,
  { startMs, endMs }: LocalMonth,
): AsyncGenerator<{ readonly read: number; readonly booked: readonly BookedPayment[] }> {
  const slots = await search.listSlots(accountId, startMs, endMs, endMs - startMs);
  let uncounted = slots.reduce((sum, { paid }) => sum + paid, 0);
  const queries: PaymentQuery[] = [
    { accountId, fromMs: startMs, beforeMs: endMs },
    { accountId, status: 'paid', beforeMs: startMs },
  ];
  for (const query of queries) {
    const isEarlier = query.fromMs === undefined;
    for (let before: PaymentId | null = null; !isEarlier || uncounted > 0; ) {
      const { payments, next } = await search.searchPayments(query, before, PORTION);
      const ofMonth = payments.filter(({ status, paidAtMs }) =>
        status === 'paid' ? paidAtMs !== null && paidAtMs >= startMs && paidAtMs < endMs : !isEarlier,
      );
      uncounted -= ofMonth.filter(({ status }) => status === 'paid').length;
      yield { read: payments.length, booked: await addSums(search, accountId, ofMonth) };
      if (next === null) break;
      before = next;
    }
  }
}

async function addSums(
  search: Search,
  accountId: string,
  payments: readonly Payment[],
): Promise<BookedPayment[]> {
  const ids = payments.map(({ id }) => id);
  const [sums, sessions] = await Promise.all([
    search.listFinalSums(ids),
    search.listLastSessions(accountId, ids),
  ]);
  const booked = payments.map((payment) => ({
    payment,
    sums: sums.get(payment.id) ?? { depositedUnits: 0n, forwardedUnits: 0n, feeUnits: 0n },
    provider: sessions.get(payment.id)?.provider ?? payment.provider,
  }));
  return booked.filter(
    ({ payment, sums }) => payment.status === 'paid' || Object.values(sums).some((units) => units !== 0n),
  );
}

/** The USD for one unit of the currency at which the charge was converted, with six decimals. */
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
];

/** The double-entry journal of a month as the lines of a CSV, a portion at a time. */
export async function* exportJournal(
  search: Search,
  accountId: string,
  month: LocalMonth,
): AsyncGenerator<string> {
  // Together with the first portion, so that a failure comes before anything is sent.
  let head = csvLine([...columns, 'usd_rate']);
  for await (const { booked } of listBooked(search, accountId, month)) {
    yield head + booked.map(journalLines).join('');
    head = '';
  }
}

function journalLines({ payment, sums, provider }: BookedPayment): string {
  const { id, paidAtMs, createdAtMs, amountCents, currency } = payment;
  const date = new Date(paidAtMs ?? createdAtMs).toISOString();
  const units = (value: bigint) => (value === 0n ? null : formatUnits(value));
  const charge = [provider, formatCents(amountCents), currency];
  return postingsOf(payment, sums)
    .map(({ account, debitUnits, creditUnits }) =>
      csvLine([date, id, account, units(debitUnits), units(creditUnits), ...charge, appliedUsdRate(payment)]),
    )
    .join('');
}

/** Sums of paid payments, in 10⁻⁶ USDC. */
export interface StatementSums {
  paid: number;
  chargedUnits: bigint;
  deliveredUnits: bigint;
}

export interface Statement {
  readonly paid: number;
  /** What customers were charged, by currency. */
  readonly paidCents: ReadonlyMap<Currency, number>;
  readonly providers: ReadonlyMap<Payment['provider'], StatementSums>;
  /** Debits less credits of each account; the sum of all is zero. */
  readonly balances: ReadonlyMap<keyof typeof journalAccounts, bigint>;
}

/** The sums of a month; null when it has too many payments to be read at once. */
export async function readStatement(
  search: Search,
  accountId: string,
  month: LocalMonth,
): Promise<Statement | null> {
  let [read, paid] = [0, 0];
  const paidCents = new Map<Currency, number>();
  const providers = new Map<Payment['provider'], StatementSums>();
  const balances = new Map<keyof typeof journalAccounts, bigint>();
  for await (const portion of listBooked(search, accountId, month)) {
    read += portion.read;
    if (read > MAXIMUM_STATEMENT_PAYMENTS) return null;
    for (const { payment, sums, provider } of portion.booked) {
      for (const { account, debitUnits, creditUnits } of postingsOf(payment, sums)) {
        balances.set(account, (balances.get(account) ?? 0n) + debitUnits - creditUnits);
      }
      if (payment.status !== 'paid') continue;
      const { currency, amountCents, usdUnits } = payment;
      paid++;
      paidCents.set(currency, (paidCents.get(currency) ?? 0) + amountCents);
      const own = providers.get(provider) ?? { paid: 0, chargedUnits: 0n, deliveredUnits: 0n };
      own.paid++;
      own.chargedUnits += usdUnits;
      own.deliveredUnits += sums.depositedUnits;
      providers.set(provider, own);
    }
  }
  return { paid, paidCents, providers, balances };
}
