/** The statement, the journal, the sums by day and `verify` describe the same money. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { verifyPayments } from '../../src/cli/verify/verify-payments.ts';
import { hourOf, inCurrency } from '../../src/payment/base-currency.ts';
import {
  type Currency,
  formatSigned,
  formatUnits,
  parseUnits,
  parseUsdRate,
} from '../../src/payment/money.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { dateAt, monthOf } from '../../src/platform/time-zone.ts';
import { exportPayments } from '../../src/reports/export-payments.ts';
import {
  exportJournal,
  postingsOf,
  readStatement,
  roundedCents,
  type Statement,
} from '../../src/reports/journal-and-statement.ts';
import { readStatistics } from '../../src/reports/read-statistics.ts';
import { leave, newPayment, newSession } from '../store/fixtures.ts';
import { block, depositOf, releaseOf, scan } from '../store/observations.ts';
import { type ApiService, useApi } from '../support/api-service.ts';

const DAY_MS = 86_400_000;
const DAYS = 150;
let service = {} as ApiService;
let lastBlock = 10;

useApi((api) => (service = api), { requestsPerMinute: 1_000_000 });
beforeAll(() => service.store.observations.startCursor(block(lastBlock)));

const units = fc.bigInt({ min: 1n, max: 400_000_000n });
const madePayment = fc.record({
  amountCents: fc.integer({ min: 1, max: 1_000_000 }),
  usdUnits: units,
  currency: fc.constantFrom('USD', 'EUR', 'INR'),
  provider: fc.constantFrom('multi', 'wert', 'direct'),
  sessionProvider: fc.option(fc.constantFrom('stripe', 'moonpay'), { nil: null }),
  ageMs: fc.integer({ min: 40 * DAY_MS, max: (DAYS - 5) * DAY_MS }),
  outcome: fc.constantFrom('paid', 'paid', 'unpaid', 'canceled'),
  paidAfterMs: fc.integer({ min: 1_000, max: 39 * DAY_MS }),
  deposits: fc.array(units, { maxLength: 3 }),
  releases: fc.array(fc.tuple(units, units), { maxLength: 2 }),
});
type MadePayment = typeof madePayment extends fc.Arbitrary<infer Made> ? Made : never;

const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);

/** An account with these payments, their money in final blocks. */
async function startShop(made: readonly MadePayment[], timeZone: string, baseCurrency: Currency = 'USD') {
  const { account, apiKey } = await service.addAccount({ timeZone, baseCurrency });
  const { payments, observations } = service.store;
  const now = Date.now();
  const from = lastBlock;
  const deposits = [];
  const releases = [];
  for (const each of made) {
    const createdAtMs = now - each.ageMs;
    const { amountCents, usdUnits, provider } = each;
    const payment = await create(account, createdAtMs, {
      amountCents,
      usdUnits,
      currency: each.currency as Payment['currency'],
      provider: provider as Payment['provider'],
    });
    if (each.sessionProvider !== null) {
      const session = { provider: each.sessionProvider as 'stripe', createdAtMs: createdAtMs + 1 };
      await payments.addSession(newSession(payment, session), leave);
    }
    lastBlock++;
    deposits.push(...each.deposits.map((amount, index) => depositOf(payment, lastBlock, index, amount)));
    for (const [index, [toMerchantUnits, feeUnits]] of each.releases.entries())
      releases.push({ ...releaseOf(payment, lastBlock, 10 + index), toMerchantUnits, feeUnits });
    if (each.outcome === 'unpaid') continue;
    const isPaid = each.outcome === 'paid';
    await payments.decidePayment(payment.id, () => ({
      change: isPaid
        ? {
            status: 'paid',
            forwardStatus: 'completed',
            paidAtMs: createdAtMs + each.paidAfterMs,
            receivedUnits: sum(each.releases.flat()),
            forwardedUnits: sum(each.releases.map(([toMerchantUnits]) => toMerchantUnits)),
          }
        : { status: 'canceled', forwardStatus: 'canceled', cancelReason: 'expired' },
    }));
  }
  await observations.recordScan(scan(from, lastBlock, lastBlock, { deposits, releases }), leave);
  return { account, apiKey };
}

function monthsOf(timeZone: string): string[] {
  const now = Date.now();
  const dates = Array.from({ length: DAYS + 1 }, (_, index) => dateAt(now - index * DAY_MS, timeZone));
  return [...new Set(dates.map((date) => date.slice(0, 7)))];
}

