import { readHexNumber } from '../platform/keccak.ts';
import type { Address } from './payout-address.ts';
import type { AddressPage } from './ports/settlement-store.ts';

/**
 * Which deposit addresses are ours, for all payments there ever were, in twelve to sixteen bytes each: an
 * open-addressing table from the first 32 bits of an address to the payment's row number. A hit is a candidate that
 * the caller verifies against the row; a miss is certain. (A Map of a million addresses takes 225 MB, an index in
 * the database slows every creation down.)
 */
export interface AddressBook {
  readonly size: number;
  /** The highest row number added, 0 while empty. */
  readonly lastRow: number;
  /** Rows must be added in ascending order; a row that was already added is ignored. */
  add(row: number, address: Address): void;
  /** The same for the rows of a page. */
  addPage(page: AddressPage): void;
  /** Whether an address (any case) may be ours. */
  isCandidate(address: string): boolean;
  /** All addresses while there are at most a thousand, to be filtered for at the node; then null. */
  readonly addresses: readonly Address[] | null;
  /** Row numbers that may belong to an address (any case); mostly none or one. */
  candidatesOf(address: string): number[];
}

/** Nodes take about this many addresses in one filter. */
const MAXIMUM_LISTED_ADDRESSES = 1000;
const MAXIMUM_LOAD = 0.6;
const INITIAL_CAPACITY = 1024;

/** CREATE2 addresses are uniformly distributed, so their first 32 bits serve as the hash. */
function prefixOf(address: string): number {
  return readHexNumber(address, 2, 10);
}

export function createAddressBook(): AddressBook {
  const table = createPrefixTable();
  let addresses: Address[] | null = [];
  let lastRow = 0;

  function append(row: number, prefix: number): void {
    if (row > 0xffff_ffff) throw new RangeError('the address book holds row numbers of 32 bits');
    table.insert(prefix, row);
    lastRow = row;
  }

  return {
    get size() {
      return table.size;
    },
    get lastRow() {
      return lastRow;
    },
    get addresses() {
      return addresses;
    },
    add(row, address) {
      if (row <= lastRow) return;
      append(row, prefixOf(address));
      if (table.size <= MAXIMUM_LISTED_ADDRESSES) addresses?.push(address);
      else addresses = null;
    },
    addPage(page) {
      // A page holds only the prefixes.
      addresses = null;
      for (let index = 0; index < page.rows.length; index++) {
        const row = page.rows[index] as number;
        if (row > lastRow) append(row, page.prefixes[index] as number);
      }
    },
    isCandidate: (address) => table.has(prefixOf(address)),
    candidatesOf: (address) => table.rowsOf(prefixOf(address)),
  };
}

/** An open-addressing table from prefixes to row numbers, several of one prefix among them. */
function createPrefixTable() {
  let prefixes = new Uint32Array(INITIAL_CAPACITY);
  let rows = new Uint32Array(INITIAL_CAPACITY); // 0 marks an empty slot; row numbers begin at 1.
  let size = 0;

  function place(prefix: number, row: number): void {
    const mask = rows.length - 1;
    let slot = prefix & mask;
    while (rows[slot] !== 0) slot = (slot + 1) & mask;
    prefixes[slot] = prefix;
    rows[slot] = row;
  }

  function grow(): void {
    const [oldPrefixes, oldRows] = [prefixes, rows];
    prefixes = new Uint32Array(oldRows.length * 2);
    rows = new Uint32Array(oldRows.length * 2);
    for (let slot = 0; slot < oldRows.length; slot++) {
      if (oldRows[slot] !== 0) place(oldPrefixes[slot] as number, oldRows[slot] as number);
    }
  }

  return {
    get size() {
      return size;
    },
    insert(prefix: number, row: number): void {
      if (size + 1 > rows.length * MAXIMUM_LOAD) grow();
      place(prefix, row);
      size++;
    },
    /** Runs for each create and each transfer of the token, so a miss allocates no list. */
    has(prefix: number): boolean {
      const mask = rows.length - 1;
      for (let slot = prefix & mask; rows[slot] !== 0; slot = (slot + 1) & mask) {
        if (prefixes[slot] === prefix) return true;
      }
      return false;
    },
    rowsOf(prefix: number): number[] {
      const mask = rows.length - 1;
      const found: number[] = [];
      for (let slot = prefix & mask; rows[slot] !== 0; slot = (slot + 1) & mask) {
        if (prefixes[slot] === prefix) found.push(rows[slot] as number);
      }
      return found;
    },
  };
}

/** Collects what is added to the address book until it makes a page. */
export interface AddressPageDraft {
  /** Rows in ascending order. Returns the page that this row completes, and begins the next one. */
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
