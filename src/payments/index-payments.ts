import type { StoreParts } from '../domain/ports/stores.ts';

export type IndexPaymentsContext = StoreParts<{
  payments: 'listDepositAddresses';
  search: 'readIndexWatermark' | 'indexPayments' | 'countPaid';
}>;

/** Payments in one step. With SQLite the writer shares the API's thread: this many take some milliseconds. */
export const PAYMENTS_AT_A_TIME = 250;

/**
 * Makes what lists, searches and statistics rest on, for the payments that were created or paid since the last step.
 * Returns whether there may be more.
 *
 * @param atATime the most of either that this step takes
 */
export async function indexPayments(
  { payments, search }: IndexPaymentsContext,
  atATime = PAYMENTS_AT_A_TIME,
): Promise<boolean> {
  const watermark = await search.readIndexWatermark();
  // This list, because it alone promises that no lower row can still appear.
  const listed = await payments.listDepositAddresses(watermark, atATime);
  const last = listed.at(-1);
  if (last !== undefined) await search.indexPayments(watermark, last.row);
  const counted = await search.countPaid(atATime);
  return listed.length === atATime || counted === atATime;
}

/** Indexes and counts what is left, however far the index lags: books are made of all payments, or they are wrong. */
export async function catchUpIndex(context: IndexPaymentsContext): Promise<void> {
  while (await indexPayments(context));
}
