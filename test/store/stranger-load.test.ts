import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { afterAll, expect, it, vi } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { ADDRESS, givePayment, leave } from './fixtures.ts';
import { block, scan } from './observations.ts';

/** Anyone can make events at the deposit address of any payment. A pass reads its own, whatever came before. */

let rowsRead = 0;
const all = StatementSync.prototype.all;
vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync, ...values) {
  const rows = all.apply(this, values);
  rowsRead += rows.length;
  return rows;
});

const folder = mkdtempSync(join(tmpdir(), 'card-checkout-load-'));
const store = await openSqliteStore({ file: join(folder, 'checkout.sqlite') });
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

it('a pass over rescued tokens reads no more of a payment that has thousands of them', async () => {
  const { id: paymentId } = await givePayment(store);
  const rescuesIn = (blockNumber: number, count: number) =>
    Array.from({ length: count }, (_, logIndex) => {
      const place = { transactionHash: `rescue ${blockNumber}`, blockNumber, logIndex };
      return { paymentId, ...place, token: ADDRESS, units: 1n } as const;
    });
  const { observations } = store;
  await observations.startCursor(block(10));
  await observations.recordScan(scan(10, 11, 11, { rescues: rescuesIn(11, 3_000) }), leave);
  rowsRead = 0;
  await observations.recordScan(scan(11, 12, 12, { rescues: rescuesIn(12, 20) }), leave);
  const again = { deposits: [], releases: [], rescues: rescuesIn(12, 20) };
  expect((await observations.listMissing(again)).rescues).toEqual([]);
  expect(await observations.recordMissed({ from: block(12), ...again }, leave)).toEqual({ added: 0 });
  expect(rowsRead).toBeLessThan(100);
});

it('a payment with thousands of deposits of dust is read as one with a few, and by verify with all of them', async () => {
  const payment = await givePayment(store);
  const { id } = payment;
  const rowIn = (blockNumber: number, logIndex: number) => ({
    paymentId: id,
    transactionHash: `of ${id} in ${blockNumber}`,
    blockNumber,
    logIndex,
  });
  const { observations, payments } = store;
  const { number: from } = (await observations.readCursor()) ?? block(0);
  const customers = { ...rowIn(from + 1, 0), units: 5_000_000n };
  const dust = Array.from({ length: 3_000 }, (_, index) => ({ ...rowIn(from + 1, index + 1), units: 1n }));
  await observations.recordScan(scan(from, from + 1, from + 1, { deposits: [customers, ...dust] }), leave);
  rowsRead = 0;
  const late = { ...rowIn(from + 2, 0), units: 2n };
  await observations.recordScan(scan(from + 1, from + 2, from + 3, { deposits: [late] }), leave);
  const seen = (await payments.viewPayment(id))?.observations;
  expect(seen?.deposits.map(({ units }) => units)).toEqual([3_000n, 5_000_000n, 2n]);
  expect(rowsRead).toBeLessThan(20);

  const folded = await observations.listFolded(payment.id, { deposits: [], releases: [] });
  expect(folded.deposits).toHaveLength(1_000);
  expect((await observations.listMissing({ deposits: dust, releases: [] })).deposits).toEqual([]);
  expect(
    await observations.recordMissed({ from: block(from + 2), deposits: dust, releases: [] }, leave),
  ).toEqual({
    added: 0,
  });
  await observations.rewindTo(block(from), leave);
  expect((await payments.viewPayment(id))?.observations.deposits).toEqual([]);
});
