import type { Payment } from '../domain/payment.ts';
import { AFTER_ALL_IDS } from '../domain/payment-id.ts';
import type { Address } from '../domain/payout-address.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import type { AddressPage, AddressPageStore } from '../domain/ports/settlement-store.ts';
import type { StoreParts, Stores } from '../domain/ports/stores.ts';
import { readHexNumber } from '../platform/keccak.ts';

export type KnownAddresses = ReturnType<typeof createKnownAddresses>;

/**
 * Small, so that what was read is garbage before it is old: with 10,000 addresses at a time the heap grew to 190 MB
 * over a million of them and kept it.
 */
const READ_SIZE = 1_000;
/** Payments in a page that is kept: it is read in a millisecond, and what is in no page yet in some fifty. */
const PAGE_SIZE = 10_000;
/** Pages that are read at a time. */
const PAGES_AT_A_TIME = 8;

/**
 * The deposit addresses of all payments, kept in memory and filled from the store. They are read anew where the database has
 * lost payments that are known, as a standby that was promoted has: it gives their row numbers to others.
 *
 * @param onPaymentsLost called when they were read anew for that reason
 * @param pageSize how many payments a page has that is kept
 */
export function createKnownAddresses(
  payments: PaymentStore,
  pages: AddressPageStore,
  onPaymentsLost: () => void = () => {},
  pageSize = PAGE_SIZE,
) {
  let known = readAddresses(payments, pages, pageSize);
  return {
    get book(): AddressBook {
      return known.book;
    },
    /** Takes in all payments created since the last call. */
    async catchUp(): Promise<void> {
      const former = known;
      if (await hasLastPaymentOf(former.book, payments)) return former.catchUp();
      const anew = readAddresses(payments, pages, pageSize);
      await anew.catchUp();
      // Several calls can find out at once.
      if (known === former) onPaymentsLost();
      // Only when it is complete: an address that is missing meanwhile would hide a deposit.
      known = anew;
    },
    /**
     * Takes in a payment that was just created, unless others are missing before it; `catchUp` reads them all then. Most
     * payments come this way where one process creates them all, and none of those is read back.
     */
    add: (row: number, depositAddress: Address): void => known.add(row, depositAddress),
    /** The payment of a deposit address, or null when it is none of ours. */
    findPayment: (depositAddress: string): Promise<Payment | null> => known.findPayment(depositAddress),
  };
}

/** What was added to the address book since its last page, until it makes a page. */
interface AddressPageDraft {
  readonly afterRow: number;
  readonly rows: number[];
  readonly prefixes: number[];
}

function readAddresses(payments: PaymentStore, pages: AddressPageStore, pageSize: number) {
  const book = createAddressBook();
  let opening: Promise<void> | null = null;
  /** The page after the last stored one; null before all pages are read. */
  let draft: AddressPageDraft | null = null;
  /** Complete, and not kept yet. */
  const unkept: AddressPage[] = [];

  /** Takes in all pages; each follows on the one before it. What follows on them is drafted. */
  async function open(): Promise<void> {
    for (;;) {
      const kept = await pages.listAddressPages(book.lastRow, PAGES_AT_A_TIME);
      // One was not kept, for want of disk space perhaps. What follows is read from the payments, and it is kept now.
      const next = kept.findIndex(
        (page, index) => page.afterRow !== (kept[index - 1]?.rows.at(-1) ?? book.lastRow),
      );
      for (const page of kept.slice(0, next === -1 ? undefined : next)) book.addPage(page);
      if (next !== -1 || kept.length < PAGES_AT_A_TIME) break;
    }
    // Rows that are taken for known are not read again: pages of other payments would hide deposits.
    if (!(await hasLastPaymentOf(book, payments)))
      throw new Error('address_pages belongs to other payments; without its rows, the table is rebuilt');
    draft = { afterRow: book.lastRow, rows: [], prefixes: [] };
  }

  function openOnce(): Promise<void> {
    opening ??= open().catch((error) => {
      opening = null;
      throw error;
    });
    return opening;
  }

  function add(row: number, depositAddress: Address): void {
    book.add(row, depositAddress);
    if (draft === null) return;
    draft.rows.push(row);
    draft.prefixes.push(prefixOf(depositAddress));
    if (draft.rows.length < pageSize) return;
    const { afterRow, rows, prefixes } = draft;
    unkept.push({ afterRow, rows: Uint32Array.from(rows), prefixes: Uint32Array.from(prefixes) });
    draft = { afterRow: row, rows: [], prefixes: [] };
  }

  return {
    book,
    async catchUp(): Promise<void> {
      await openOnce();
      for (;;) {
        const listed = await payments.listDepositAddresses(book.lastRow, READ_SIZE);
        for (const { row, depositAddress } of listed) {
          // Taken in meanwhile by another call.
          if (row > book.lastRow) add(row, depositAddress);
        }
        // A page that cannot be stored is dropped: the next start reads its payments.
        for (let page = unkept.shift(); page !== undefined; page = unkept.shift()) {
          await pages.keepAddressPage(page);
        }
        if (listed.length < READ_SIZE) return;
      }
    },
    add(row: number, depositAddress: Address): void {
      if (draft !== null && row === book.lastRow + 1) add(row, depositAddress);
    },
    async findPayment(depositAddress: string): Promise<Payment | null> {
      const rows = book.candidatesOf(depositAddress);
      if (rows.length === 0) return null;
      const candidates = await payments.findPaymentsByRow(rows);
      const wanted = depositAddress.toLowerCase();
      return candidates.find((payment) => payment.depositAddress.toLowerCase() === wanted) ?? null;
    },
  };
}

