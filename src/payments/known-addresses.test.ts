import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Payment } from '../domain/payment.ts';
import { type Address, checksumAddress } from '../domain/payout-address.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import type { AddressPage, AddressPageStore } from '../domain/ports/settlement-store.ts';
import {
  createAddressBook,
  createKnownAddresses,
  createReservedAddressCheck,
  type KnownAddresses,
} from './known-addresses.ts';

const FIXED: Address = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
const OTHER: Address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const deposits: readonly Address[] = [
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
];

const noPages: AddressPageStore = { listAddressPages: async () => [], keepAddressPage: async () => {} };

describe('a reserved address', () => {
  let stored: Address[];
  let reads: number;
  let clockMs: number;
  let hold: Promise<void>;
  let failing: boolean;
  let isReserved: (address: Address) => Promise<boolean>;

  beforeEach(() => {
    stored = [];
    reads = 0;
    clockMs = 0;
    hold = Promise.resolve();
    failing = false;
    const payments = {
      async listDepositAddresses(afterRow: number) {
        reads++;
        if (failing) throw new Error('the store does not answer');
        await hold;
        return stored.map((depositAddress, index) => ({ row: index + 1, depositAddress })).slice(afterRow);
      },
      findPaymentsByRow: async (rows: readonly number[]) =>
        rows.map((row) => ({ depositAddress: stored[row - 1] }) as Payment),
    } as unknown as PaymentStore;
    isReserved = createReservedAddressCheck(createKnownAddresses(payments, noPages), [FIXED], () => clockMs);
  });

  it('is one of the fixed ones or the deposit address of any payment', async () => {
    stored.push(deposits[0] as Address);
    expect(await isReserved(FIXED)).toBe(true);
    expect(await isReserved(deposits[0] as Address)).toBe(true);
    expect(await isReserved(OTHER)).toBe(false);
  });

  it('is found without a watcher, a second after its payment was created at the latest', async () => {
    expect(await isReserved(OTHER)).toBe(false);
    stored.push(deposits[0] as Address);
    clockMs = 999;
    expect(await isReserved(deposits[0] as Address)).toBe(false);
    clockMs = 1_000;
    expect(await isReserved(deposits[0] as Address)).toBe(true);
  });

  it('is found by all who ask while the book is being caught up', async () => {
    stored.push(...deposits);
    const { promise, resolve } = Promise.withResolvers<void>();
    hold = promise;
    const answers = [...deposits, OTHER].map(isReserved);
    resolve();
    expect(await Promise.all(answers)).toEqual([true, true, false]);
    expect(reads).toBe(1);
  });

  it('costs two reads a second at most, and no wait while there are creates all the time', async () => {
    await isReserved(OTHER);
    for (clockMs = 1; clockMs <= 10_000; clockMs++) {
      expect(await isReserved(OTHER)).toBe(false);
      // Lets a catch-up end that went on beside it.
      await new Promise(setImmediate);
    }
    expect(reads).toBe(21);
  });

  it('is waited for when a catch-up takes until the book is older than a second', async () => {
    await isReserved(OTHER);
    const { promise, resolve } = Promise.withResolvers<void>();
    hold = promise;
    clockMs = 500;
    expect(await isReserved(OTHER)).toBe(false);
    clockMs = 1_000;
    stored.push(deposits[0] as Address);
    const answer = isReserved(deposits[0] as Address);
    resolve();
    expect(await answer).toBe(true);
    expect(reads).toBe(2);
  });

  it('is not taken for a free one when the book could not be read, and the next one asks again', async () => {
    stored.push(deposits[0] as Address);
    failing = true;
    await expect(isReserved(deposits[0] as Address)).rejects.toThrow('the store does not answer');
    failing = false;
    expect(await isReserved(deposits[0] as Address)).toBe(true);
  });

  it('that could not be read about beside a create is asked for by the next one that needs it', async () => {
    await isReserved(OTHER);
    failing = true;
    clockMs = 600;
    expect(await isReserved(OTHER)).toBe(false);
    await new Promise(setImmediate);
    clockMs = 1_000;
    await expect(isReserved(OTHER)).rejects.toThrow('the store does not answer');
  });
});