const monthIn = ({ timeZone }: Account, month: string) =>
  monthOf(month, timeZone) as NonNullable<ReturnType<typeof monthOf>>;
const statementOf = async (account: Account, month: string) =>
  (await readStatement(service.store.search, account, monthIn(account, month))) as Statement;

async function create({ id: accountId }: Account, createdAtMs: number, change: Partial<Payment> = {}) {
  const id = createPaymentIdGenerator(() => createdAtMs)();
  const payment = newPayment(accountId, { id, createdAtMs, ...change });
  await service.store.payments.createPayment(payment, null);
  return payment;
}

const payAt = ({ id }: Payment, paidAtMs: number) =>
  service.store.payments.decidePayment(id, () => ({
    change: { status: 'paid', forwardStatus: 'completed', paidAtMs },
  }));

async function journalOf(search: Parameters<typeof exportJournal>[0], account: Account, month: string) {
  let text = '';
  for await (const portion of exportJournal(search, account, monthIn(account, month))) text += portion;
  return text;
}

async function readJournalCsv(apiKey: string, month: string) {
  const answer = await service.server.inject({
    url: `/merchant/v1/journal.csv?month=${month}`,
    headers: { 'x-api-key': apiKey },
  });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  const [head = '', ...lines] = answer.body.split('\r\n').slice(0, -1);
  const names = head.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    const cell = (name: string) => cells[names.indexOf(name)] ?? '';
    const amount = (name: string) => parseUnits(cell(name) || '0') as bigint;
    return {
      payment: cell('payment_id'),
      account: cell('account'),
      debit: amount('debit_usd'),
      credit: amount('credit_usd'),
      amount: cell('amount'),
      currency: cell('currency'),
      provider: cell('provider'),
    };
  });
}

const totalsNow = async () =>
  (await verifyPayments({ ...service.store, chain: null, nowMs: Date.now, pause: async () => {} })).totals;

