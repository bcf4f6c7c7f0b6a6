import { hash } from 'node:crypto';
import type { AddressPage, AddressPageStore } from '../domain/ports/settlement-store.ts';
import { checkedLimit, run, type Scripts } from './scripts.ts';

/** A row of the table: for each payment four bytes of its row number and four of its prefix, little-endian. */
export interface StoredAddressPage {
  readonly afterRow: number;
  readonly entries: Uint8Array;
  /** SHA-256 of the entries, hexadecimal. */
  readonly entriesHash: string;
}

const ENTRY_BYTES = 8;

/** Pages of the address book, on any engine. */
export function createAddressPageStore({ read, writeStatement }: Scripts): AddressPageStore {
  return {
    listAddressPages: read(function* (afterRow, limit) {
      const rows = yield* run`
        SELECT after_row AS "afterRow", entries, entries_hash AS "entriesHash" FROM address_pages
        WHERE after_row >= ${afterRow} ORDER BY after_row LIMIT ${checkedLimit(limit)}`;
      return (rows as unknown as StoredAddressPage[]).map(pageOfStored);
    }),
    keepAddressPage: writeStatement(function* (page) {
      const { afterRow, entries, entriesHash } = storedPageOf(page);
      yield* run`
        INSERT INTO address_pages (after_row, entries, entries_hash)
        VALUES (${afterRow}, ${entries}, ${entriesHash}) ON CONFLICT (after_row) DO NOTHING`;
    }),
  };
}

export function storedPageOf({ afterRow, rows, prefixes }: AddressPage): StoredAddressPage {
  const entries = new Uint8Array(rows.length * ENTRY_BYTES);
  const view = new DataView(entries.buffer);
  for (let index = 0; index < rows.length; index++) {
    view.setUint32(index * ENTRY_BYTES, rows[index] as number, true);
    view.setUint32(index * ENTRY_BYTES + 4, prefixes[index] as number, true);
  }
  return { afterRow, entries, entriesHash: hash('sha256', entries) };
}

/** @throws when the entries are not those that were stored */
export function pageOfStored({ afterRow, entries, entriesHash }: StoredAddressPage): AddressPage {
  if (entries.length % ENTRY_BYTES !== 0 || hash('sha256', entries) !== entriesHash) {
    throw new Error(
      `the page of address_pages after row ${afterRow} is damaged; without its rows the table is made anew`,
    );
  }
  const count = entries.length / ENTRY_BYTES;
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  const page = { afterRow, rows: new Uint32Array(count), prefixes: new Uint32Array(count) };
  for (let index = 0; index < count; index++) {
    page.rows[index] = view.getUint32(index * ENTRY_BYTES, true);
    page.prefixes[index] = view.getUint32(index * ENTRY_BYTES + 4, true);
  }
  return page;
}
