import type { DatabaseSync } from 'node:sqlite';
import type { Payment } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { Address } from '../../domain/payout-address.ts';
import type { PaymentStore } from '../../domain/ports/payment-store.ts';
import { paymentOfRow } from '../payment-rows.ts';
import { AFTER_ALL_IDS, checkListLimit } from '../store-limits.ts';
import type { GroupRead } from './group-read.ts';
import { paymentColumns } from './payment-rows.ts';

type PaymentLists = Pick<
  PaymentStore,
  'listPayments' | 'listPaymentIds' | 'listDepositAddresses' | 'findPaymentsByRow'
>;

/** How many payments a filtered list looks at before other work gets its turn. */
const WINDOW = 1_000;

/** The reads that answer with more than one payment. */
export function createPaymentLists(database: DatabaseSync, reads: GroupRead): PaymentLists {
  const selectIds = database.prepare('SELECT id FROM payments WHERE id > ? AND id < ? ORDER BY id LIMIT ?');
  const selectAddresses = database.prepare(
    'SELECT row, deposit_address FROM payments WHERE row > ? ORDER BY row LIMIT ?',
  );
  selectAddresses.setReturnArrays(true);
  const selectByRow = database.prepare(`SELECT ${paymentColumns} FROM payments WHERE row = ?`);
  selectByRow.setReturnArrays(true);

  return {
    listPayments: prepareListPayments(database, reads),
    listPaymentIds: (after, below, limit) =>
      reads.run(() => {
        checkListLimit(limit);
        return selectIds.all(after, below, limit).map((row) => row.id as PaymentId);
      }),
    listDepositAddresses: (afterRow, limit) =>
      reads.run(() => {
        checkListLimit(limit);
        const rows = selectAddresses.all(afterRow, limit) as unknown as [number, Address][];
        return rows.map(([row, depositAddress]) => ({ row, depositAddress }));
      }),
    findPaymentsByRow: (rows) =>
      reads.run(() => {
        if (rows.length > 0) checkListLimit(rows.length);
        const payments: Payment[] = [];
        for (const row of rows) {
          const found = selectByRow.get(row);
          if (found !== undefined) payments.push(paymentOfRow(found));
        }
        return payments;
      }),
  };
}

/**
 * Without an index on the account (see the migrations), a filter looks at the payments one after another. It does
 * so in windows, each in a turn of its own, so that a long search holds nobody up.
 */
function prepareListPayments(database: DatabaseSync, reads: GroupRead): PaymentStore['listPayments'] {
  const selectWindowEnd = database.prepare(
    `SELECT id FROM payments WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ${WINDOW - 1}`,
  );
  const selectWindow = database.prepare(
    `SELECT ${paymentColumns} FROM payments
     WHERE id < ?1 AND id >= ?2 AND (?3 IS NULL OR account_id = ?3) AND (?4 IS NULL OR status = ?4)
     ORDER BY id DESC LIMIT ?5`,
  );
  selectWindow.setReturnArrays(true);

  return async (filter, before, limit) => {
    checkListLimit(limit);
    const payments: Payment[] = [];
    let upper = before ?? AFTER_ALL_IDS;
    for (;;) {
      const lower = await reads.run(() => {
        const end = (selectWindowEnd.get(upper)?.id as string | undefined) ?? null;
        const remaining = limit - payments.length;
        const rows = selectWindow.all(
          upper,
          end ?? '',
          filter.accountId ?? null,
          filter.status ?? null,
          remaining,
        );
        for (const row of rows as unknown as Parameters<typeof paymentOfRow>[0][])
          payments.push(paymentOfRow(row));
        return end;
      });
      if (lower === null || payments.length >= limit) return payments;
      upper = lower;
    }
  };
}
