import type { DatabaseSync } from 'node:sqlite';
import type { Payment } from '../../domain/payment.ts';
import type { CreateOutcome, IdempotencyRecord, PaymentStore } from '../../domain/ports/payment-store.ts';
import { IDEMPOTENCY_TTL_MS } from '../../domain/ports/payment-store.ts';
import { paymentOfRow } from '../payment-rows.ts';
import type { GroupCommit } from './group-commit.ts';
import type { GroupRead } from './group-read.ts';
import { createIdempotencyTable } from './idempotency.ts';
import type { PaymentDecider } from './payment-decider.ts';
import { createPaymentLists } from './payment-lists.ts';
import { insertPaymentSql, paymentColumns, paymentValues } from './payment-rows.ts';
import { insertSessionSql, noteProgressSql, sessionValues } from './session-rows.ts';

export function createPaymentStore(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
  decider: PaymentDecider,
): PaymentStore {
  const insert = database.prepare(insertPaymentSql);
  const insertSession = database.prepare(insertSessionSql);
  const noteProgress = database.prepare(noteProgressSql);
  // Names the account: another's row is neither read nor judged, so it takes no longer than one that never was.
  const selectOwned = database.prepare(
    `SELECT ${paymentColumns} FROM payments WHERE id = ? AND account_id = ?`,
  );
  selectOwned.setReturnArrays(true);
  const idempotency = createIdempotencyTable(database);

  function insertPayment(payment: Payment): CreateOutcome {
    const { lastInsertRowid } = insert.run(...paymentValues(payment));
    return { kind: 'created', row: Number(lastInsertRowid) };
  }

  /** Twins that arrive together are decided here, one after the other, within the transaction. */
  function createOnce(payment: Payment, record: IdempotencyRecord): CreateOutcome {
    const sinceMs = record.createdAtMs - IDEMPOTENCY_TTL_MS;
    const earlier = findIdempotent(record.accountId, record.key, sinceMs);
    if (earlier !== null) return { kind: 'replayed', ...earlier };
    const outcome = insertPayment(payment);
    idempotency.replace(record, payment.id, sinceMs);
    return outcome;
  }

  function findIdempotent(
    accountId: string,
    key: string,
    sinceMs: number,
  ): { payment: Payment; fingerprint: string } | null {
    const record = idempotency.find(accountId, key, sinceMs);
    if (record === null) return null;
    const payment = decider.readPayment(record.paymentId);
    if (payment === null) throw new Error(`payment ${record.paymentId} of an Idempotency-Key is missing`);
    return { payment, fingerprint: record.fingerprint };
  }

  return {
    createPayment: (payment, record) =>
      record === null
        ? writes.runStatement(() => insertPayment(payment))
        : writes.runTransaction(() => createOnce(payment, record)),
    findIdempotent: (accountId, key, sinceMs) => reads.run(() => findIdempotent(accountId, key, sinceMs)),
    findPayment: (accountId, id) =>
      reads.run(() => {
        const row = selectOwned.get(id, accountId);
        return row === undefined ? null : paymentOfRow(row);
      }),
    findPaymentById: (id) => reads.run(() => decider.readPayment(id)),
    viewPayment: (payment) => reads.run(() => decider.view(payment)),
    decidePayment: (payment, decide) => writes.runTransaction(() => decider.decide(payment, decide)),
    addSession: (payment, session, decide) =>
      writes.runTransaction(() => {
        if (decider.view(payment) === null) return null;
        insertSession.run(...sessionValues(session));
        return decider.decide(payment, decide);
      }),
    noteSessionProgress: ({ id, accountId }, sessionId, progress, atMs) =>
      writes.runTransaction(() => noteProgress.run(progress, atMs, sessionId, id, accountId).changes === 1),
    ...createPaymentLists(database, reads),
  };
}
