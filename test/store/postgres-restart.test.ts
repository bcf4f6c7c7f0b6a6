import { afterAll, expect, it } from 'vitest';
import { openPostgresStore } from '../../src/app/store/postgres-store.ts';
import { openDatabase } from '../../src/store/postgres/open-database.ts';
import { statement } from '../../src/store/postgres/statements.ts';
import { StoreWriteError } from '../../src/store/store-errors.ts';
import { startCutOff } from '../support/cut-off.ts';
import { startPostgres } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { giveAccount, newPayment, newRecord } from './fixtures.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

it.each(['a restart of two seconds', 'a crash'])(
  'under load, %s fails no create and no read, and creates nothing twice',
  async (what) => {
    const url = await postgres.createDatabase();
    const store = await openPostgresStore({ url });
    const account = await giveAccount(store);
    const accountId = account.id;
    const limiter = store.shared?.createRateLimiter('create', 1_000_000);
    const done = { creates: 0, reads: 0 };
    const ids = new Set<string>();
    const failures: unknown[] = [];
    let isOver = false;
    async function work(index: number): Promise<void> {
      for (let turn = 0; !isOver; turn++) {
        try {
          await limiter?.take('key');
          const payment = newPayment(accountId);
          const record = index % 2 === 0 ? newRecord(accountId, `${index} ${turn}`) : null;
          const outcome = await store.payments.createPayment(payment, record);
          expect(outcome.kind).toBe('created');
          ids.add(payment.id);
          done.creates++;
          expect((await store.payments.findPayment(accountId, payment.id))?.id).toBe(payment.id);
          expect((await store.payments.findPaymentById(payment.id))?.id).toBe(payment.id);
          expect((await store.accounts.findAccount(accountId))?.id).toBe(accountId);
          done.reads += 3;
        } catch (error) {
          failures.push(error);
        }
      }
    }
    const workers = Array.from({ length: 25 }, (_, index) => work(index));
    await waitFor('work before', 20_000, () => done.creates > 200);
    if (what === 'a crash') await postgres.crash();
    else await postgres.restart(2_000);
    const before = done.creates;
    await waitFor('work after', 20_000, () => done.creates > before + 200);
    isOver = true;
    await Promise.all(workers);
    const [row] = await postgres.query(url, 'SELECT count(*)::integer AS payments FROM payments');
    await store.close();
    expect(failures).toEqual([]);
    expect(row).toEqual({ payments: ids.size });
  },
);

const insertNote = statement('INSERT INTO notes VALUES ($1)');
const countActivity = statement('SELECT 1 AS one');
const countNotes = statement('SELECT count(*)::integer AS count FROM notes');

it('repeats a transaction whose connection broke off before its end, and never a statement that may have taken effect', async () => {
  const url = await postgres.createDatabase();
  await postgres.query(url, 'CREATE TABLE notes (id integer)');
  const database = openDatabase(url, 2);
  let runs = 0;
  await database.transaction(async (connection) => {
    await connection.query(insertNote, [1]);
    if (++runs === 1) await postgres.crash();
  });
  expect(runs).toBe(2);
  expect(await database.repeating.query(countNotes)).toEqual([{ count: 1 }]);

  const sleep = statement('INSERT INTO notes SELECT 2 FROM pg_sleep(30)');
  const written = database.query(sleep);
  await waitFor('the statement', 10_000, async () => {
    const [row] = await postgres.query(
      url,
      "SELECT count(*)::integer AS count FROM pg_stat_activity WHERE query LIKE 'INSERT INTO notes SELECT 2%'",
    );
    return row?.['count'] === 1;
  });
  await Promise.all([expect(written).rejects.toThrow(StoreWriteError), postgres.crash()]);
  expect(await database.repeating.query(countNotes)).toEqual([{ count: 1 }]);
  await database.close();
});

it('waits ten seconds for a database that stays away, and then for none of the requests that follow', async () => {
  const url = await postgres.createDatabase();
  const proxy = await startCutOff(postgres.port);
  const database = openDatabase(url.replace(`:${postgres.port}`, `:${proxy.port}`), 2);
  await database.repeating.query(countActivity);
  await proxy.close();
  const startMs = performance.now();
  await expect(database.repeating.query(countActivity)).rejects.toThrow(StoreWriteError);
  const waitedMs = performance.now() - startMs;
  expect(waitedMs).toBeGreaterThan(8_000);
  expect(waitedMs).toBeLessThan(20_000);
  const nextMs = performance.now();
  await expect(database.repeating.query(countActivity)).rejects.toThrow(StoreWriteError);
  expect(performance.now() - nextMs).toBeLessThan(3_000);
  await database.close();
});
