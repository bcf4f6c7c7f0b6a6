/**
 * What the address book holds of this many payments that follow on each other: their row numbers, ascending, and the
 * first 32 bits of their deposit addresses, at the same index. A payment's address never changes, so neither does a
 * page.
 */
export interface AddressPage {
  /** The last row before this page, 0 for the first one: a page follows on the one that ends there. */
  readonly afterRow: number;
  readonly rows: Uint32Array;
  readonly prefixes: Uint32Array;
}

/** The address book as it was, so that a start reads megabytes of it instead of every payment there ever was. */
export interface AddressPageStore {
  /**
   * In the order of their rows, those that begin after this row or later.
   *
   * @throws when a page is damaged: an address that is missing would be a deposit that nobody sees
   */
  listAddressPages(afterRow: number, limit: number): Promise<readonly AddressPage[]>;
  /** Of several processes that keep the same page, the first one does. */
  keepAddressPage(page: AddressPage): Promise<void>;
}
