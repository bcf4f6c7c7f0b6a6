import type { RecordStore } from '../accounts/account-store.ts';
import { inCurrency } from '../payment/base-currency.ts';
import { displayStatusOf } from '../payment/display-status.ts';
import type { Currency } from '../payment/money.ts';
import type { PaymentSearchStore } from '../payment/payment-search-store.ts';
import { type PaidCount, type PaymentSlot, settleBoundsMs } from '../payment/payment-statistics.ts';
import { DIRECT_PROVIDER, type ProviderId } from '../payment/provider-catalog.ts';
import { type LocalDay, lastDays } from '../platform/time-zone.ts';

/** Counts and sums of a day in the account's time zone. */
export interface DayStatistics extends LocalDay, Pick<PaymentSlot, (typeof summedFields)[number]> {
  /** Charges of the payments that became paid on this day, by currency. */
  readonly paidCents: ReadonlyMap<Currency, number>;
}
const summedFields = ['created', 'converted', 'paid', 'receivedUnits', 'feeUnits'] as const;

export interface AccountStatistics {
  readonly days: readonly DayStatistics[];
  readonly providers: readonly { readonly provider: PaidCount['provider']; readonly paid: number }[];
  /** Paid payments by time until payment. `boundMs` is null above the last bound. */
  readonly settleTimes: readonly { readonly boundMs: number | null; readonly paid: number }[];
}

/** Reads statistics of the account's last local days. Providers and durations are counted by UTC days. */
export async function readStatistics(
  search: Pick<PaymentSearchStore, 'listSlots' | 'listPaidCounts'>,
  account: { readonly id: string; readonly timeZone: string },
  dayCount: number,
  nowMs: number,
): Promise<AccountStatistics> {
  const days = lastDays(dayCount, nowMs, account.timeZone).map((day) => ({
    ...day,
    created: 0,
    converted: 0,
    paid: 0,
    receivedUnits: 0,
    feeUnits: 0,
    paidCents: new Map<Currency, number>(),
  }));
  const [fromMs, beforeMs] = [days[0]?.startMs ?? nowMs, days.at(-1)?.endMs ?? nowMs];
  const [slots, counts] = await Promise.all([
    Promise.all(
      runsOf(days).map(({ startMs, endMs, dayMs }) => search.listSlots(account.id, startMs, endMs, dayMs)),
    ),
    search.listPaidCounts(account.id, fromMs, beforeMs),
  ]);
  let index = 0;
  for (const slot of slots.flat()) {
    while (slot.startMs >= (days[index]?.endMs ?? Number.POSITIVE_INFINITY)) index++;
    const day = days[index];
    if (day === undefined) break;
    for (const field of summedFields) day[field] += slot[field];
    if (slot.paid > 0)
      day.paidCents.set(slot.currency, (day.paidCents.get(slot.currency) ?? 0) + slot.paidCents);
  }
  return { days, providers: providersOf(counts), settleTimes: settleTimesOf(counts) };
}

/** Returns runs of consecutive days of equal length. A clock change starts a new run. */
function runsOf(days: readonly LocalDay[]) {
  const runs: { readonly startMs: number; readonly endMs: number; readonly dayMs: number }[] = [];
  for (const { startMs, endMs } of days) {
    const last = runs.at(-1);
    const dayMs = endMs - startMs;
    if (last?.dayMs === dayMs) runs[runs.length - 1] = { ...last, endMs };
    else runs.push({ startMs, endMs, dayMs });
  }
  return runs;
}

function providersOf(counts: readonly PaidCount[]): AccountStatistics['providers'] {
  const sums = new Map<PaidCount['provider'], number>();
  for (const { provider, paid } of counts) sums.set(provider, (sums.get(provider) ?? 0) + paid);
  return [...sums]
    .map(([provider, paid]) => ({ provider, paid }))
    .sort((one, other) => other.paid - one.paid);
}

function settleTimesOf(counts: readonly PaidCount[]): AccountStatistics['settleTimes'] {
  return [...settleBoundsMs, null].map((boundMs, settleClass) => ({
    boundMs,
    paid: counts.reduce((sum, count) => sum + (count.settleClass === settleClass ? count.paid : 0), 0),
  }));
}

/** Converts a day's received amount in 10⁻⁶ USDC to 10⁻⁶ of a currency; null for a day before the first known rate. */
export type ToBase = (day: LocalDay, units: number) => number | null;

