import type { PaymentId } from '../payment/payment.ts';
import type {
  FailingWebhook,
  FinalSums,
  PaymentHistorySummary,
  PaymentSearchStore,
  StateChange,
} from '../payment/payment-search-store.ts';
import type { JournalEntry, JournalEntryKind } from '../settlement/journal.ts';
import { listPaymentSums } from './observations.ts';
import { replaceTerms } from './payment-search.ts';
import { selectPayment } from './payments.ts';
import { lockPayments, raw, run, type Scripts, sql } from './scripts.ts';
import { hourlyRateTable } from './tables.ts';

export function createPaymentHistory({ read, write }: Scripts) {
  return {
    listStateChanges: read(function* (id) {
      const rows = yield* run`
        SELECT at_ms AS "atMs", state FROM state_changes
        WHERE payment_id = ${id} ORDER BY at_ms, state`;
      return rows.map((row) => ({ ...row, atMs: Number(row['atMs']) }) as StateChange);
    }),
    listHistories: read(function* (after, limit) {
      const rows = yield* run`
        SELECT payment_id AS id, was_paid AS "wasPaid",
          (SELECT status FROM payments WHERE payments.id = histories.payment_id) AS status
        FROM (SELECT payment_id, max(CASE WHEN state LIKE 'paid/%' THEN 1 ELSE 0 END) AS was_paid
          FROM state_changes WHERE payment_id > ${after}
          GROUP BY payment_id ORDER BY payment_id LIMIT ${limit}
        ) AS histories ORDER BY payment_id`;
      return rows.map(
        (row) => ({ ...row, wasPaid: Number(row['wasPaid']) === 1 }) as unknown as PaymentHistorySummary,
      );
    }),
    listFinalSums: read(function* (ids) {
      return sumsOf(yield* listPaymentSums(ids));
    }),
    listFailingWebhooks: read(function* (accountId, limit) {
      const ofAccount = accountId === null ? raw('') : sql`AND account_id = ${accountId}`;
      const rows = yield* run`
        SELECT account_id AS "accountId", payment_id AS "paymentId", host, status, reason,
          finished_at_ms AS "finishedAtMs" FROM webhooks
        WHERE status IN ('failed', 'blocked', 'unknown') ${ofAccount}
        ORDER BY finished_at_ms DESC LIMIT ${limit}`;
      return rows.map((row) => ({ ...row }) as unknown as FailingWebhook);
    }),
    editNote: write(function* ({ accountId, id }, note) {
      yield* lockPayments([id]);
      const before = yield* selectPayment(id);
      if (before?.accountId !== accountId) return null;
      yield* run`UPDATE payments SET note = ${note} WHERE id = ${id}`;
      const after = { ...before, note };
      yield* replaceTerms(before, after);
      return after;
    }),
    recordRates: write(function* (rates, deleteBeforeMs) {
      for (const rate of rates)
        yield* hourlyRateTable.insert(rate, 'ON CONFLICT (currency, hour_ms) DO NOTHING');
      yield* run`DELETE FROM hourly_rates WHERE hour_ms < ${deleteBeforeMs}`;
    }),
    listRates: read(
      (currency, firstMs, lastMs) => hourlyRateTable.select`
        WHERE currency = ${currency} AND hour_ms >= ${firstMs} AND hour_ms <= ${lastMs}`,
    ),
  } satisfies Partial<PaymentSearchStore>;
}

const sumFields = {
  deposited: 'depositedUnits',
  forwarded: 'forwardedUnits',
  fee: 'feeUnits',
} as const satisfies Record<Exclude<JournalEntryKind, 'rescued'>, keyof FinalSums>;

/** Sums entries with BigInt, because a token can transfer any 256-bit amount. */
function sumsOf(
  entries: readonly Pick<JournalEntry, 'paymentId' | 'kind' | 'units'>[],
): Map<PaymentId, FinalSums> {
  const sums = new Map<PaymentId, FinalSums>();
  for (const { paymentId: id, kind, units } of entries) {
    if (kind === 'rescued') continue;
    const field = sumFields[kind];
    const before = sums.get(id) ?? { depositedUnits: 0n, forwardedUnits: 0n, feeUnits: 0n };
    sums.set(id, { ...before, [field]: before[field] + units });
  }
  return sums;
}
