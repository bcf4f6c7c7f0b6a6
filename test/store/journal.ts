import { expect, it } from 'vitest';
import type { Store } from '../../src/app/store/store.ts';
import type { Address } from '../../src/payment/address.ts';
import type { Payment } from '../../src/payment/payment.ts';
import {
  hashOfEntry,
  type JournalEntry,
  NO_MOVEMENTS,
  netEntries,
  placeOfEntry,
} from '../../src/settlement/journal.ts';
import { ADDRESS, atOnce, givePayment, givePayments, leave, type StoreContext } from './fixtures.ts';
import { block, depositOf, releaseOf, scan } from './observations.ts';

export async function readJournal(store: Store): Promise<readonly JournalEntry[]> {
  const book: JournalEntry[] = [];
  for (;;) {
    const page = await store.observations.listEntries(book.length, 1_000);
    book.push(...page);
    if (page.length < 1_000) return book;
  }
}

/** Every entry follows on the one before it and has the hash of its contents. */
export function expectOneChain(book: readonly JournalEntry[]): void {
  let previousHash = NO_MOVEMENTS.hash;
  for (const [index, entry] of book.entries()) {
    expect(entry).toMatchObject({ number: index + 1, previousHash });
    expect(entry.hash).toBe(hashOfEntry(entry));
    previousHash = entry.hash;
  }
}

const inShort = (book: readonly JournalEntry[]) =>
  book.map(({ kind, units, transactionHash, blockNumber }) => [kind, units, transactionHash, blockNumber]);

export function journalPromises(context: StoreContext): void {
  const { store } = context;
  const { observations } = store;
  it('enters what became final, in chain order, and nothing that a reorganization may still take back', async () => {
    const [one, other] = (await givePayments(store, 2)) as [Payment, Payment];
    await observations.startCursor(block(10));
    const deposits = [depositOf(one, 12), depositOf(other, 17), depositOf(one, 11, 5, 2n ** 256n - 1n)];
    await observations.recordScan(scan(10, 15, 20, { deposits, releases: [releaseOf(one, 13)] }), leave);
    expect(inShort(await readJournal(store))).toEqual([
      ['deposited', 2n ** 256n - 1n, 'transaction 11', 11],
      ['deposited', 1_000_000n, 'transaction 12', 12],
      ['forwarded', 975_000n, 'release 13', 13],
      ['fee', 25_000n, 'release 13', 13],
    ]);
    await observations.recordScan(scan(15, 18, 20, { deposits: [depositOf(other, 17)] }), leave);
    await context.reopen();
    const book = await readJournal(store);
    expect(inShort(book).slice(4)).toEqual([['deposited', 1_000_000n, 'transaction 17', 17]]);
    expectOneChain(book);
    expect(await observations.listEntriesOf(other.id)).toEqual(book.slice(4));
    expect(await observations.listEntries(2, 1)).toEqual(book.slice(2, 3));
  });

  it('enters what an earlier scan had missed, once', async () => {
    const payment = await givePayment(store);
    await observations.startCursor(block(10));
    await observations.recordScan(scan(10, 15, 15), leave);
    const missed = { from: block(15), deposits: [depositOf(payment, 12)], releases: [] };
    await observations.recordMissed(missed, leave);
    await observations.recordMissed(missed, leave);
    expect(inShort(await readJournal(store))).toEqual([['deposited', 1_000_000n, 'transaction 12', 12]]);
  });

  it('answers lost final blocks with new entries that take back, and changes none', async () => {
    const payment = await givePayment(store);
    await observations.startCursor(block(10));
    const rows = {
      deposits: [depositOf(payment, 12), depositOf(payment, 14)],
      releases: [releaseOf(payment, 13)],
    };
    await observations.recordScan(scan(10, 13, 14, rows), leave);
    const before = await readJournal(store);
    await observations.rewindTo(block(11), leave);
    const after = await readJournal(store);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(inShort(after.slice(before.length))).toEqual([
      ['deposited', -1_000_000n, 'transaction 12', 12],
      ['forwarded', -975_000n, 'release 13', 13],
      ['fee', -25_000n, 'release 13', 13],
    ]);
    expectOneChain(after);
    expect(netEntries(after)).toEqual([]);
    await observations.recordScan(scan(11, 14, 14, { deposits: [depositOf(payment, 14)] }), leave);
    expect(netEntries(await observations.listEntriesOf(payment.id)).map(placeOfEntry)).toEqual([
      'deposited  transaction 14:0 in block 14',
    ]);
  });

  it('enters what was rescued once it is final, once however often it is found, and takes it back', async () => {
    const { id: paymentId } = await givePayment(store);
    await observations.startCursor(block(10));
    const token: Address = ADDRESS;
    const rescueIn = (blockNumber: number) => ({
      paymentId,
      blockNumber,
      logIndex: 0,
      transactionHash: `rescue ${blockNumber}`,
      token,
      units: 5n,
    });
    const none = { deposits: [], releases: [] };
    await observations.recordScan(scan(10, 13, 20, { rescues: [rescueIn(12), rescueIn(14)] }), leave);
    const expected = ['rescued', 5n, 'rescue 12', 12];
    expect(inShort(await readJournal(store))).toEqual([expected]);
    const missed = { from: block(13), ...none, rescues: [rescueIn(11), rescueIn(12)] };
    expect(await observations.recordMissed(missed, leave)).toEqual({ added: 1 });
    expect(await observations.recordMissed(missed, leave)).toEqual({ added: 0 });
    const outside = { from: block(13), ...none, rescues: [rescueIn(14)] };
    await expect(observations.recordMissed(outside, leave)).rejects.toThrow(RangeError);
    await observations.rewindTo(block(11), leave);
    await observations.recordScan(scan(11, 12, 12, { rescues: [rescueIn(12)] }), leave);
    const book = await readJournal(store);
    expectOneChain(book);
    expect(inShort(book)).toEqual([
      expected,
      ['rescued', 5n, 'rescue 11', 11],
      ['rescued', -5n, 'rescue 12', 12],
      expected,
    ]);
    expect(book[0]).toMatchObject({ token });
  });

  it('stays one chain when writers race', async () => {
    const payments = await givePayments(store, 20);
    await observations.startCursor(block(10));
    await observations.recordScan(scan(10, 50, 50), leave);
    await atOnce(20, (index) => {
      const deposits = [depositOf(payments[index] as Payment, 20 + index)];
      return observations.recordMissed({ from: block(50), deposits, releases: [] }, leave);
    });
    const book = await readJournal(store);
    expect(book).toHaveLength(20);
    expectOneChain(book);
  });

  it.each(['UPDATE journal SET units = units', 'DELETE FROM journal WHERE number = 1'])(
    'is guarded by the database itself: %s',
    async (sql) => {
      const payment = await givePayment(store);
      await observations.startCursor(block(10));
      await observations.recordScan(scan(10, 13, 14, { deposits: [depositOf(payment, 12)] }), leave);
      await expect(context.change(sql)).rejects.toThrow(/journal is never/);
      expect(await readJournal(store)).toHaveLength(1);
    },
  );
}
