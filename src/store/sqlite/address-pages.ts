import type { DatabaseSync } from 'node:sqlite';
import type { AddressPageStore } from '../../domain/ports/address-page-store.ts';
import { pageOfStored, type StoredAddressPage, storedPageOf } from '../address-pages.ts';
import { checkListLimit } from '../store-limits.ts';
import type { GroupCommit } from './group-commit.ts';
import type { GroupRead } from './group-read.ts';

export function createAddressPageStore(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
): AddressPageStore {
  const insert = database.prepare(
    `INSERT INTO address_pages (after_row, entries, entries_hash) VALUES (?, ?, ?)
     ON CONFLICT (after_row) DO NOTHING`,
  );
  const select = database.prepare(
    `SELECT after_row AS "afterRow", entries, entries_hash AS "entriesHash"
     FROM address_pages WHERE after_row >= ? ORDER BY after_row LIMIT ?`,
  );
  return {
    listAddressPages: (afterRow, limit) =>
      reads.run(() => {
        checkListLimit(limit);
        return (select.all(afterRow, limit) as unknown as StoredAddressPage[]).map(pageOfStored);
      }),
    async keepAddressPage(page) {
      const { afterRow, entries, entriesHash } = storedPageOf(page);
      await writes.runStatement(() => insert.run(afterRow, entries, entriesHash));
    },
  };
}