/** Whether the last row of the address book still is the payment that it was. */
async function hasLastPaymentOf(
  { lastRow, candidatesOf }: AddressBook,
  payments: PaymentStore,
): Promise<boolean> {
  if (lastRow === 0) return true;
  const [last] = await payments.findPaymentsByRow([lastRow]);
  return last !== undefined && candidatesOf(last.depositAddress).includes(lastRow);
}

/** Maximum age of the address book when an address is validated: a payment this new may be missing in it. */
const MAXIMUM_AGE_MS = 1_000;
/**
 * Age from which the address book catches up in the background. A wait for that once a second made one create in a
 * hundred wait until all payments of that second were read.
 */
const CATCH_UP_INTERVAL_MS = 500;

/**
 * Refuses payout addresses that are fixed ones or deposit addresses of this service. The watcher fills the address book
 * at its own interval, or in another process, so it catches up here as well, at most twice a second. A create waits for
 * that only when the address book is older than a second, as after an idle time. Bound: the deposit address of a payment
 * that another process created less than a second ago may pass. That takes a merchant who names it within that second,
 * and harms only this merchant: their customer's payment goes on to the payment whose address they named.
 */
export function createReservedAddressCheck(
  known: KnownAddresses,
  fixed: readonly Address[],
  monotonicMs: () => number,
): (address: Address) => Promise<boolean> {
  const fixedAddresses = new Set<string>(fixed);
  let caughtUpAtMs = Number.NEGATIVE_INFINITY;
  let catchingUp: Promise<void> | null = null;

  function refresh(startedAtMs: number): Promise<void> {
    catchingUp ??= known
      .catchUp()
      .then(() => {
        caughtUpAtMs = startedAtMs;
      })
      .finally(() => {
        catchingUp = null;
      });
    return catchingUp;
  }

  return async (address) => {
    if (fixedAddresses.has(address)) return true;
    const nowMs = monotonicMs();
    const ageMs = nowMs - caughtUpAtMs;
    if (ageMs >= MAXIMUM_AGE_MS) await refresh(nowMs);
    // A failure reaches the callers that wait, once the address book is too old.
    else if (ageMs >= CATCH_UP_INTERVAL_MS) refresh(nowMs).catch(() => {});
    return known.book.isCandidate(address) && (await known.findPayment(address)) !== null;
  };
}

export type OpenAddresses = ReturnType<typeof createOpenAddresses>;

/**
 * More are not filtered for at the node: an address takes 69 bytes in each request, and a log of the whole token about
 * 109 compressed, of which a busy block has some 75.
 */
const MAXIMUM_FILTERED = 128;

/** Payments since the oldest open one that are looked at; where there are more, too many are taken to be open. */
const MAXIMUM_LOOKED_AT = 2_000;
const ROWS_AT_A_TIME = 200;

/** Payments leave the list with this delay; they join it at once. */
const REFRESH_MS = 30_000;

/** Ids are ordered by time and rows by commit: a payment may have a lower row than one with a lower id. */
const ROWS_OF_DOUBT = 100;

interface OpenAddressesContext
  extends Pick<Stores, 'payments'>,
    StoreParts<{ observations: 'readExpiryWatermark' }> {
  readonly known: KnownAddresses;
  readonly monotonicMs: () => number;
}

/**
 * Deposit addresses of the payments that wait for money; money at any other one is found when its block is final. Begins
 * where the expiry step has come to: what is older waits for no money.
 */
