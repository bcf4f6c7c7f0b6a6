import type { Payment, PaymentReference } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { PaymentStore } from '../../domain/ports/payment-store.ts';
import { paymentOfRow } from '../payment-rows.ts';
import { askedPayments, askedPaymentsSql } from './asked-payments.ts';
import { createGroupCreate } from './group-create.ts';
import { createGroupRead } from './group-read.ts';
import { type AskedKey, type FoundIdempotency, findIdempotencyRecords } from './idempotency.ts';
import type { Database } from './open-database.ts';
import type { PaymentDecider } from './payment-decider.ts';
import { createPaymentLists } from './payment-lists.ts';
import { paymentColumns } from './payment-rows.ts';
import { insertSession, noteProgress, sessionValues } from './session-rows.ts';
import { arrayStatement } from './statement.ts';

const selectOwned = arrayStatement(`SELECT ${paymentColumns} FROM ${askedPaymentsSql}`);
const selectById = arrayStatement(`SELECT ${paymentColumns} FROM payments WHERE id = ANY($1::text[])`);

/** The payments, and how to finish what is under way when the store closes. */
export interface ClosablePaymentStore {
  readonly store: PaymentStore;
  close(): Promise<void>;
}

export function createPaymentStore(
  database: Database,
  decider: PaymentDecider,
  onError: (error: Error) => void,
): ClosablePaymentStore {
  const creates = createGroupCreate(database, onError);
  const byId = createGroupRead<PaymentId, Payment | null>(async (ids) =>
    finderOf(await database.query(selectById, [ids]), (id) => id),
  );
  const owned = createGroupRead<PaymentReference, Payment | null>(async (asked) => {
    const rows = await database.query<unknown[]>(selectOwned, askedPayments(asked));
    // The account is asked for together with the id; another account's payment is not even read.
    const find = finderOf(rows, ({ id }: PaymentReference) => id);
    return (one) => {
      const payment = find(one);
      return payment?.accountId === one.accountId ? payment : null;
    };
  });
  const idempotent = createGroupRead<AskedKey, FoundIdempotency | null>((asked) =>
    findIdempotencyRecords(database, asked),
  );

  const store: PaymentStore = {
    createPayment: (payment, record) => creates.create(payment, record),
    findIdempotent: (accountId, key, sinceMs) => idempotent.read({ accountId, key, sinceMs }),
    findPayment: (accountId, id) => owned.read({ accountId, id }),
    findPaymentById: (id) => byId.read(id),
    viewPayment: (payment) => decider.view(database, payment),
    decidePayment: (reference, decide) =>
      database.transaction(async (connection) => {
        const [payment] = await decider.decideAll(connection, [reference], decide);
        return payment ?? null;
      }),
    addSession: (reference, session, decide) =>
      database.transaction(async (connection) => {
        const inserted = await connection.execute(insertSession, [
          ...sessionValues(session),
          reference.accountId,
        ]);
        if (inserted === 0) return null;
        const [payment] = await decider.decideAll(connection, [reference], decide);
        return payment ?? null;
      }),
    noteSessionProgress: ({ id, accountId }, sessionId, progress, atMs) =>
      database.transaction(
        async (connection) =>
          (await connection.execute(noteProgress, [progress, atMs, sessionId, id, accountId])) === 1,
      ),
    ...createPaymentLists(database),
  };
  const groups = [creates, byId, owned, idempotent];
  return { store, close: async () => void (await Promise.all(groups.map((group) => group.close()))) };
}

function finderOf<Key>(
  rows: readonly unknown[][],
  idOf: (key: Key) => PaymentId,
): (key: Key) => Payment | null {
  const byId = new Map(rows.map((row) => [row[0] as PaymentId, row]));
  return (key) => {
    const row = byId.get(idOf(key));
    return row === undefined ? null : paymentOfRow(row);
  };
}