describe('the known addresses', () => {
  const addresses = Array.from(
    { length: 47 },
    (_, index) => `0x${(index * 7_654_321).toString(16).padStart(8, '0').repeat(5)}` as Address,
  );
  // Every third row number was given up, as PostgreSQL leaves gaps.
  const rowOf = (index: number) => index + 1 + Math.floor(index / 2);
  let stored: Address[];
  let pages: AddressPage[];
  let rowsRead: number;
  let losses: number;
  let isDiskFull: boolean;
  let start: () => KnownAddresses;

  beforeEach(() => {
    stored = addresses.slice(0, 44);
    pages = [];
    rowsRead = 0;
    isDiskFull = false;
    const payments = {
      async listDepositAddresses(afterRow: number) {
        const listed = stored.map((depositAddress, index) => ({ row: rowOf(index), depositAddress }));
        const page = listed.filter(({ row }) => row > afterRow);
        rowsRead += page.length;
        return page;
      },
      findPaymentsByRow: async (rows: readonly number[]) =>
        stored
          .filter((_, index) => rows.includes(rowOf(index)))
          .map((depositAddress) => ({ depositAddress }) as Payment),
    } as unknown as PaymentStore;
    const pageStore: AddressPageStore = {
      listAddressPages: async (afterRow, limit) =>
        pages
          .filter((page) => page.afterRow >= afterRow)
          .sort((left, right) => left.afterRow - right.afterRow)
          .slice(0, limit),
      async keepAddressPage(page) {
        if (isDiskFull) throw new Error('the disk is full');
        if (!pages.some(({ afterRow }) => afterRow === page.afterRow)) pages.push(page);
      },
    };
    losses = 0;
    start = () => createKnownAddresses(payments, pageStore, () => losses++, 4);
  });

  async function expectAllKnown(known: KnownAddresses) {
    expect(known.book.size).toBe(stored.length);
    for (const address of stored) expect((await known.findPayment(address))?.depositAddress).toBe(address);
  }

  it('are the same after a start, which reads the pages and only the payments that are in none', async () => {
    await start().catchUp();
    expect(pages).toHaveLength(11);
    stored = addresses;
    rowsRead = 0;
    const again = start();
    await again.catchUp();
    expect(rowsRead).toBe(3);
    await expectAllKnown(again);
  });

  it('are read from the payments where a page was not kept, and it is kept then', async () => {
    const first = start();
    isDiskFull = true;
    await expect(first.catchUp()).rejects.toThrow('the disk is full');
    isDiskFull = false;
    await first.catchUp();
    expect(pages).toHaveLength(10);
    await expectAllKnown(first);
    const second = start();
    await second.catchUp();
    await expectAllKnown(second);
    rowsRead = 0;
    const third = start();
    await third.catchUp();
    expect(rowsRead).toBe(0);
    await expectAllKnown(third);
  });

  it('are all there when several ask at once, and each page is whole', async () => {
    const known = start();
    await Promise.all([known.catchUp(), known.catchUp(), known.catchUp()]);
    await expectAllKnown(known);
    expect(pages).toHaveLength(11);
    expect(pages.flatMap(({ rows }) => [...rows])).toHaveLength(44);
  });

  it('take in a payment that follows on the last one without reading it, and no other', async () => {
    // Their last row is 67; those that follow are 68 and 70.
    stored = addresses.slice(0, 45);
    const known = start();
    known.add(1, addresses[0] as Address);
    expect(known.book.size).toBe(0);
    await known.catchUp();
    stored = addresses;
    rowsRead = 0;
    known.add(68, addresses[45] as Address);
    known.add(70, addresses[46] as Address);
    expect(known.book.size).toBe(46);
    await known.catchUp();
    expect(rowsRead).toBe(1);
    await expectAllKnown(known);
  });

  it('are read anew and reported once where the database lost the last ones, whose rows others have now', async () => {
    stored = addresses.slice(0, 30);
    const known = start();
    await known.catchUp();
    const before = known.book;
    // The pages are in the same database, and what it lost of the payments it lost of them.
    pages = pages.filter(({ rows }) => rows.every((row) => row <= rowOf(19)));
    stored = [...addresses.slice(0, 20), ...addresses.slice(30, 45)];
    expect(losses).toBe(0);
    await Promise.all([known.catchUp(), known.catchUp()]);
    expect(losses).toBe(1);
    expect(known.book).not.toBe(before);
    await expectAllKnown(known);
    expect(await known.findPayment(addresses[25] as Address)).toBe(null);
  });

  it('are read anew where the last one is gone and nobody has its row', async () => {
    stored = addresses.slice(0, 7);
    const known = start();
    await known.catchUp();
    stored = addresses.slice(0, 6);
    await known.catchUp();
    await expectAllKnown(known);
  });

  it('keep the page that a payment completes which was taken in', async () => {
    stored = addresses.slice(0, 1);
    const known = start();
    await known.catchUp();
    stored = addresses.slice(0, 2);
    known.add(2, addresses[1] as Address);
    stored = addresses.slice(0, 4);
    await known.catchUp();
    expect(pages.map(({ rows }) => [...rows])).toEqual([[1, 2, 4, 5]]);
    const again = start();
    await again.catchUp();
    await expectAllKnown(again);
  });

  it('are refused when the pages are of other payments', async () => {
    await start().catchUp();
    stored = addresses.slice(3, 47);
    await expect(start().catchUp()).rejects.toThrow('address_pages belongs to other payments');
    stored = addresses.slice(0, 20);
    await expect(start().catchUp()).rejects.toThrow('address_pages belongs to other payments');
  });
});

