import { beforeEach, describe, expect, it } from 'vitest';
import type { Payment } from '../domain/payment.ts';
import type { Address } from '../domain/payout-address.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import type { AddressPage, AddressPageStore } from '../domain/ports/settlement-store.ts';
import { createKnownAddresses, createReservedAddressCheck, type KnownAddresses } from './known-addresses.ts';

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
  let stored: Address[];
  let pages: AddressPage[];
  let rowsRead: number;
  let isDiskFull: boolean;
  let start: () => KnownAddresses;

  beforeEach(() => {
    stored = addresses.slice(0, 44);
    pages = [];
    rowsRead = 0;
    isDiskFull = false;
    // Every third row number was given up, as PostgreSQL leaves gaps.
    const rowOf = (index: number) => index + 1 + Math.floor(index / 2);
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
    start = () => createKnownAddresses(payments, pageStore, 4);
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
