import type { PaymentId } from '../../domain/payment-id.ts';
import type { PaymentStore } from '../../domain/ports/payment-store.ts';
import { paymentOfRow } from '../payment-rows.ts';
import { AFTER_ALL_IDS, checkListLimit } from '../store-limits.ts';
import { listDepositAddresses } from './deposit-addresses.ts';
import type { Database } from './open-database.ts';
import { paymentColumns } from './payment-rows.ts';
import { arrayStatement, type Statement, statement } from './statement.ts';

type PaymentLists = Pick<
  PaymentStore,
  'listPayments' | 'listPaymentIds' | 'listDepositAddresses' | 'findPaymentsByRow'
>;

const selectIds = statement('SELECT id FROM payments WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3');
/** In the order in which the rows were asked for. */
const selectByRow = arrayStatement(`
  SELECT ${paymentColumns} FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (row, position)
  JOIN payments ON payments.row = asked.row ORDER BY position`);

/** One statement for each set of filters, because one for all of them could use no index. */
function selectPage(...filters: readonly string[]): Statement {
  const conditions = filters.map((column, index) => `AND ${column} = $${index + 3}`);
  return arrayStatement(
    `SELECT ${paymentColumns} FROM payments WHERE id < $1 ${conditions.join(' ')} ORDER BY id DESC LIMIT $2`,
  );
}
const pages = {
  all: selectPage(),
  ofAccount: selectPage('account_id'),
  ofStatus: selectPage('status'),
  ofAccountAndStatus: selectPage('account_id', 'status'),
};

/** The reads that answer with more than one payment. */
export function createPaymentLists(database: Database): PaymentLists {
  return {
    async listPayments({ accountId, status }, before, limit) {
      checkListLimit(limit);
      const page = pageOf(accountId !== undefined, status !== undefined);
      const filters = [accountId, status].filter((value) => value !== undefined);
      const rows = await database.query<unknown[]>(page, [before ?? AFTER_ALL_IDS, limit, ...filters]);
      return rows.map(paymentOfRow);
    },
    async listPaymentIds(after, below, limit) {
      checkListLimit(limit);
      const rows = await database.query<{ id: PaymentId }>(selectIds, [after, below, limit]);
      return rows.map(({ id }) => id);
    },
    async listDepositAddresses(afterRow, limit) {
      checkListLimit(limit);
      return listDepositAddresses(database, afterRow, limit);
    },
    async findPaymentsByRow(rows) {
      if (rows.length === 0) return [];
      checkListLimit(rows.length);
      return (await database.query<unknown[]>(selectByRow, [rows])).map(paymentOfRow);
    },
  };
}

function pageOf(byAccount: boolean, byStatus: boolean): Statement {
  if (byAccount) return byStatus ? pages.ofAccountAndStatus : pages.ofAccount;
  return byStatus ? pages.ofStatus : pages.all;
}
