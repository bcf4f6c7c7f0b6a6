import type { Payment } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { PaymentStore } from '../../domain/ports/payment-store.ts';
import { type Column, unnest, valuesByColumn } from './column-lists.ts';
import { createGroupCreate } from './group-create.ts';
import { createGroupRead } from './group-read.ts';
import { type AskedKey, type FoundIdempotency, findIdempotencyRecords } from './idempotency.ts';
import type { Database } from './open-database.ts';
import type { PaymentDecider } from './payment-decider.ts';
import { createPaymentLists } from './payment-lists.ts';
import { paymentColumns, paymentOfRow } from './payment-rows.ts';
import { insertSession, sessionValues } from './session-rows.ts';
import { arrayStatement } from './statement.ts';

const ownedColumns: readonly Column[] = [
  ['account_id', 'text'],
  ['id', 'text'],
];
const selectOwned = arrayStatement(`
  SELECT ${paymentColumns} FROM ${unnest('asked', ownedColumns)} JOIN payments USING (account_id, id)`);
const selectById = arrayStatement(`SELECT ${paymentColumns} FROM payments WHERE id = ANY($1::text[])`);

interface OwnedPayment {
  readonly accountId: string;
  readonly id: PaymentId;
}

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
  const owned = createGroupRead<OwnedPayment, Payment | null>(async (asked) => {
    const values = asked.map(({ accountId, id }) => [accountId, id]);
    const rows = await database.query<unknown[]>(selectOwned, valuesByColumn(ownedColumns, values));
    // The account is asked for together with the id; another account's payment is not even read.
    const find = finderOf(rows, ({ id }: OwnedPayment) => id);
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
    viewPayment: (id) => decider.view(database, id),
    decidePayment: (id, decide) =>
      database.transaction(async (connection) => {
        const [payment] = await decider.decideAll(connection, [id], decide);
        return payment ?? null;
      }),
    addSession: (session, decide) =>
      database.transaction(async (connection) => {
        const inserted = await connection.execute(insertSession, sessionValues(session));
        if (inserted === 0) return null;
        const [payment] = await decider.decideAll(connection, [session.paymentId], decide);
        return payment ?? null;
      }),
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