const digits = fc.stringMatching(/^[0-9a-f]{40}$/);
/** Many addresses that share their first 32 bits, on which the table is built. */
const crowded = fc.tuple(
  fc.constantFrom('00000000', 'ffffffff', 'deadbeef'),
  fc.stringMatching(/^[0-9a-f]{32}$/),
);

function addressOf(hexDigits: string): Address {
  return checksumAddress(hexDigits);
}

/** Address number n, spread evenly. */
function numbered(n: number): Address {
  const prefix = (Math.imul(n, 2_654_435_761) >>> 0).toString(16).padStart(8, '0');
  return `0x${prefix}${n.toString(16).padStart(32, '0')}`;
}

describe('the address book', () => {
  it('knows every address that was added, in any case, and is sure about the others', () => {
    const anyDigits = fc.oneof(
      digits,
      crowded.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.uniqueArray(anyDigits, { maxLength: 80 }), fc.array(anyDigits), (added, others) => {
        const book = createAddressBook();
        for (const [index, hexDigits] of added.entries()) book.add(index + 1, addressOf(hexDigits));
        expect(book.size).toBe(added.length);
        for (const [index, hexDigits] of added.entries()) {
          for (const text of [addressOf(hexDigits), `0x${hexDigits}`, `0x${hexDigits.toUpperCase()}`]) {
            expect(book.isCandidate(text)).toBe(true);
            expect(book.candidatesOf(text)).toContain(index + 1);
          }
        }
        const prefixes = new Set(added.map((hexDigits) => hexDigits.slice(0, 8)));
        for (const other of others) {
          expect(book.isCandidate(`0x${other}`)).toBe(prefixes.has(other.slice(0, 8)));
        }
      }),
    );
  });

  it('names all rows that share the first 32 bits, and no other', () => {
    const book = createAddressBook();
    const tail = (n: number) => n.toString(16).padStart(32, '0');
    book.add(1, `0xdeadbeef${tail(1)}`);
    book.add(2, `0xdeadbef0${tail(2)}`);
    book.add(3, `0xdeadbeef${tail(3)}`);
    expect(book.candidatesOf(`0xDEADBEEF${tail(9)}`).sort()).toEqual([1, 3]);
    expect(book.candidatesOf(`0xdeadbef0${tail(9)}`)).toEqual([2]);
    expect(book.candidatesOf(`0xdeadbeee${tail(9)}`)).toEqual([]);
  });

  it('grows, and still knows the first as well as the last', () => {
    const book = createAddressBook();
    for (let row = 1; row <= 20_000; row++) book.add(row, numbered(row));
    expect(book.size).toBe(20_000);
    for (let row = 1; row <= 20_000; row++) expect(book.candidatesOf(numbered(row))).toContain(row);
    let falseCandidates = 0;
    for (let row = 20_001; row <= 40_000; row++) if (book.isCandidate(numbered(row))) falseCandidates++;
    expect(falseCandidates).toBe(0);
  });

  it('lists its addresses for the node’s filter up to a thousand, and then no more', () => {
    const book = createAddressBook();
    expect(book.addresses).toEqual([]);
    for (let row = 1; row <= 1_000; row++) book.add(row, numbered(row));
    expect(book.addresses).toHaveLength(1_000);
    expect(book.addresses?.at(-1)).toBe(numbered(1_000));
    book.add(1_001, numbered(1_001));
    expect(book.addresses).toBeNull();
    expect(book.isCandidate(numbered(1_001))).toBe(true);
  });

  it('takes a row once: pages that overlap do no harm', () => {
    const book = createAddressBook();
    for (const row of [1, 2, 3, 2, 3, 1, 7]) book.add(row, numbered(row));
    expect(book.size).toBe(4);
    expect(book.lastRow).toBe(7);
    expect(book.addresses).toHaveLength(4);
    expect(book.candidatesOf(numbered(2))).toEqual([2]);
  });

  it('refuses a row number that it could not keep', () => {
    expect(() => createAddressBook().add(2 ** 32, numbered(1))).toThrow(RangeError);
  });
});
