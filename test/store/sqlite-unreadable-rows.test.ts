import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { inSqliteFile } from '../support/sqlite-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { failedResult, givePayment, leave, NOW_MS, pay, webhook } from './fixtures.ts';

let file: string;
let store: Store;

beforeEach(async () => {
  file = join(temporaryFolder(), 'store.sqlite');
  store = await openSqliteStore({ file });
});
afterEach(() => store.close());

const hashOf = (digit: string) => `0x${digit.repeat(64)}`;
const blockAt = (number: number) => ({ number, hash: hashOf(String(number)), timestampMs: NOW_MS });

/** Changes rows behind the store's back: amounts that are none, JSON that ends early. */
async function spoil(...changes: readonly string[]): Promise<void> {
  await store.close();
  inSqliteFile(file, (database) => database.exec(changes.join(';')));
  store = await openSqliteStore({ file });
}

it('a row that cannot be read as it is does not keep others from being read', async () => {
  const [spoiled, other] = [await givePayment(store), await givePayment(store)];
  await store.observations.startCursor(blockAt(1));
  const deposits = [spoiled, other].map(({ id, accountId }, index) => ({
    paymentId: id,
    accountId,
    transactionHash: hashOf(String(7 + index)),
    logIndex: index,
    blockNumber: 2,
    units: 5_000_000n,
  }));
  const scan = { from: blockAt(1), final: blockAt(2), scannedTo: 2, deposits, releases: [] };
  await store.observations.recordScan(scan, leave);
  await spoil(
    `UPDATE payments SET release_due_at_ms = 1`,
    `UPDATE deposits SET units = 'none' WHERE payment_id = '${spoiled.id}'`,
  );
  const { observations, payments, relay } = store;

  expect(await observations.readCursor()).toMatchObject({ number: 2, hash: hashOf('2') });
  expect((await observations.listCheckpoints(10)).map(({ number }) => number)).toEqual([2, 1]);
  const views = await Promise.all([spoiled, other].map((payment) => payments.viewPayment(payment.id)));
  expect(views.map((view) => view?.observations.deposits.map(({ units }) => units))).toEqual([
    [0n],
    [5_000_000n],
  ]);
  const due = await relay.claimDueReleases('relayer', NOW_MS, 10, 1_000);
  expect(due.map(({ id }) => id).sort()).toEqual([spoiled.id, other.id].sort());
  await observations.recordScan(
    { ...scan, from: blockAt(2), final: blockAt(3), scannedTo: 3, deposits: [] },
    leave,
  );
  expect(await observations.readCursor()).toEqual(blockAt(3));
});

it('a list or an event that cannot be read keeps no other one from being read', async () => {
  const [spoiled, other] = [
    await givePayment(store, { email: 'ada@shop.example' }),
    await givePayment(store),
  ];
  for (const payment of [spoiled, other]) await store.payments.decidePayment(payment.id, pay);
  await spoil(
    `UPDATE webhooks SET fields = '{"event":' WHERE payment_id = '${spoiled.id}'`,
    `UPDATE accounts SET features = '["card_che', providers = 'moonpay' WHERE id = '${spoiled.accountId}'`,
  );
  const { accounts, webhooks, emails } = store;

  // Nothing is granted by what cannot be read.
  expect(await accounts.findAccount(spoiled.accountId)).toMatchObject({ features: [], providers: [] });
  expect((await accounts.searchAccounts({ search: null, before: null }, 50)).length).toBeGreaterThan(0);
  const claimed = await claimOldest(webhooks, 10, NOW_MS);
  expect(Object.fromEntries(claimed.map(({ paymentId, fields }) => [paymentId, fields]))).toEqual({
    [spoiled.id]: {},
    [other.id]: webhook.fields,
  });
  for (const each of claimed) await webhooks.recordWebhookResult(each, failedResult);
  expect(await emails.eraseEmail(spoiled)).toBe('erased');
});
