/** Creates payments from many callers at once, and prints of each what is promised to be durable: id, status, key. */
import { writeSync } from 'node:fs';
import { openPostgresStore } from '../../src/store/postgres/open-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { newAccount, newPayment, newRecord, pay } from './fixtures.ts';

const place = process.argv[2] as string;
const store = await (place.startsWith('postgres:')
  ? openPostgresStore({ url: place })
  : openSqliteStore({ file: place }));
const account = newAccount({ id: `account of process ${process.pid}` });
await store.accounts.createAccount(account);

async function create(caller: number): Promise<void> {
  for (let turn = 0; ; turn++) {
    const payment = newPayment(account.id);
    const key = turn % 2 === 0 ? null : `${caller}.${turn}`;
    const record = key === null ? null : newRecord(account.id, key);
    await store.payments.createPayment(payment, record);
    if (turn % 3 === 0) await store.payments.decidePayment(payment, pay);
    writeSync(1, `${payment.id} ${turn % 3 === 0 ? 'paid' : 'unpaid'} ${key ?? '-'};\n`);
  }
}
await Promise.all(Array.from({ length: 32 }, (_, caller) => create(caller)));
