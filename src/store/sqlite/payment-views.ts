import type { DatabaseSync } from 'node:sqlite';
import type { ChainObservations, Payment, PaymentReference } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { PaymentView } from '../../domain/ports/payment-store.ts';
import type { Table } from '../columns.ts';
import { NO_FINAL_BLOCK } from '../observations.ts';
import { paymentColumns, paymentOfRow } from '../payment-rows.ts';
import { depositTable, providerSessionTable, releaseTable } from '../tables.ts';

export type PaymentViews = ReturnType<typeof createPaymentViews>;

/** Reads one payment; synchronous, to be called inside a read or a transaction. */
export function createPaymentViews(database: DatabaseSync) {
  const selectPayment = database.prepare(`SELECT ${paymentColumns} FROM payments WHERE id = ?`);
  selectPayment.setReturnArrays(true);
  const readObservations = prepareObservationRead(database);
  const readSessions = prepareReadOf(database, providerSessionTable, 'created_at_ms, id');

  function readPayment(id: PaymentId): Payment | null {
    const row = selectPayment.get(id);
    return row === undefined ? null : paymentOfRow(row);
  }

  return {
    readPayment,
    /** With all that a decision may depend on; null when there is no such payment. */
    view(asked: PaymentReference | PaymentId): PaymentView | null {
      const { id, accountId } = typeof asked === 'string' ? { id: asked, accountId: null } : asked;
      const payment = readPayment(id);
      if (payment === null || (accountId !== null && payment.accountId !== accountId)) return null;
      return { payment, observations: readObservations(id), sessions: readSessions(id) };
    },
  };
}

function prepareObservationRead(database: DatabaseSync): (id: PaymentId) => ChainObservations {
  const readDeposits = prepareReadOf(database, depositTable, 'block_number, log_index');
  const readReleases = prepareReadOf(database, releaseTable, 'block_number, log_index');
  const selectFinalBlock = database.prepare('SELECT max(number) AS number FROM checkpoints');

  return (id) => {
    const finalBlock = selectFinalBlock.get()?.number as number | null | undefined;
    return {
      deposits: readDeposits(id),
      releases: readReleases(id),
      finalBlock: finalBlock ?? NO_FINAL_BLOCK,
    };
  };
}

/** Reads the rows of a table that belong to a payment. */
function prepareReadOf<Entity>(
  database: DatabaseSync,
  { name, names, ofValues }: Table<Entity>,
  order: string,
): (id: PaymentId) => Entity[] {
  const select = database.prepare(`SELECT ${names} FROM ${name} WHERE payment_id = ? ORDER BY ${order}`);
  select.setReturnArrays(true);
  return (id) => (select.all(id) as unknown as unknown[][]).map(ofValues);
}
