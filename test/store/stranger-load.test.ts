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
  const { id: paymentId, accountId } = await givePayment(store);
  const rescuesIn = (blockNumber: number, count: number) =>
    Array.from({ length: count }, (_, logIndex) => {
      const place = { transactionHash: `rescue ${blockNumber}`, blockNumber, logIndex };
      return { paymentId, accountId, ...place, token: ADDRESS, units: 1n } as const;
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