/** How far before the first day rates are read, for days that have no rate of their own. */
const MAXIMUM_GAP_MS = 7 * 86_400_000;

/** Returns a converter that uses a day's first rate or, if it has none, the last earlier rate. */
export async function readBaseRates(
  search: Pick<PaymentSearchStore, 'listRates'>,
  currency: Currency,
  days: readonly LocalDay[],
): Promise<ToBase> {
  if (currency === 'USD') return (_day, units) => units;
  const listed = await search.listRates(
    currency,
    (days[0]?.startMs ?? 0) - MAXIMUM_GAP_MS,
    days.at(-1)?.endMs ?? 0,
  );
  const rates = [...listed].sort((one, other) => one.hourMs - other.hourMs);
  return ({ startMs, endMs }, units) => {
    const rate =
      rates.find(({ hourMs }) => hourMs >= startMs && hourMs < endMs) ??
      rates.findLast(({ hourMs }) => hourMs < endMs);
    return rate === undefined ? null : Number(inCurrency(BigInt(units), rate.usdRate));
  };
}

/** Number of newest payments read for funnels and costs. Enough for percentages, and read within milliseconds. */
const FUNNEL_PAYMENTS = 500;

/** Returns the share of the newest paid payments' charges that providers and the service kept; null without any. */
export async function readCostShare(
  search: Pick<PaymentSearchStore, 'searchPayments'>,
  accountId: string,
  fromMs: number,
): Promise<number | null> {
  const query = { accountId, fromMs, status: 'paid' } as const;
  const { payments } = await search.searchPayments(query, null, FUNNEL_PAYMENTS);
  let [charged, kept] = [0n, 0n];
  for (const { usdUnits, receivedUnits, forwardedUnits } of payments) {
    if (forwardedUnits === 0n) continue;
    charged += usdUnits;
    // Ignores a surplus, which is not a negative cost.
    kept += receivedUnits - forwardedUnits + (usdUnits > receivedUnits ? usdUnits - receivedUnits : 0n);
  }
  return charged === 0n ? null : Number(kept) / Number(charged);
}

/** Progress of customers at each provider, in a period's newest payments. */
export interface Funnel {
  readonly created: number;
  /** Payments whose checkout page a customer opened. */
  readonly opened: number;
  /** Whether the period has more payments than were counted. */
  readonly isSample: boolean;
  /** Counts by provider of the last session, most chosen first. */
  readonly providers: readonly ProviderFunnel[];
}

interface ProviderFunnel {
  readonly provider: ProviderId;
  readonly chose: number;
  readonly paid: number;
  readonly declined: number;
  readonly atProvider: number;
}

export async function readFunnel(
  {
    search,
    records,
  }: Readonly<{
    search: Pick<PaymentSearchStore, 'searchPayments' | 'listLastSessions'>;
    records: Pick<RecordStore, 'listRecords'>;
  }>,
  accountId: string,
  fromMs: number,
  nowMs: number,
): Promise<Funnel> {
  const { payments, next } = await search.searchPayments({ accountId, fromMs }, null, FUNNEL_PAYMENTS);
  const byCard = payments.filter(({ provider }) => provider !== DIRECT_PROVIDER);
  const ids = byCard.map(({ id }) => id);
  const [sessions, opened] = await Promise.all([
    search.listLastSessions(accountId, ids),
    records.listRecords(accountId, 'opened', ids),
  ]);
  const providers = new Map<ProviderId, ProviderFunnel>();
  for (const payment of byCard) {
    const session = sessions.get(payment.id);
    if (session === undefined) continue;
    const { provider } = session;
    const sums = providers.get(provider) ?? { provider, chose: 0, paid: 0, declined: 0, atProvider: 0 };
    const status = displayStatusOf(payment, session, nowMs);
    providers.set(provider, {
      provider,
      chose: sums.chose + 1,
      paid: sums.paid + Number(payment.status === 'paid'),
      declined: sums.declined + Number(status === 'declined'),
      atProvider: sums.atProvider + Number(status === 'at_provider'),
    });
  }
  return {
    created: byCard.length,
    // Counts payments with a session as opened, even if the record of the visit was lost.
    opened: new Set([...opened.map(({ name }) => name), ...sessions.keys()]).size,
    isSample: next !== null,
    providers: [...providers.values()].sort((one, other) => other.chose - one.chose),
  };
}
