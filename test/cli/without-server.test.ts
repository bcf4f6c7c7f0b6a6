import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTextCallbackGuard } from '../../src/app/callback-guard.ts';
import { runOperationAnywhere } from '../../src/app/run-operation.ts';
import { CONTROL_SOCKET, startControlServer } from '../../src/cli/control-server.ts';
import { readConfig } from '../../src/config.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { StoreInUseError } from '../../src/store/store-errors.ts';
import { givePayment } from '../store/fixtures.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'card-checkout-command-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const openStore = () => openSqliteStore({ file: join(dataDir, 'card-checkout.sqlite') });
const run = (name: string, args = {}) =>
  runOperationAnywhere(readConfig('sandbox', { DATA_DIR: dataDir }), name, args);

/** The socket of a server that holds this store. */
function startControl(store: Store) {
  return startControlServer(join(dataDir, CONTROL_SOCKET), {
    ...store,
    callbacks: createTextCallbackGuard(new Set()),
    directory: { adapters: new Map(), settings: store.providers },
    nowMs: Date.now,
    chain: null,
    baseUrl: 'https://pay.example.com',
    rescue: null,
    direct: null,
    sandbox: null,
  });
}

/** What the real command prints and how it ends, in a process of its own. */
function command(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], DATA_DIR: dataDir };
    execFile(
      process.execPath,
      ['bin/card-checkout.js', ...args],
      { cwd: root, env },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

it('works directly on the store, and lets go of it afterwards', async () => {
  const store = await openStore();
  const payment = await givePayment(store);
  await store.ledger.startCursor({ number: 1, hash: '0x1', timestampMs: Date.now() });
  await store.close();
  expect(await run('payment show', { payment: payment.id })).toMatchObject({ payment_id: payment.id });
  expect(await run('payment cancel', { payment: payment.id })).toMatchObject({ status: 'canceled' });
  await expect(run('payment cancel', { payment: payment.id })).rejects.toThrow('cannot be canceled');
  expect(await run('payment list', { status: 'canceled' })).toHaveLength(1);
  const again = await openStore();
  expect((await again.payments.findPaymentById(payment.id))?.cancelReason).toBe('operator');
  await again.close();
});

it('does not know which providers have credentials, and does not call them inactive', async () => {
  await run('provider set', { provider: 'wert', inactive: true });
  const listed = (await run('provider list')) as { provider: string; active: unknown; configured: unknown }[];
  const found = Object.fromEntries(
    listed.map(({ provider, active, configured }) => [provider, [active, configured]]),
  );
  expect(found).toMatchObject({ moonpay: [null, null], wert: [false, null] });
});

it('says what needs a running server', async () => {
  const store = await openStore();
  const payment = (await givePayment(store)).id;
  await store.close();
  await expect(run('payment rescue', { payment, token: 'pol' })).rejects.toThrow(
    'A rescue needs a running server.',
  );
  await expect(run('sandbox pay', { payment })).rejects.toThrow('This works only while the sandbox runs.');
});

it('goes through the server while one runs, and takes effect there at once', async () => {
  const store = await openStore();
  const control = await startControl(store);
  const { account_id } = (await run('account create', { name: 'Shop' })) as { account_id: string };
  expect(await store.accounts.findAccount(account_id)).toMatchObject({ name: 'Shop' });
  await new Promise((resolve) => control.close(resolve));
  await store.close();
});

it('a command in another process prints JSON and ends with 0, or says what is wrong and ends with 1', async () => {
  const store = await openStore();
  const payment = (await givePayment(store)).id;
  await store.close();
  const [shown, refused, misspelt] = [
    await command('payment', 'show', payment, '--json'),
    await command('payment', 'release', payment),
    await command('payment', 'show', payment, '--jsno'),
  ];
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(shown.stdout)).toMatchObject({ payment_id: payment, status: 'unpaid' });
  expect(refused).toEqual({
    code: 1,
    stdout: '',
    stderr: 'card-checkout: Nothing lies at the deposit address of this payment.\n',
  });
  expect(misspelt).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining("unknown option '--jsno'"),
  });
});

it('is told that the store is in use when no server answers in time, and a second start is told at once', async () => {
  const store = await openStore();
  const config = readConfig('sandbox', { DATA_DIR: dataDir });
  await expect(runOperationAnywhere(config, 'account list', {}, { patienceMs: 0 })).rejects.toThrow(
    StoreInUseError,
  );
  expect(await command('start')).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^card-checkout: .*card-checkout\.sqlite is in use by another process; .*\n$/,
    ),
  });
  await store.close();
});

it('waits for a server that is starting', async () => {
  const store = await openStore();
  const listed = run('account list');
  const control = await startControl(store);
  expect(await listed).toEqual([]);
  await new Promise((resolve) => control.close(resolve));
  await store.close();
});

it('a role that does not exist is refused before anything is started', async () => {
  const { code, stdout, stderr } = await command('start', '--role', 'nonsense');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe('card-checkout: --role must be one of all, api, worker\n');
});
