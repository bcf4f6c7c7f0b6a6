import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGroupCommit, createReads, type GroupCommit } from '../../src/store/sqlite/group-commit.ts';
import { openDatabase } from '../../src/store/sqlite/open-database.ts';
import { StoreClosedError, StoreWriteError } from '../../src/store/store-errors.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
let database: DatabaseSync;
let writes: GroupCommit;
let errors: Error[];

beforeEach(() => {
  folder = temporaryFolder();
  database = openDatabase(join(folder, 'test.sqlite'));
  database.exec(`
    CREATE TABLE numbers (number INTEGER PRIMARY KEY, text TEXT) STRICT;
    CREATE TABLE promises (number INTEGER REFERENCES numbers (number) DEFERRABLE INITIALLY DEFERRED) STRICT;
  `);
  errors = [];
  writes = createGroupCommit(database, (error) => errors.push(error));
});
afterEach(async () => {
  await writes.close();
  database.close();
});

const insert = (number: number, text = '') =>
  database.prepare('INSERT INTO numbers VALUES (?, ?)').run(number, text);
const stored = () =>
  database
    .prepare('SELECT number FROM numbers ORDER BY number')
    .all()
    .map((row) => row.number);

/** Everything that was asked for, as one list of outcomes. */
async function outcomesOf(promises: readonly Promise<unknown>[]): Promise<(string | Error)[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((outcome) => (outcome.status === 'fulfilled' ? 'done' : (outcome.reason as Error)));
}

describe('a group of writes', () => {
  it('shares one commit, and is durable when the first promise resolves', async () => {
    const other = new DatabaseSync(join(folder, 'test.sqlite'), { readOnly: true });
    const version = () => other.prepare('PRAGMA data_version').get()?.data_version as number;
    const before = version();
    await Promise.race([1, 2, 3].map((number) => writes.run(() => insert(number))));
    expect(other.prepare('SELECT count(*) AS count FROM numbers').get()?.count).toBe(3);
    expect(version()).toBe(before + 1);
    other.close();
  });

  it('takes up in its turn what is asked for while it is written', async () => {
    const later: Promise<unknown>[] = [];
    await writes.run(() => {
      later.push(writes.run(() => insert(2)));
      insert(1);
    });
    await Promise.all(later);
    expect(stored()).toEqual([1, 2]);
  });

  it('fails as a whole when its commit fails, and leaves the next one unharmed', async () => {
    const group = [1, 2].map((number) => writes.run(() => insert(number)));
    group.push(writes.run(() => database.prepare('INSERT INTO promises VALUES (99)').run()));
    expect(await outcomesOf(group)).toEqual(Array(3).fill(expect.any(StoreWriteError)));
    expect(stored()).toEqual([]);
    expect(errors).toHaveLength(1);
    await writes.run(() => insert(4));
    expect(stored()).toEqual([4]);
  });

  it('fails as a whole on a full disk, half done nowhere, and goes on once there is room', async () => {
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number };
    database.exec(`PRAGMA max_page_count = ${pages + 3}`);
    const write = (number: number) => () => {
      insert(number, 'x'.repeat(3_000));
      insert(-number, 'x'.repeat(3_000));
    };
    const statements = [1, 2, 3, 4].map((number) => writes.run(() => insert(number, 'x'.repeat(3_000))));
    const transactions = [5, 6].map((number) => writes.run(write(number)));
    const outcomes = await outcomesOf([...statements, ...transactions]);
    expect(outcomes).toEqual(Array(6).fill(expect.any(StoreWriteError)));
    expect((outcomes[0] as Error).cause).toMatchObject({ message: 'database or disk is full' });
    expect(stored()).toEqual([]);
    expect(errors).toHaveLength(1);

    database.exec('PRAGMA max_page_count = 100000');
    await writes.run(write(7));
    expect(stored()).toEqual([-7, 7]);
  });
});

describe('a lock that another program holds', () => {
  it('is waited for without holding up the event loop', async () => {
    const other = new DatabaseSync(join(folder, 'test.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    const write = writes.run(() => insert(1));
    let turns = 0;
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (++turns < 20) return;
        clearInterval(timer);
        resolve();
      }, 1);
    });
    expect(stored()).toEqual([]);
    other.exec('ROLLBACK');
    other.close();
    await write;
    expect(stored()).toEqual([1]);
    expect(errors).toEqual([]);
  });

  it('rejects what waits when it lasts too long, and what is asked later is written', async () => {
    let nowMs = 0;
    const impatient = createGroupCommit(
      database,
      (error) => errors.push(error),
      () => (nowMs += 600),
    );
    const other = new DatabaseSync(join(folder, 'test.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    const outcomes = await outcomesOf([1, 2].map((number) => impatient.run(() => insert(number))));
    expect(outcomes).toEqual(Array(2).fill(expect.any(StoreWriteError)));
    expect(errors).toHaveLength(1);
    other.exec('ROLLBACK');
    other.close();
    await impatient.run(() => insert(3));
    expect(stored()).toEqual([3]);
    await impatient.close();
  });
});

describe('the end', () => {
  it('writes and answers what was asked before it closed, and refuses what is asked later', async () => {
    const reads = createReads(database);
    const asked = Array.from({ length: 1_000 }, (_, index) => writes.run(() => insert(index)));
    const answers = Array.from({ length: 1_000 }, (_, index) => reads.run(() => index));
    await writes.close();
    expect(stored()).toHaveLength(1_000);
    await reads.close();
    expect(await outcomesOf(asked)).toEqual(Array(1_000).fill('done'));
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 1_000 }, (_, index) => index));
    await expect(writes.run(() => insert(-1))).rejects.toThrow(StoreClosedError);
    await expect(reads.run(stored)).rejects.toThrow(StoreClosedError);
  });
});

describe('reads of one turn', () => {
  it('fail alone', async () => {
    const reads = createReads(database);
    const fail = () => {
      throw new RangeError('no');
    };
    const outcomes = await outcomesOf([reads.run(stored), reads.run(fail), reads.run(stored)]);
    expect(outcomes).toEqual(['done', expect.any(RangeError), 'done']);
    await reads.close();
  });
});
