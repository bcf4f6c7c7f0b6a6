import type { Store } from '../src/store/store.ts';

/** Larger portions than the worker's, so that it does not wait for the disk. */
const PORTION = 5_000;

/** Makes what lists, searches and statistics rest on, for as many payments as the store has. */
export async function indexStore({ search }: Pick<Store, 'search'>, payments: number): Promise<void> {
  for (let row = await search.readIndexWatermark(); row < payments; row += PORTION) {
    await search.indexPayments(row, Math.min(row + PORTION, payments));
    while ((await search.countPaid(PORTION)) > 0);
  }
}
