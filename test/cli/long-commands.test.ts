import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import { givePayments, withStore } from '../store/fixtures.ts';
import { runCommand, startCommand } from '../support/command-process.ts';
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
