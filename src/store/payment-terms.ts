import type { Payment } from '../payment/payment.ts';
import { numberOfTerm, termsOfPayment } from '../payment/payment-search.ts';
import { selectPayments } from './payments.ts';
import { lock, lockPayments, run, type Script } from './scripts.ts';
import { termTable, unindexedTable } from './tables.ts';

/** Lock of the processes that index payments. */
const INDEX_LOCK = 'payment terms';

/** Indexes queued payments as they are now; returns how many. Locked, so that none of them loses a word meanwhile. */
export function* indexPayments(limit: number): Script<number> {
  yield* lock(INDEX_LOCK);
  const queued = yield* unindexedTable.select`ORDER BY account_id, payment_id LIMIT ${limit}`;
  if (queued.length === 0) return 0;
  const ids = queued.map(({ paymentId }) => paymentId);
  yield* lockPayments(ids.toSorted());
  const payments = yield* selectPayments`FROM payments WHERE id = ANY(${ids})`;
  const rows = payments.flatMap((payment) =>
    termsOfPayment(payment).map((term): [string, string, number] => [
      payment.accountId,
      payment.id,
      numberOfTerm(payment.accountId, term),
    ]),
  );
  // By their terms, so that those of many payments share pages of the index.
  rows.sort(([, , one], [, , other]) => one - other);
  yield* termTable.insertRows(rows, { keepsExisting: true });
  const accountIds = [...new Set(queued.map(({ accountId }) => accountId))];
  yield* run`
    DELETE FROM unindexed_payments WHERE account_id = ANY(${accountIds}) AND payment_id = ANY(${ids})`;
  return queued.length;
}

/** Removes a locked payment from the index by what it was found by and is no more, and queues it for the rest. */
export function* replaceTerms(before: Payment, after: Payment): Script<void> {
  const { accountId, id } = after;
  const kept = termsOfPayment(after);
  for (const term of termsOfPayment(before).filter((old) => !kept.includes(old))) {
    yield* run`
      DELETE FROM payment_terms
      WHERE account_id = ${accountId} AND term = ${numberOfTerm(accountId, term)} AND payment_id = ${id}`;
  }
  yield* unindexedTable.insertRows([[accountId, id]], { keepsExisting: true });
}
