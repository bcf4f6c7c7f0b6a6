import { prefixOf } from './address-book.ts';
import type { Address } from './payout-address.ts';
import type { AddressPage } from './ports/address-page-store.ts';

/** Collects what is added to the address book until it makes a page. */
export interface AddressPageDraft {
  /** Rows in ascending order. Answers with the page that this row completes, and begins the next one. */
  add(row: number, depositAddress: Address): AddressPage | null;
}

/** @param pageSize how many rows a page has */
export function createAddressPageDraft(afterRow: number, pageSize: number): AddressPageDraft {
  let rows = new Uint32Array(pageSize);
  let prefixes = new Uint32Array(pageSize);
  let beginsAfterRow = afterRow;
  let count = 0;
  return {
    add(row, depositAddress) {
      rows[count] = row;
      prefixes[count] = prefixOf(depositAddress);
      count++;
      if (count < pageSize) return null;
      const page = { afterRow: beginsAfterRow, rows, prefixes };
      rows = new Uint32Array(pageSize);
      prefixes = new Uint32Array(pageSize);
      beginsAfterRow = row;
      count = 0;
      return page;
    },
  };
}
