import type { Payment, PaymentId } from '../../domain/payment.ts';
import { bytesOfAddress } from '../../domain/payout-address.ts';
import { checkedOwners, ownerOfRow, paymentOfRow } from '../payments.ts';
import type { EnginePayments } from '../store.ts';
import {
  type AskedKey,
  createGroupCreate,
  type FoundIdempotency,
  findIdempotencyRecords,
} from './group-create.ts';
import { type Closable, createGroupRead } from './group-read.ts';
import type { Database } from './open-database.ts';
import { paymentColumns } from './scripts.ts';
import { arrayLiteral, arrayStatement } from './statements.ts';

const selectOwned = arrayStatement(`SELECT ${paymentColumns} FROM payments WHERE id = ANY($1::text[])`);

const selectOwners = arrayStatement(
  'SELECT id, deposit_address FROM payments WHERE deposit_address = ANY($1::bytea[])',
);

export function createPaymentStore(
  database: Database,
  onError: (error: Error) => void,
): Closable<EnginePayments> {
  const creates = createGroupCreate(database, onError);
  const owned = createGroupRead<Pick<Payment, 'id' | 'accountId'>, Payment | null>(async (asked) => {
    const rows = await database.repeating.query<unknown[]>(selectOwned, [
      arrayLiteral(asked.map(({ id }) => id)),
    ]);
    const byId = new Map(rows.map((row) => [row[0] as PaymentId, row]));
    return ({ id, accountId }) => {
      const row = byId.get(id);
      return row === undefined || row[1] !== accountId ? null : paymentOfRow(row);
    };
  });
  const idempotent = createGroupRead<AskedKey, FoundIdempotency | null>((asked) =>
    findIdempotencyRecords(database.repeating, asked),
  );

  const store: EnginePayments = {
    createPayment: (payment, record) => creates.create(payment, record),
    findIdempotent: (accountId, key, sinceMs) => idempotent.read({ accountId, key, sinceMs }),
    findPayment: (accountId, id) => owned.read({ accountId, id }),
    findDepositOwners: async (addresses) => {
      const bytes = arrayLiteral(checkedOwners(addresses).map(bytesOfAddress));
      return (await database.repeating.query<unknown[]>(selectOwners, [bytes])).map(ownerOfRow);
    },
  };
  const groups = [creates, owned, idempotent];
  return { store, close: async () => void (await Promise.all(groups.map((group) => group.close()))) };
}
