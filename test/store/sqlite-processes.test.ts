import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import { StoreInUseError } from '../../src/store/store-errors.ts';
import { inSqliteFile } from '../support/sqlite-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { givePayment, newPayment } from './fixtures.ts';

const script = (name: string) => join(import.meta.dirname, name);
const runFile = promisify(execFile);

let file: string;

beforeEach(() => {
  file = join(temporaryFolder(), 'checkout.sqlite');
});

/** What another process says that tries to open the same file. */
async function tryToOpen(): Promise<string> {
  const { stdout } = await runFile(process.execPath, [script('try-to-open.ts'), file]);
  return stdout.trim();
}

describe('a second server on the same file', () => {
  it('is refused while the first one lives, in this process and in another', async () => {
    const store = await openSqliteStore({ file });
    await expect(openSqliteStore({ file })).rejects.toThrow(StoreInUseError);
    expect(await tryToOpen()).toBe('StoreInUseError');
    await givePayment(store);
    expect(await tryToOpen()).toBe('StoreInUseError');
    await store.close();
    expect(await tryToOpen()).toBe('opened');
  });

  it('does not disturb readers', async () => {
    const store = await openSqliteStore({ file });
    const payment = await givePayment(store);
    const reader = new DatabaseSync(file, { readOnly: true });
    expect(reader.prepare('SELECT id FROM payments').get()?.id).toBe(payment.id);
    await store.payments.createPayment(newPayment(payment.accountId), null);
    reader.close();
    await store.close();
  });

  it('finds the file free after an opening that failed', async () => {
    inSqliteFile(file, (damaged) => damaged.exec('CREATE TABLE accounts (id TEXT)'));
    await expect(openSqliteStore({ file })).rejects.toThrow('migration 1');
    await expect(openSqliteStore({ file })).rejects.toThrow('migration 1');
  });
});
