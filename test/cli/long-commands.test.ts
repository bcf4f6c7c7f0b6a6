import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import { CONTROL_SOCKET, startControlServer } from '../../src/cli/control-socket.ts';
import { givePayments, withStore } from '../store/fixtures.ts';
import { runCommand, startCommand } from '../support/command-process.ts';
import { operationsContext } from '../support/operations.ts';
import { inSqliteFile } from '../support/sqlite-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'card-checkout.sqlite');
});

const open = () => openSqliteStore({ file });

const start = (...words: string[]) => startCommand(folder, words);
const run = (...words: string[]) => runCommand(folder, words);

it.each([false, true])(
  'verify ends with a signal in the middle, where a server runs: %s',
  async (isServed) => {
    // Of an unknown factory, so that the check of each is repeated for more than a second.
    await withStore(open(), (store) => givePayments(store, 3));
    const store = isServed ? await open() : null;
    const server =
      store && (await startControlServer(join(folder, CONTROL_SOCKET), operationsContext(store)));
    const child = start('verify', '--offline', '--json');
    await waitFor('the check of payments', 60_000, () => child.printed().includes('payments counted'));
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([143, null]);
    expect(child.printed()).toContain('stopped by SIGTERM (3 of 3 payments');
    expect(child.printed()).toContain(
      'Nothing was changed. Run the command again: it begins with the first payment.',
    );
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
    await store?.close();
    const { stdout, stderr } = await run('verify', '--offline', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ payments: 3, discrepancy_count: expect.any(Number) });
    expect(
      stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).progress),
    ).toMatchObject([
      { command: 'verify', unit: 'journal entries', total: 0 },
      { unit: 'histories', total: 0 },
      { unit: 'payments counted', total: 3 },
      { unit: 'payments', done: 3, total: 3 },
    ]);
  },
);

it('a backup that is stopped in the middle leaves no file, and the next one is complete', async () => {
  await withStore(open(), (store) => givePayments(store, 1));
  inSqliteFile(file, (database) =>
    database.exec(`CREATE TABLE filler (bytes);
      WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 300)
      INSERT INTO filler SELECT zeroblob(1000000) FROM n`),
  );
  const child = start('backup', 'copy.sqlite');
  const unfinished = join(folder, 'copy.sqlite.unfinished');
  await waitFor(
    'the copy',
    60_000,
    () => (statSync(unfinished, { throwIfNoEntry: false })?.size ?? 0) > 4_000_000,
  );
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([130, null]);
  expect(child.printed()).toMatch(
    /stopped by SIGINT \(\d+ of \d+ (pages copied|tables checked)\)\. No backup was made, and no file is left/,
  );
  expect(readdirSync(folder).filter((name) => name.startsWith('copy') || name === 'last-backup')).toEqual([]);
  expect((await run('backup', 'copy.sqlite')).code).toBe(0);
});

it.each([
  ['SIGINT', false],
  ['SIGINT', true],
  ['SIGKILL', false],
  ['SIGKILL', true],
] as const)(
  'an import that %s ends in the middle goes on, where a server runs: %s',
  async (signal, isServed) => {
    const total = 40;
    const names = Array.from({ length: total }, (_, index) => `Shop ${index}`);
    writeFileSync(join(folder, 'merchants.csv'), `name\n${names.join('\n')}\n`);
    const store = await open();
    if (!isServed) await store.close();
    const server = isServed
      ? await startControlServer(join(folder, CONTROL_SOCKET), operationsContext(store))
      : null;
    const keysOf = (name: string) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(','));
    const written = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;

    const child = start('account', 'import', 'merchants.csv', '--keys', 'keys.csv', '--json');
    await waitFor('the first keys', 60_000, () => written('keys.csv') > 200);
    child.kill(signal);
    const [code] = await once(child, 'close');
    const first = keysOf('keys.csv').length;
    expect([first > 0, first < total]).toEqual([true, true]);
    if (signal === 'SIGINT') {
      expect(code).toBe(130);
      expect(child.printed()).toContain(
        `stopped by SIGINT (${first} of ${total} accounts). What was created stays.`,
      );
      expect(child.printed()).not.toContain('service_live_');
    }

    const { stdout } = await run('account', 'import', 'merchants.csv', '--keys', 'more.csv', '--json');
    const { created, existing, keys, accounts } = JSON.parse(stdout);
    expect(created + existing).toBe(total);
    expect(stdout).not.toContain('service_live_');
    const listed = JSON.parse((await run('account', 'list', '--json')).stdout) as { name: string }[];
    expect(listed.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    const keyed = [...keysOf('keys.csv'), ...keysOf('more.csv')].map(([account]) => account);
    expect(new Set(keyed).size).toBe(keyed.length);
    // A kill may come between the key of one account and its line.
    expect(keyed.length).toBeGreaterThanOrEqual(signal === 'SIGINT' ? total : total - 1);
    expect(keys).toBe(keyed.length - first);
    expect(accounts).toHaveLength(total);
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
    if (isServed) await store.close();
  },
);
