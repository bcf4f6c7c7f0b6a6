import { SERVICE_LOG } from '../domain/audit-entry.ts';
import { feeUnits } from '../domain/fees.ts';
import type { Payment } from '../domain/payment.ts';
import { monthOfUtc, numberOfTerm, paidMonthTerm, termsOfPayment } from '../domain/payment-search.ts';
import {
  dayOf,
  type PaymentSlot,
  payingProvider,
  settleClassOf,
  slotOf,
} from '../domain/payment-statistics.ts';
import type { PaymentSearchStore } from '../domain/ports/payment-search-store.ts';
import type { ProviderId } from '../domain/provider-catalog.ts';
import type { ColumnValue } from './columns.ts';
import { selectPayments, storable } from './payments.ts';
import { checkedLimit, lock, run, runForOne, runText, type Script, type Scripts } from './scripts.ts';

/** Lock of every process that indexes or counts. */
export const INDEX_LOCK = 'payment index';
/** Rows of one INSERT: as many as keep its text the same, so that it is prepared once. */
const ROWS_AT_A_TIME = 50;

/** The index of lists, searches and statistics, made from the payments. */
export function createPaymentIndex({ read, write }: Scripts) {
  return {
    readIndexWatermark: read(readWatermark),
    indexPayments: write(indexPayments),
    countPaid: write((limit) => countPaid(checkedLimit(limit))),
  } satisfies Partial<PaymentSearchStore>;
}

function* readWatermark(): Script<number> {
  const row = yield* runForOne<{ watermark: number }>`SELECT watermark FROM payment_index`;
  return row?.watermark ?? 0;
}

function* indexPayments(afterRow: number, throughRow: number): Script<void> {
  yield* lock(INDEX_LOCK);
  if ((yield* readWatermark()) !== afterRow) return;
  const payments = yield* selectPayments`
    FROM payments WHERE "row" > ${afterRow} AND "row" <= ${throughRow} ORDER BY "row"`;
  yield* insertAll('payment_terms (account_id, term, payment_id)', payments.flatMap(termRows));
  yield* countCreated(payments);
  // Whether it was counted before it was indexed: it was not, see `countPaid`.
  yield* insertAll(
    'uncounted_payments (payment_id)',
    payments.filter(({ status }) => status === 'paid').map(({ id }) => [id]),
  );
  // Its row is gone where an operator emptied the table to rebuild everything.
  yield* run`DELETE FROM payment_index`;
  yield* run`INSERT INTO payment_index (watermark) VALUES (${throughRow})`;
}

function termRows(payment: Payment): ColumnValue[][] {
  const { accountId, id } = payment;
  return termsOfPayment(payment).map((term) => [accountId, numberOfTerm(accountId, term), id]);
}

/** Makes a payment found by what it is now. Also before it is indexed: what is there by then stays. */
export function* replaceTerms(before: Payment, after: Payment): Script<void> {
  const { accountId, id } = after;
  const kept = termsOfPayment(after);
  for (const term of termsOfPayment(before).filter((old) => !kept.includes(old))) {
    yield* run`
      DELETE FROM payment_terms
      WHERE account_id = ${accountId} AND term = ${numberOfTerm(accountId, term)} AND payment_id = ${id}`;
  }
  yield* insertAll('payment_terms (account_id, term, payment_id)', termRows(after));
}

/** Inserts rows, and keeps existing ones. The last row is repeated where rows are missing: it exists then. */
function* insertAll(into: string, rows: readonly (readonly ColumnValue[])[]): Script<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_A_TIME) {
    const some = rows.slice(start, start + ROWS_AT_A_TIME);
    const last = some.at(-1) ?? [];
    const filled = [...some, ...Array.from({ length: ROWS_AT_A_TIME - some.length }, () => last)];
    let parameter = 0;
    const places = filled.map((row) => `(${row.map(() => `?${++parameter}`).join(', ')})`);
    yield* runText(`INSERT INTO ${into} VALUES ${places.join(', ')} ON CONFLICT DO NOTHING`, filled.flat());
  }
}

/** Adds to the quarters of an hour in which payments were created. */
function* countCreated(payments: readonly Payment[]): Script<void> {
  const counts = createSlotCounts();
  for (const payment of payments) counts.add(payment, payment.createdAtMs, { created: 1 });
  yield* counts.write();
}

/** The sums of a slot, and their columns. */
export const slotColumns = {
  created: 'created',
  converted: 'converted',
  paid: 'paid',
  paidCents: 'paid_cents',
  receivedUnits: 'received_units',
  feeUnits: 'fee_units',
} as const satisfies Partial<Record<keyof PaymentSlot, string>>;
type SlotField = keyof typeof slotColumns;
const slotFields = Object.keys(slotColumns) as SlotField[];