describe('the journal', () => {
  it('has debits that equal its credits, whatever happened to a payment', () => {
    const any = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n });
    fc.assert(
      fc.property(
        fc.constantFrom('paid', 'unpaid', 'canceled'),
        units,
        fc.tuple(any, any, any),
        (status, usdUnits, [depositedUnits, forwardedUnits, feeUnits]) => {
          const sums = { depositedUnits, forwardedUnits, feeUnits };
          const postings = postingsOf({ status: status as Payment['status'], usdUnits }, sums);
          expect(sum(postings.map(({ units }) => units))).toBe(0n);
          expect(postings.filter(({ units }) => units === 0n)).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is shown in cents that add up, each less than a cent from its amount', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: -(10n ** 13n), max: 10n ** 13n }), { minLength: 1, maxLength: 8 }),
        (amounts) => {
          const cents = roundedCents(amounts);
          const missing = sum(cents) * 10_000n - sum(amounts);
          expect(missing >= -5_000n && missing <= 5_000n).toBe(true);
          for (const [index, amount] of amounts.entries()) {
            const away = (cents[index] as bigint) * 10_000n - amount;
            expect(away > -10_000n && away < 10_000n).toBe(true);
          }
        },
      ),
    );
  });

  it('agrees to the unit with statement, sums by day, dashboard statistics and verify', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(madePayment, { minLength: 1, maxLength: 12 }),
        fc.constantFrom('UTC', 'Asia/Kolkata', 'America/New_York', 'Pacific/Auckland'),
        async (made, timeZone) => {
          const before = await totalsNow();
          const { account, apiKey } = await startShop(made, timeZone);
          const after = await totalsNow();
          const { search } = service.store;
          const moved = { deposited: 0n, forwarded: 0n, fee: 0n, held: 0n };
          const statements: [string, Statement][] = [];
          for (const month of monthsOf(timeZone)) {
            const statement = await statementOf(account, month);
            statements.push([month, statement]);
            const lines = await readJournalCsv(apiKey, month);
            expect(sum(lines.map(({ debit }) => debit))).toBe(sum(lines.map(({ credit }) => credit)));
            for (const name of new Set([
              ...statement.balances.keys(),
              ...lines.map((line) => line.account),
            ])) {
              const own = lines.filter(({ account: each }) => each === name);
              const balance = sum(own.map(({ debit, credit }) => debit - credit));
              expect([name, statement.balances.get(name as never) ?? 0n]).toEqual([name, balance]);
            }
            const sales = lines.filter(({ account: each }) => each === 'sales');
            expect(sales).toHaveLength(statement.paid);
            const ofProviders = (field: 'keptUnits' | 'surplusUnits') =>
              sum([...statement.providers.values()].map((sums) => sums[field]));
            expect([ofProviders('keptUnits'), -ofProviders('surplusUnits')]).toEqual([
              statement.balances.get('provider_costs') ?? 0n,
              statement.balances.get('surplus') ?? 0n,
            ]);
            for (const [provider, { paid, chargedUnits }] of statement.providers) {
              const own = sales.filter((line) => line.provider === provider);
              expect([own.length, sum(own.map(({ credit }) => credit))]).toEqual([paid, chargedUnits]);
            }
            const balance = (name: Parameters<typeof statement.balances.get>[0]) =>
              statement.balances.get(name) ?? 0n;
            moved.deposited -=
              balance('sales') +
              balance('surplus') +
              balance('unassigned_deposits') +
              balance('provider_costs');
            moved.forwarded += balance('payout_wallet');
            moved.fee += balance('service_fees');
            moved.held += balance('deposit_address');
          }
          expect(moved).toEqual({
            deposited: after.depositedUnits - before.depositedUnits,
            forwarded: after.forwardedUnits - before.forwardedUnits,
            fee: after.feeUnits - before.feeUnits,
            held: after.heldUnits - before.heldUnits,
          });
          // Whole months only: the days begin within the first of them.
          const { days } = await readStatistics(search, account, DAYS + 40, Date.now());
          const answered = await service.server.inject({
            url: `/merchant/v1/days?days=${DAYS + 40}`,
            headers: { 'x-api-key': apiKey },
          });
          const apiDays = answered.json().days as {
            date: string;
            paid: number;
            paid_amounts: object;
            received_amount: string;
            service_fees: string;
          }[];
          const releasesOfPaid = made
            .filter(({ outcome }) => outcome === 'paid')
            .flatMap((each) => each.releases);
          const sumOfApi = (name: 'received_amount' | 'service_fees') =>
            sum(apiDays.map((day) => parseUnits(day[name]) as bigint));
          expect([sumOfApi('received_amount'), sumOfApi('service_fees')]).toEqual([
            sum(releasesOfPaid.flat()),
            sum(releasesOfPaid.map(([, feeUnits]) => feeUnits)),
          ]);
          for (const [month, { paid, paidCents }] of statements) {
            const own = days.filter(({ date }) => date.startsWith(month));
            const ofApi = apiDays.filter(({ date }) => date.startsWith(month));
            expect(own.reduce((total, day) => total + day.paid, 0)).toBe(paid);
            expect(ofApi.reduce((total, day) => total + day.paid, 0)).toBe(paid);
            for (const [currency, cents] of paidCents) {
              const counted = own.reduce((total, day) => total + (day.paidCents.get(currency) ?? 0), 0);
              const shown = ofApi.map(({ paid_amounts: amounts }) =>
                Math.round(Number((amounts as Record<string, string>)[currency] ?? '0') * 100),
              );
              expect([counted, shown.reduce((total, value) => total + value, 0)]).toEqual([cents, cents]);
            }
          }
        },
      ),
      { numRuns: 12 },
    );
  }, 120_000);

  it('agrees in the base currency with the exported payments and their rates, also where a rate is missing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(madePayment, fc.boolean()), { minLength: 1, maxLength: 8 }),
        fc.bigInt({ min: 1_000_000n, max: 200_000_000n }),
        async (made, firstRate) => {
          const { account } = await startShop(
            made.map(([payment]) => payment),
            'UTC',
            'EUR',
          );
          const { search } = service.store;
          const query = { accountId: account.id };
          const { payments } = await search.searchPayments(query, null, 100);
          for (const [index, payment] of payments.entries()) {
            if (made[index]?.[1] === true || payment.paidAtMs === null) continue;
            const rate = {
              currency: 'EUR',
              hourMs: hourOf(payment.paidAtMs),
              usdRate: firstRate + BigInt(index),
            };
            await search.recordRates([rate as never], 0);
          }
          const csv: string[] = [];
          for await (const lines of exportPayments(search, 'EUR', query, [])) csv.push(lines);
          const [head = '', ...lines] = csv.join('').split('\r\n').slice(0, -1);
          const rows = lines.map(
            (line) => new Map(line.split(',').map((cell, i) => [head.split(',')[i], cell])),
          );
          const paid = rows.filter((row) => row.get('status') === 'paid');
          let [forwarded, withoutRate] = [0n, 0];
          for (const row of paid) {
            expect(row.get('base_currency')).toBe('EUR');
            const rate = parseUsdRate(row.get('base_rate_at_payment') ?? '');
            if (rate === null) {
              expect([row.get('base_rate_at_payment'), row.get('base_forwarded')]).toEqual(['', '']);
              withoutRate++;
              continue;
            }
            const units = inCurrency(parseUnits(row.get('forwarded_usdc') ?? '') as bigint, rate);
            expect(row.get('base_forwarded')).toBe(formatSigned(units));
            forwarded += units;
          }
          const totals = { forwarded: 0n, withoutRate: 0 };
          for (const month of monthsOf('UTC')) {
            const { inBase } = await statementOf(account, month);
            totals.forwarded += inBase.forwardedUnits;
            totals.withoutRate += inBase.paymentsWithoutRate;
          }
          expect(totals).toEqual({ forwarded, withoutRate });
        },
      ),
      { numRuns: 12 },
    );
  }, 60_000);

  it('counts a payment in the month in which it was paid, in the time zone of the account', async () => {
    const paidAtMs = Date.UTC(2026, 5, 30, 23, 30);
    const { account, apiKey } = await service.addAccount({ timeZone: 'Europe/Berlin' });
    const payment = await create(account, paidAtMs - DAY_MS);
    await payAt(payment, paidAtMs);
    expect(await readJournalCsv(apiKey, '2026-06')).toEqual([]);
    const csv = await journalOf(service.store.search, account, '2026-07');
    expect(csv).toContain(
      `2026-06-30T23:30:00.000Z,${payment.id},sales,,${formatUnits(payment.usdUnits)},multi,102.57,EUR,1.090000,USD,1.00000000`,
    );
    expect(csv).toContain(`provider_costs,${formatUnits(payment.usdUnits)},,`);
  });

  it('has the payments that the index has not reached, and those that were counted before them', async () => {
    const { account, apiKey } = await service.addAccount();
    const paidAtMs = Date.UTC(2026, 5, 2);
    const ids = new Set<string>();
    // The first is counted, the others are late.
    for (const createdAtMs of [paidAtMs - 10 * DAY_MS, paidAtMs - 60_000, paidAtMs - 9 * DAY_MS]) {
      const payment = await create(account, createdAtMs);
      await payAt(payment, paidAtMs);
      ids.add(payment.id);
    }
    const lines = await readJournalCsv(apiKey, '2026-06');
    expect(new Set(lines.map(({ payment }) => payment))).toEqual(ids);
    expect((await statementOf(account, '2026-06')).paid).toBe(3);
  });

  it('keeps payments of earlier months when others are paid while it is read', async () => {
    const { account } = await service.addAccount();
    const paidAtMs = Date.UTC(2026, 3, 2);
    const earlier = await create(account, paidAtMs - 10 * DAY_MS);
    await payAt(earlier, paidAtMs);
    const late = await create(account, paidAtMs - 60_000);
    const { search } = service.store;
    async function searchPayments(...parameters: Parameters<typeof search.searchPayments>) {
      await payAt(late, paidAtMs);
      return search.searchPayments(...parameters);
    }
    expect(await journalOf({ ...search, searchPayments }, account, '2026-04')).toContain(earlier.id);
  });

  it('converts paid payments at the rate of their hour in the base currency, and says which it cannot', async () => {
    const { account } = await service.addAccount({ baseCurrency: 'INR' });
    const paidAtMs = Date.UTC(2026, 4, 5, 6, 30);
    for (const afterMs of [0, 3_600_000])
      await payAt(await create(account, paidAtMs, { usdUnits: 10_000_000n }), paidAtMs + afterMs);
    await service.store.search.recordRates(
      [{ currency: 'INR', hourMs: hourOf(paidAtMs), usdRate: 1_250_000n }],
      0,
    );
    const statement = await statementOf(account, '2026-05');
    expect(statement.paid).toBe(2);
    expect(statement.inBase).toEqual({
      currency: 'INR',
      chargedUnits: 800_000_000n,
      forwardedUnits: 0n,
      feeUnits: 0n,
      paymentsWithoutRate: 1,
    });
  });
});
