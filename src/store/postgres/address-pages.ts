import type { AddressPageStore } from '../../domain/ports/address-page-store.ts';
import { pageOfStored, type StoredAddressPage, storedPageOf } from '../address-pages.ts';
import { checkListLimit } from '../store-limits.ts';
import type { Database } from './open-database.ts';
import { statement } from './statement.ts';

const insert = statement(`
  INSERT INTO address_pages (after_row, entries, entries_hash) VALUES ($1, $2, $3)
  ON CONFLICT (after_row) DO NOTHING`);
const select = statement(`
  SELECT after_row AS "afterRow", entries, entries_hash AS "entriesHash"
  FROM address_pages WHERE after_row >= $1 ORDER BY after_row LIMIT $2`);

export function createAddressPageStore(database: Database): AddressPageStore {
  return {
    async listAddressPages(afterRow, limit) {
      checkListLimit(limit);
      return (await database.query<StoredAddressPage>(select, [afterRow, limit])).map(pageOfStored);
    },
    async keepAddressPage(page) {
      const { afterRow, entries, entriesHash } = storedPageOf(page);
      await database.execute(insert, [afterRow, Buffer.from(entries), entriesHash]);
    },
  };
}
