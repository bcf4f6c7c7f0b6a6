import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { backUp } from '../../src/app/back-up.ts';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { inSqliteFile } from '../support/sqlite-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { givePayment, givePayments, leave, newPayment, pay } from './fixtures.ts';
import { block, depositOf, scan } from './observations.ts';

let folder: string;
let dataDir: string;
let target: string;

beforeEach(() => {
  folder = temporaryFolder();
  dataDir = join(folder, 'data');
  target = join(folder, 'copy.sqlite');
});

const open = (directory = dataDir) => openSqliteStore({ file: join(directory, 'card-checkout.sqlite') });
const run = async (environment: Record<string, string> = {}, file = target) =>
  backUp(readConfig('sandbox', { DATA_DIR: dataDir, ...environment }), file);

/** A database with a payment in it. */
async function fill(): Promise<void> {
  const store = await open();
  await givePayment(store);
  await store.close();
}

/** Opens a backup as an operator does: as the database of another data folder. */
async function restore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const restored = join(folder, 'restored');
  mkdirSync(restored);
  copyFileSync(target, join(restored, 'card-checkout.sqlite'));
  const store = await open(restored);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

describe('a backup', () => {
  it('has nothing of what was erased before it', async () => {
    await fill();
    const erased = 'anna@shop.example '.repeat(1_000);
    inSqliteFile(join(dataDir, 'card-checkout.sqlite'), (database) => {
      database.exec('CREATE TABLE mails (text TEXT)');
      database.prepare('INSERT INTO mails VALUES (?)').run(erased);
      database.exec('DROP TABLE mails');
    });
    await run();
    expect(readFileSync(target).includes('anna@shop')).toBe(false);
  });

  it('that is restored gives its next events higher numbers than all that a reader knows', async () => {
    const store = await open();
    const [first, second] = await givePayments(store, 2);
    const payAndRead = async ({ payments, events }: Store, payment = second) => {
      await payments.decidePayment((payment as Payment).id, pay);
      await events.numberEvents(10);
      return events.listEvents(payment?.accountId as string, 0, 10);
    };
    await payAndRead(store, first);
    await run();
    const { newest: known } = await payAndRead(store);
    await store.close();
    await restore(async (restored) => {
      const { events } = await payAndRead(restored);
      expect(events).toMatchObject([{ paymentId: first?.id }, { paymentId: second?.id }]);
      expect(events[1]?.number).toBeGreaterThan(known);
    });
  });

  it('of a store that is being written to has everything that was acknowledged before, and nothing by half', async () => {
    const store = await open();
    const first = await givePayment(store);
    await store.observations.startCursor(block(10));
    await store.observations.recordScan(scan(10, 13, 14, { deposits: [depositOf(first, 12)] }), leave);
    const create = () => newPayment(first.accountId, { tokenFingerprint: 'other' });
    const acknowledged = Array.from({ length: 500 }, create);
    await Promise.all(acknowledged.map((payment) => store.payments.createPayment(payment, null)));
    const meanwhile = Array.from({ length: 500 }, create).map((payment) =>
      store.payments.createPayment(payment, null),
    );

    const [end] = await store.observations.listEntries(0, 1);
    expect(await run()).toEqual({
      file: target,
      bytes: statSync(target).size,
      secret_fingerprints: ['abc_-1', 'other'],
      book_entries: 1,
      book_hash: end?.hash,
    });
    await Promise.all(meanwhile);
    await store.close();
    await restore(async ({ payments, observations }) => {
      const found = new Set(await payments.listPaymentIds('', 'g', 10_000));
      expect(acknowledged.filter(({ id }) => !found.has(id))).toEqual([]);
      expect((await payments.viewPayment(first.id))?.observations.deposits).toHaveLength(1);
      expect(await observations.listEntries(0, 10)).toEqual([end]);
      expect(await observations.readCursor()).toEqual(block(13));
    });
  });

  it('of a store whose process was killed has what only the log of the database holds', async () => {
    const store = await open();
    const payment = await givePayment(store);
    // As a kill leaves them: nothing of the log has gone into the database itself.
    const killed = join(folder, 'killed');
    mkdirSync(killed);
    for (const name of readdirSync(dataDir)) copyFileSync(join(dataDir, name), join(killed, name));
    await store.close();
    await run({ DATA_DIR: killed });
    await restore(async ({ payments }) => {
      expect(await payments.findPaymentById(payment.id)).toEqual(payment);
    });
  });

  it('keeps the guards of the journal', async () => {
    const store = await open();
    const payment = await givePayment(store);
    await store.observations.startCursor(block(10));
    await store.observations.recordScan(scan(10, 13, 14, { deposits: [depositOf(payment, 12)] }), leave);
    await store.close();
    await run();
    inSqliteFile(target, (copy) => {
      expect(() => copy.exec('DELETE FROM journal')).toThrow('never removed');
    });
  });

  it('is for its owner’s eyes only, and leaves nothing else behind', async () => {
    await fill();
    await run();
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).sort()).toEqual(['copy.sqlite', 'data']);
  });

  it('replaces no file, not even an empty one', async () => {
    await fill();
    for (const text of ['precious', '']) {
      writeFileSync(target, text);
      await expect(run()).rejects.toThrow('exists already');
      expect(readFileSync(target, 'utf8')).toBe(text);
    }
  });

  it('names a folder that does not exist, and does not create it', async () => {
    await fill();
    const missing = join(folder, 'backups');
    await expect(run({}, join(missing, 'copy.sqlite'))).rejects.toThrow(
      `${missing} does not exist: create it`,
    );
    expect(existsSync(missing)).toBe(false);
  });

  it('neither follows a link nor reuses a file that was planted where it writes', async () => {
    await fill();
    const unfinished = `${target}.unfinished`;
    const elsewhere = join(folder, 'elsewhere');
    writeFileSync(elsewhere, '');
    symlinkSync(elsewhere, unfinished);
    await expect(run()).rejects.toThrow(`${unfinished} exists already`);
    expect(readFileSync(elsewhere, 'utf8')).toBe('');
    rmSync(unfinished);
    writeFileSync(unfinished, '', { mode: 0o666 });
    await expect(run()).rejects.toThrow(`${unfinished} exists already`);
    expect(readFileSync(unfinished, 'utf8')).toBe('');
    expect(existsSync(target)).toBe(false);
    rmSync(unfinished);
    expect(await run()).toMatchObject({ file: target });
  });

  it('is refused beside a journal that SQLite would roll back into it', async () => {
    await fill();
    for (const path of [target, `${target}.unfinished`]) {
      for (const part of ['-journal', '-wal', '-shm']) {
        const file = `${path}${part}`;
        for (const plant of [
          () => writeFileSync(file, 'planted'),
          () => symlinkSync(`${folder}/nowhere`, file),
        ]) {
          plant();
          await expect(run()).rejects.toThrow(`${file} exists already`);
          rmSync(file);
        }
      }
    }
    expect(existsSync(target)).toBe(false);
    expect(await run()).toMatchObject({ file: target });
  });

  it('is refused in a folder where every user may rename it', async () => {
    await fill();
    chmodSync(folder, 0o777);
    await expect(run()).rejects.toThrow('is writable for every user; back up into a folder of your own');
    expect(existsSync(target)).toBe(false);
    chmodSync(folder, 0o1777);
    expect(await run()).toMatchObject({ file: target });
  });

  it('is refused for a database without an account, and for one of another program', async () => {
    await (await open()).close();
    await expect(run()).rejects.toThrow(
      'holds no account, so there is nothing to back up; is DATA_DIR right?',
    );
    const file = join(dataDir, 'card-checkout.sqlite');
    rmSync(file);
    writeFileSync(file, '');
    await expect(run()).rejects.toThrow(`there is no database in ${dataDir}`);
    inSqliteFile(file, (foreign) => {
      foreign.exec('CREATE TABLE migrations (number INTEGER); INSERT INTO migrations VALUES (1)');
      foreign.exec('CREATE TABLE accounts (id TEXT); INSERT INTO accounts VALUES (1)');
    });
    await expect(run()).rejects.toThrow('is not a card-checkout database; is DATA_DIR right?');
    expect(readdirSync(folder)).toEqual(['data']);
  });

  it('of a damaged database fails loudly, and leaves no file', async () => {
    const store = await open();
    await givePayment(store);
    await store.close();
    const file = join(dataDir, 'card-checkout.sqlite');
    const bytes = readFileSync(file);
    bytes.fill(0xff, 8_192, bytes.length - 4_096);
    writeFileSync(file, bytes);
    await expect(run()).rejects.toThrow(/malformed|damaged/);
    expect(existsSync(target)).toBe(false);
    expect(readdirSync(folder)).toEqual(['data']);
  });

  it('says where there is no database, and makes none', async () => {
    await expect(run()).rejects.toThrow(`there is no database in ${dataDir}`);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is refused for PostgreSQL with the command that does it, and without the password', async () => {
    const refused = run({ DATABASE_URL: 'postgres://checkout:secret@db.example/checkout' });
    await expect(refused).rejects.toThrow(/^DATABASE_URL is a PostgreSQL database/);
    await expect(refused).rejects.toThrow(`pg_dump --format=custom --file=${target} "$DATABASE_URL"`);
    await expect(refused).rejects.not.toThrow('secret');
  });
});
