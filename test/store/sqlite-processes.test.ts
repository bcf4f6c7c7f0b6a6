import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { StoreClosedError, StoreInUseError } from '../../src/store/store-errors.ts';
import { givePayment, leave, newPayment } from './fixtures.ts';

const script = (name: string) => join(import.meta.dirname, name);
const runFile = promisify(execFile);

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'card-checkout-process-'));
  file = join(folder, 'checkout.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true }));

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
    const damaged = new DatabaseSync(file);
    damaged.exec('CREATE TABLE accounts (id TEXT)');
    damaged.close();
    await expect(openSqliteStore({ file })).rejects.toThrow('migration 1');
    await expect(openSqliteStore({ file })).rejects.toThrow('migration 1');
  });
});

describe('a server killed in the middle of its work', () => {
  it('has kept every payment, webhook and Idempotency-Key that it acknowledged', async () => {
    for (const acknowledgedAtLeast of [1, 200, 1_000]) {
      const acknowledged = await createUntilKilled(acknowledgedAtLeast);
      const store = await openSqliteStore({ file });
      for (const [id, { status, key }] of acknowledged) {
        const payment = await store.payments.findPaymentById(id);
        expect(payment?.status).toBe(status);
        expect(await store.webhooks.listWebhooks(id)).toHaveLength(status === 'paid' ? 1 : 0);
        const replayed = await store.payments.findIdempotent(payment?.accountId as string, key, 0);
        expect(replayed?.payment.id).toBe(key === '-' ? undefined : id);
      }
      await store.close();
      expect(integrity()).toBe('ok');
    }
  });
});

/** What a child printed of payments until it was killed, by their ids; at least so many. */
async function createUntilKilled(atLeast: number): Promise<Map<string, { status: string; key: string }>> {
  const child: ChildProcess = spawn(process.execPath, [script('create-until-killed.ts'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const acknowledged = new Map<string, { status: string; key: string }>();
  try {
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      // The last line may be cut off by the kill.
      const match = /^(\S{36}) (paid|unpaid) (\S+);$/.exec(line) as [string, string, string, string] | null;
      if (match !== null) acknowledged.set(match[1], { status: match[2], key: match[3] });
      if (acknowledged.size >= atLeast) child.kill('SIGKILL');
    }
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(atLeast);
  return acknowledged;
}

function integrity(): unknown {
  const database = new DatabaseSync(file);
  try {
    return Object.values(database.prepare('PRAGMA integrity_check').get() ?? {})[0];
  } finally {
    database.close();
  }
}

describe('a store', () => {
  it('keeps its files from other users', async () => {
    const store = await openSqliteStore({ file });
    await givePayment(store);
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(file + suffix).mode & 0o077).toBe(0);
    await store.close();
  });

  it('can be closed twice, and refuses what is asked later', async () => {
    const store = await openSqliteStore({ file });
    const payment = await givePayment(store);
    await Promise.all([store.close(), store.close()]);
    await expect(store.payments.decidePayment(payment, leave)).rejects.toThrow(StoreClosedError);
    await expect(store.payments.findPaymentById(payment.id)).rejects.toThrow(StoreClosedError);
  });
});
