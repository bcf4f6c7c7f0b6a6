import { bytesOfAddress } from '../../payment/address.ts';
import { checkedOwners, ownerOfRow, paymentOfRow } from '../payments.ts';
import type { EnginePayments } from '../store.ts';
import { createPaymentInserts } from './create-payment.ts';
import type { Database } from './open-database.ts';
import { paymentColumns } from './scripts.ts';
import { arrayLiteral, arrayStatement } from './statements.ts';

/** Filters by account, so that another's row is not read. */
const selectOwned = arrayStatement(
  `SELECT ${paymentColumns} FROM payments WHERE id = $1 AND account_id = $2`,
);
const selectOwners = arrayStatement(
  'SELECT id, deposit_address FROM payments WHERE deposit_address = ANY($1::bytea[])',
);

export function createPaymentStore(database: Database, onError: (error: Error) => void): EnginePayments {
  return {
    ...createPaymentInserts(database, onError),
    async findPayment(accountId, id) {
      const [row] = await database.repeating.query(selectOwned, [id, accountId]);
      return row === undefined ? null : paymentOfRow(row);
    },
    async findDepositOwners(addresses) {
      const bytes = arrayLiteral(checkedOwners(addresses).map(bytesOfAddress));
      return (await database.repeating.query<unknown[]>(selectOwners, [bytes])).map(ownerOfRow);
    },
  };
}
