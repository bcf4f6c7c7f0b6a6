import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { afterAll, expect, it, vi } from 'vitest';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import { type Address, checksumAddress } from '../../src/payment/address.ts';
import type { ChainView, LogQuery, TransferLog } from '../../src/settlement/chain/chain.ts';
import { readPaymentLogs } from '../../src/settlement/watch-deposits.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ADDRESS, givePayment, givePayments, leave } from './fixtures.ts';
import { block, scan } from './observations.ts';

/** Anyone can make events at the deposit address of any payment. A pass reads its own, whatever came before. */

let rowsRead = 0;
let readsMs: number[] = [];
const all = StatementSync.prototype.all;
vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync, ...values) {
  const startedMs = performance.now();
  const rows = all.apply(this, values);
  readsMs.push(performance.now() - startedMs);
  rowsRead += rows.length;
  return rows;
});

const store = await openSqliteStore({ file: join(temporaryFolder(afterAll), 'checkout.sqlite') });
afterAll(() => store.close());

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

it('10,000 transfers to strangers in a page cost look-ups of 500 with turns between them, and hide none of ours', async () => {
  const own = await givePayments(store, 2);
  const strangers = Array.from({ length: 10_000 }, (_, index) =>
    checksumAddress(`${index}`.padStart(40, 'e')),
  );
  const recipients = [own[0]?.depositAddress, ...strangers, own[1]?.depositAddress] as Address[];
  const transfers = recipients.map(
    (recipient, logIndex): TransferLog => ({
      recipient,
      units: 1n,
      blockNumber: 7,
      logIndex,
      transactionHash: '0x7',
    }),
  );
  const view = {
    async readLogs({ ownOf }: LogQuery) {
      const kept = await ownOf?.(new Set(recipients.map((recipient) => recipient.toLowerCase())));
      const ours = transfers.filter(({ recipient }) => kept?.has(recipient.toLowerCase()));
      return { transfers: ours, forwarded: [], rescued: [], scannedTo: block(7) };
    },
  } as unknown as ChainView;
  const query = { fromBlock: 7, toBlock: 7, recipients: null };
  const asked: number[] = [];
  const counted = {
    ...store.payments,
    findDepositOwners: (addresses: readonly string[]) => {
      asked.push(addresses.length);
      return store.payments.findDepositOwners(addresses);
    },
  };
  const { rows } = await readPaymentLogs(counted, view, query);
  expect(rows.deposits.map(({ paymentId }) => paymentId)).toEqual(own.map(({ id }) => id));
  expect(asked).toEqual([...Array(20).fill(500), 2, 2]);

  let turns = 0;
  const turn = () => {
    turns++;
    timer = setImmediate(turn);
  };
  let timer = setImmediate(turn);
  const readings: number[][] = [];
  for (let reading = 0; reading < 5; reading++) {
    readsMs = [];
    await readPaymentLogs(store.payments, view, query);
    readings.push(readsMs);
  }
  clearImmediate(timer);
  expect(turns).toBeGreaterThanOrEqual(5 * 20);
  // The quickest of each look-up: in the others, another process may have had the processor meanwhile.
  const steps = asked.map((_, step) => Math.min(...readings.map((times) => times[step] ?? Number.NaN)));
  expect(Math.max(...steps)).toBeLessThan(10);
});