export function createOpenAddresses(context: OpenAddressesContext) {
  const { payments, known, monotonicMs } = context;
  /** Null: too many. */
  let open: Set<Address> | null = null;
  let lastRow = 0;
  let refreshAtMs = Number.NEGATIVE_INFINITY;

  async function refresh(): Promise<void> {
    await known.catchUp();
    const startRow = await findFirstRow(context);
    lastRow = known.book.lastRow;
    open = null;
    if (startRow === null) open = new Set();
    else if (lastRow - startRow < MAXIMUM_LOOKED_AT) open = await listUnpaid(startRow - 1);
  }

  async function listUnpaid(afterRow: number): Promise<Set<Address>> {
    const unpaid = new Set<Address>();
    for (let after = afterRow; after < lastRow; after += ROWS_AT_A_TIME) {
      const rows = Array.from({ length: Math.min(ROWS_AT_A_TIME, lastRow - after) }, (_, i) => after + 1 + i);
      for (const { status, depositAddress } of await payments.findPaymentsByRow(rows)) {
        if (status === 'unpaid') unpaid.add(depositAddress);
      }
    }
    return unpaid;
  }

  async function addNew(): Promise<void> {
    const listed = await payments.listDepositAddresses(lastRow, MAXIMUM_LOOKED_AT / 2);
    if (listed.length === MAXIMUM_LOOKED_AT / 2) open = null;
    for (const { row, depositAddress } of listed) {
      lastRow = row;
      open?.add(depositAddress);
    }
    if ((open?.size ?? 0) > MAXIMUM_LOOKED_AT) open = null;
  }

  return {
    /** Null while there are more of them than are worth a filter. Includes every payment that was committed before. */
    async list(): Promise<readonly Address[] | null> {
      const nowMs = monotonicMs();
      if (nowMs >= refreshAtMs) {
        await refresh();
        refreshAtMs = nowMs + REFRESH_MS;
      } else if (open !== null) await addNew();
      return open === null || open.size > MAXIMUM_FILTERED ? null : [...open];
    },
  };
}

/** The row at which the open payments begin; null where there are none. */
async function findFirstRow({ payments, observations, known }: OpenAddressesContext): Promise<number | null> {
  const watermark = await observations.readExpiryWatermark();
  const [id] = await payments.listPaymentIds(watermark, AFTER_ALL_IDS, 1);
  const payment = id === undefined ? null : await payments.findPaymentById(id);
  if (payment === null) return null;
  const rows = known.book.candidatesOf(payment.depositAddress);
  // One that was committed after the address book was read is the newest of all.
  const row = rows.length === 0 ? known.book.lastRow + 1 : Math.min(...rows);
  return Math.max(1, row - ROWS_OF_DOUBT);
}

type AddressBook = ReturnType<typeof createAddressBook>;

/** Nodes take about this many addresses in one filter. */
const MAXIMUM_LISTED_ADDRESSES = 1000;
const MAXIMUM_LOAD = 0.6;
const INITIAL_CAPACITY = 1024;

/** CREATE2 addresses are uniformly distributed, so their first 32 bits serve as the hash. */
function prefixOf(address: string): number {
  return readHexNumber(address, 2, 10);
}

/**
 * Which deposit addresses are ours, for all payments there ever were, in twelve to sixteen bytes each: an
 * open-addressing table from the first 32 bits of an address to the payment's row number. A hit is a candidate that
 * the caller verifies against the row; a miss is certain. (A Map of a million addresses takes 225 MB, an index in
 * the database slows every creation down.)
 */
export function createAddressBook() {
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
    /** The highest row number added, 0 while empty. */
    get lastRow() {
      return lastRow;
    },
    /** All addresses while there are at most a thousand, to be filtered for at the node; then null. */
    get addresses(): readonly Address[] | null {
      return addresses;
    },
    /** Rows must be added in ascending order; a row that was already added is ignored. */
    add(row: number, address: Address): void {
      if (row <= lastRow) return;
      append(row, prefixOf(address));
      if (table.size <= MAXIMUM_LISTED_ADDRESSES) addresses?.push(address);
      else addresses = null;
    },
    /** The same for the rows of a page. */
    addPage(page: AddressPage): void {
      // A page holds only the prefixes.
      addresses = null;
      for (let index = 0; index < page.rows.length; index++) {
        const row = page.rows[index] as number;
        if (row > lastRow) append(row, page.prefixes[index] as number);
      }
    },
    /** Whether an address (any case) may be ours. */
    isCandidate: (address: string) => table.has(prefixOf(address)),
    /** Row numbers that may belong to an address (any case); mostly none or one. */
    candidatesOf: (address: string) => table.rowsOf(prefixOf(address)),
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
