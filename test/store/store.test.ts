import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { describeStore } from './conformance.ts';

/** The engines; each keeps the same promises. */
const engines = { SQLite: openSqlite };

async function openSqlite() {
  const folder = await mkdtemp(join(tmpdir(), 'card-checkout-store-'));
  const file = join(folder, 'data', 'checkout.sqlite');
  let newest = await openSqliteStore({ file });
  return {
    store: newest,
    async reopen() {
      await newest.close();
      newest = await openSqliteStore({ file });
      return newest;
    },
    async dispose() {
      await newest.close();
      await rm(folder, { recursive: true });
    },
  };
}

for (const [name, open] of Object.entries(engines)) describeStore(name, open);
