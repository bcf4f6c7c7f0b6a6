import type { Payment, PaymentReference } from '../domain/payment.ts';
import { numberOfTerm, termsOfPayment } from '../domain/payment-search.ts';
import { type PaymentState, paymentStates } from '../domain/payment-states.ts';
import type { PaidCount, PaymentSlot } from '../domain/payment-statistics.ts';
import type { PaymentSearchStore, StateChange } from '../domain/ports/payment-search-store.ts';
import { insertAll } from './payment-index.ts';
import { paymentsOfRows, qualifiedPaymentColumns } from './payment-windows.ts';
import { run, type Script, type Scripts } from './script.ts';

type Story = Pick<PaymentSearchStore, 'listSlots' | 'listPaidCounts' | 'listStateChanges' | 'editNote'>;

/** What is read of an account's past, and the one thing of a payment that its merchant may change. */
export function createPaymentStory(scripts: Scripts): Story {
  return {
    async listSlots(accountId, fromMs, beforeMs) {
      const rows = await scripts.read(() =>
        run(
          `SELECT start_ms AS "startMs", currency, created, converted, paid, paid_cents AS "paidCents"
           FROM payment_slots WHERE account_id = ?1 AND start_ms >= ?2 AND start_ms < ?3 ORDER BY start_ms, currency`,
          ...[accountId, fromMs, beforeMs],
        ),
      );
      return rows.map((row) => ({ ...row }) as unknown as PaymentSlot);
    },
    async listPaidCounts(accountId, fromMs, beforeMs) {
      const rows = await scripts.read(() =>
        run(
          `SELECT provider, settle_class AS "settleClass", sum(paid) AS paid FROM paid_days
           WHERE account_id = ?1 AND day_ms >= ?2 AND day_ms < ?3 GROUP BY provider, settle_class
           ORDER BY provider, settle_class`,
          ...[accountId, fromMs, beforeMs],
        ),
      );
      return rows.map((row) => ({ ...row, paid: Number(row['paid']) }) as unknown as PaidCount);
    },
    async listStateChanges({ accountId, id }) {
      const rows = await scripts.read(() =>
        run(
          `SELECT at_ms AS "atMs", state FROM state_changes
           WHERE account_id = ?1 AND payment_id = ?2 ORDER BY at_ms, state`,
          ...[accountId, id],
        ),
      );
      return rows.map(stateChangeOf);
    },
    editNote: (reference, note) => scripts.write(() => editNote(reference, note)),
  };
}

function stateChangeOf(row: Readonly<Record<string, unknown>>): StateChange {
  const state = String(row['state']);
  if (!Object.hasOwn(paymentStates, state)) throw new Error(`a payment came into the unknown state ${state}`);
  return { atMs: Number(row['atMs']), state: state as PaymentState };
}

function* editNote({ accountId, id }: PaymentReference, note: string | null): Script<Payment | null> {
  const [before] = yield* readPayment(accountId, id);
  if (before === undefined) return null;
  yield* run('UPDATE payments SET note = ?1 WHERE account_id = ?2 AND id = ?3', ...[note, accountId, id]);
  const after = { ...before, note };
  const kept = termsOfPayment(after);
  for (const term of termsOfPayment(before).filter((old) => !kept.includes(old))) {
    yield* run(
      'DELETE FROM payment_terms WHERE account_id = ?1 AND term = ?2 AND payment_id = ?3',
      ...[accountId, numberOfTerm(accountId, term), id],
    );
  }
  // Also of a payment that is not indexed yet: what is there then stays.
  yield* insertAll(
    'payment_terms (account_id, term, payment_id)',
    kept.map((term) => [accountId, numberOfTerm(accountId, term), id]),
  );
  return after;
}

function* readPayment(accountId: string, id: string): Script<Payment[]> {
  return paymentsOfRows(
    yield* run(
      `SELECT ${qualifiedPaymentColumns} FROM payments WHERE account_id = ?1 AND id = ?2`,
      ...[accountId, id],
    ),
  );
}