/** Adds up here first, for the account and for the whole service: many payments fall into one quarter of an hour. */
function createSlotCounts() {
  const slots = new Map<string, { readonly key: readonly ColumnValue[]; readonly sums: number[] }>();
  return {
    add(payment: Payment, timeMs: number, counts: Partial<Record<SlotField, number>>) {
      for (const accountId of [payment.accountId, SERVICE_LOG]) {
        const key = [accountId, slotOf(timeMs), payment.currency];
        const name = JSON.stringify(key);
        const sums = slots.get(name)?.sums ?? slotFields.map(() => 0);
        slots.set(name, {
          key,
          sums: slotFields.map((field, index) => (sums[index] ?? 0) + (counts[field] ?? 0)),
        });
      }
    },
    *write(): Script<void> {
      for (const { key, sums } of slots.values())
        yield* runText(addToSlotSql, [...key, ...sums.map(storable)]);
    },
  };
}

const addToSlotSql = `
  INSERT INTO payment_buckets (account_id, start_ms, currency, ${Object.values(slotColumns).join(', ')})
  VALUES (?1, ?2, ?3, ${slotFields.map((_, index) => `?${index + 4}`).join(', ')})
  ON CONFLICT (account_id, start_ms, currency) DO UPDATE SET ${Object.values(slotColumns)
    .map((name) => `${name} = payment_buckets.${name} + excluded.${name}`)
    .join(', ')}`;
const addToDaySql = `
  INSERT INTO paid_days (account_id, day_ms, provider, settle_class, paid) VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (account_id, day_ms, provider, settle_class) DO UPDATE SET paid = paid_days.paid + excluded.paid`;

/**
 * Counts those that became paid. Of a payment that is not indexed yet this waits: indexing a paid payment puts it
 * into the same table, and so every payment is counted once, however it came there. CROSS JOIN keeps SQLite from
 * walking along the payments and looking for each of them in the other table.
 */
function* countPaid(limit: number): Script<number> {
  yield* lock(INDEX_LOCK);
  const payments = yield* selectPayments`
    FROM (SELECT payment_id FROM uncounted_payments LIMIT ${limit}) AS uncounted
      CROSS JOIN payments WHERE payments.id = uncounted.payment_id
        AND payments."row" <= (SELECT coalesce(max(watermark), 0) FROM payment_index)`;
  const slots = createSlotCounts();
  const days = new Map<string, { readonly key: readonly ColumnValue[]; paid: number }>();
  yield* insertAll('payment_terms (account_id, term, payment_id)', payments.map(paidMonthRow));
  for (const payment of payments) {
    const paidAtMs = paidTimeOf(payment);
    slots.add(payment, payment.createdAtMs, { converted: 1 });
    slots.add(payment, paidAtMs, {
      paid: 1,
      paidCents: payment.amountCents,
      receivedUnits: Number(payment.receivedUnits),
      feeUnits: Number(feeUnitsOf(payment)),
    });
    const provider = payingProvider(payment, yield* sessionsOf(payment));
    for (const accountId of [payment.accountId, SERVICE_LOG]) {
      const key = [accountId, dayOf(paidAtMs), provider, settleClassOf(payment, paidAtMs)];
      const name = JSON.stringify(key);
      days.set(name, { key, paid: (days.get(name)?.paid ?? 0) + 1 });
    }
    yield* run`DELETE FROM uncounted_payments WHERE payment_id = ${payment.id}`;
  }
  yield* slots.write();
  for (const { key, paid } of days.values()) yield* runText(addToDaySql, [...key, paid]);
  return payments.length;
}

function paidMonthRow(payment: Payment): ColumnValue[] {
  const { accountId, id } = payment;
  return [accountId, numberOfTerm(accountId, paidMonthTerm(monthOfUtc(paidTimeOf(payment)))), id];
}

function paidTimeOf({ paidAtMs, createdAtMs }: Payment): number {
  return paidAtMs ?? createdAtMs;
}

/** The fee of what was received. A direct payment is paid before its release: then as the deposit contract will compute it. */
function feeUnitsOf({ receivedUnits, forwardedUnits, feeBasisPoints }: Payment): bigint {
  return forwardedUnits > 0n ? receivedUnits - forwardedUnits : feeUnits(receivedUnits, feeBasisPoints);
}

function* sessionsOf({ id }: Payment): Script<readonly { provider: ProviderId; createdAtMs: number }[]> {
  const rows = yield* run`
    SELECT provider, created_at_ms AS "createdAtMs" FROM provider_sessions
    WHERE payment_id = ${id} ORDER BY created_at_ms, id`;
  return rows as unknown as { provider: ProviderId; createdAtMs: number }[];
}
