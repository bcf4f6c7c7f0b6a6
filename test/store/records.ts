import { expect, it } from 'vitest';
import type { AccountRecord } from '../../src/accounts/account-store.ts';
import type { StoreContext } from './fixtures.ts';

export function recordPromises(context: StoreContext): void {
  const { store } = context;
  const { records } = store;
  const record = (name: string, change: Partial<AccountRecord> = {}): AccountRecord => ({
    accountId: 'acc_1',
    kind: 'opened',
    name,
    texts: [],
    atMs: 1,
    ...change,
  });

  it('keep the first of a kind and name, and are listed by the account, the newest first', async () => {
    await records.addRecords([record('a'), record('b', { atMs: 2 }), record('a', { atMs: 3 })]);
    await records.addRecords([record('b', { atMs: 4 }), record('c', { accountId: 'acc_2' })]);
    await context.reopen();
    const { records: reopened } = store;
    expect(await reopened.listRecords('acc_1', 'opened')).toEqual([record('b', { atMs: 2 }), record('a')]);
    expect(await reopened.listRecords('acc_1', 'opened', ['a', 'c'])).toEqual([record('a')]);
    expect(await reopened.listRecords('acc_1', 'opened', [])).toEqual([]);
    expect(await reopened.listRecords('acc_1', 'dismissed')).toEqual([]);
  });

  it('are replaced, with all their texts, and no other is', async () => {
    const settled = record('a', { kind: 'settled', texts: ['refunded, "in cash"', 'anna@shop.example'] });
    await records.addRecords([record('a')]);
    await records.replaceRecord(record('a', { kind: 'settled', texts: ['x'] }));
    await records.replaceRecord(settled);
    expect(await records.listRecords('acc_1', 'settled', ['a'])).toEqual([settled]);
    expect(await records.listRecords('acc_1', 'opened')).toEqual([record('a')]);
  });
}
