import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, it } from 'vitest';
import { runOperationAnywhere } from '../../src/app/run-operation.ts';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import { CONTROL_SOCKET, startControlServer } from '../../src/cli/control-socket.ts';
import { readConfig } from '../../src/config/config.ts';
import { StoreInUseError } from '../../src/store/store-errors.ts';
import { givePayment } from '../store/fixtures.ts';
import { operationsContext } from '../support/operations.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

let dataDir: string;
beforeEach(() => {
  dataDir = temporaryFolder();
});

const openStore = () => openSqliteStore({ file: join(dataDir, 'card-checkout.sqlite') });
const run = (name: string, args = {}) =>
  runOperationAnywhere(readConfig('sandbox', { DATA_DIR: dataDir }), name, args);

const startControl = (store: Store) =>
  startControlServer(join(dataDir, CONTROL_SOCKET), operationsContext(store));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the real command prints and how it ends, in a process of its own. */
function command(...args: string[]): Promise<Ended> {
  return commandIn(dataDir, { DATA_DIR: dataDir }, ...args);
}

/** The same in this folder, with these variables. */
function commandIn(cwd: string, environment: Record<string, string>, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], ...environment };
    const program = join(root, 'bin/card-checkout.js');
    execFile(process.execPath, [program, ...args], { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

it('works directly on the store, and lets go of it afterwards', async () => {
  const store = await openStore();
  const payment = await givePayment(store);
  await store.observations.startCursor({ number: 1, hash: '0x1', timestampMs: Date.now() });
  await store.close();
  expect(await run('payment show', { payment: payment.id })).toMatchObject({ payment_id: payment.id });
  expect(await run('payment cancel', { payment: payment.id })).toMatchObject({ status: 'canceled' });
  await expect(run('payment cancel', { payment: payment.id })).rejects.toThrow('cannot be canceled');
  expect(await run('payment list', { status: 'canceled' })).toHaveLength(1);
  const again = await openStore();
  expect((await again.payments.findPaymentById(payment.id))?.cancelReason).toBe('operator');
  await again.close();
});

it('does not know which providers have credentials, and calls them neither inactive nor unproved', async () => {
  await (await openStore()).close();
  await run('provider set', { provider: 'wert', inactive: true });
  const listed = (await run('provider list')) as Readonly<Record<string, unknown>>[];
  const found = Object.fromEntries(
    listed.map(({ provider, active, configured, evidence }) => [provider, [active, configured, evidence]]),
  );
  expect(found).toMatchObject({ moonpay: [null, null, null], wert: [false, null, null] });
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
    stderr:
      `card-checkout: data folder ${dataDir}\n` +
      'card-checkout: The deposit address of this payment holds no USDC.\n',
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
      /^card-checkout: .*card-checkout\.sqlite is in use by another process: stop that one first\. A second service .*\n$/,
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

it.each([
  ['account', 'create', '--name', 'Shop'],
  ['user', 'create', 'olga@shop.example', '--operator'],
  ['verify', '--offline'],
  ['backup', 'copy.sqlite'],
])('%s %s makes no database: without one it names the folder it looked in, and init', async (...words) => {
  const { code, stdout, stderr } = await command(...words);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(
    `card-checkout: data folder ${dataDir}\n` +
      `card-checkout: there is no database in ${dataDir}: check DATA_DIR, in the environment or in .env, ` +
      'or create one with `card-checkout init`\n',
  );
  expect(readdirSync(dataDir)).toEqual([]);
});

it('init makes the database that the other commands need, and leaves one that is there as it is', async () => {
  const folder = join(dataDir, 'new');
  const initialize = async () =>
    JSON.parse((await commandIn(dataDir, { DATA_DIR: folder }, 'init', '--json')).stdout);
  const found = { data_dir: folder, database: 'card-checkout.sqlite' };
  expect(await initialize()).toEqual({ ...found, created: true });
  const inFolder = (...words: string[]) => commandIn(dataDir, { DATA_DIR: folder }, ...words, '--json');
  expect(await inFolder('account', 'create', '--name', 'Shop')).toMatchObject({ code: 0, stderr: '' });
  expect(await initialize()).toEqual({ ...found, created: false });
  expect(JSON.parse((await inFolder('account', 'list')).stdout)).toHaveLength(1);
});

it('commands and start read .env in the current folder, and the environment takes precedence', async () => {
  const [fromFile, fromEnvironment] = [join(dataDir, 'from-file'), join(dataDir, 'from-environment')];
  writeFileSync(join(dataDir, '.env'), `DATA_DIR=${fromFile}\nPORT=nonsense\n`);
  const wrongPort = { code: 1, stderr: expect.stringContaining('PORT must be a whole number') };
  expect(await commandIn(dataDir, {}, 'init')).toMatchObject(wrongPort);
  expect(await commandIn(dataDir, {}, 'start')).toMatchObject(wrongPort);
  expect(readdirSync(dataDir)).toEqual(['.env']);
  const port = { PORT: '3000' };
  expect(JSON.parse((await commandIn(dataDir, port, 'init', '--json')).stdout)).toMatchObject({
    data_dir: fromFile,
  });
  const other = await commandIn(dataDir, { ...port, DATA_DIR: fromEnvironment }, 'account', 'list');
  expect(other.stderr).toContain(`there is no database in ${fromEnvironment}`);
  const listed = await commandIn(dataDir, port, 'account', 'list');
  expect(listed).toEqual({ code: 0, stdout: '(none)\n', stderr: `card-checkout: data folder ${fromFile}\n` });
});

it('ends with 1 and without a word on standard error when its output is closed, as by `| head`', async () => {
  await (await openStore()).close();
  const script = '"$0" bin/card-checkout.js account list --json | true; echo "${PIPESTATUS[0]}"';
  const options = {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir },
    timeout: 60_000,
  };
  const printed = await new Promise((resolve) =>
    execFile('bash', ['--norc', '-c', script, process.execPath], options, (_, ...texts) => resolve(texts)),
  );
  expect(printed).toEqual(['1\n', '']);
});

it.each([
  ['a folder', 'EISDIR', (file: string) => mkdirSync(file)],
  // As with a file of another user, `process.loadEnvFile` reports that there is none.
  ['a link to itself', 'ELOOP', (file: string) => symlinkSync('.env', file)],
])('says why .env cannot be read when it is %s, instead of going on without it', async (_, code, make) => {
  make(join(dataDir, '.env'));
  for (const word of ['init', 'doctor', 'start'])
    expect(await commandIn(dataDir, {}, word), word).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`.env cannot be read (${code}): give the user of the service access`),
    });
});

it('a password link says what is missing for it to open', async () => {
  await (await openStore()).close();
  const made = await runOperationAnywhere(readConfig('sandbox', { DATA_DIR: dataDir }), 'account create', {
    name: 'Shop',
  });
  const { account_id } = made as { readonly account_id: string };
  const create = (environment: Record<string, string>, email: string, role: 'operator' | 'member') => {
    const config = readConfig('sandbox', { DATA_DIR: dataDir, ...environment });
    const right = role === 'operator' ? { operator: true } : { account: account_id };
    return runOperationAnywhere(config, 'user create', { email, ...right });
  };
  const isNotServed = 'No server is running: start it before you open the link.';
  const isPublic = { BASE_URL: 'https://pay.example.com' };
  const hasConsole = { ...isPublic, ADMIN_BASE_URL: 'https://admin.example.com' };
  expect(await create(isPublic, 'anna@shop.example', 'member')).toMatchObject({
    password_link: expect.stringMatching(/^https:\/\/pay\.example\.com\/dashboard\/password\//),
    note: isNotServed,
  });
  expect(await create({ BASE_URL: 'http://localhost:3000' }, 'amir@shop.example', 'member')).toMatchObject({
    note: `${isNotServed} Only this machine can open http://localhost:3000: set BASE_URL to the public URL of the service.`,
  });
  expect(await create(hasConsole, 'olga@pay.example', 'operator')).toMatchObject({
    password_link: expect.stringMatching(/^https:\/\/admin\.example\.com\/operator\/password\//),
    note: isNotServed,
  });
  expect(await create(isPublic, 'otto@pay.example', 'operator')).toMatchObject({
    password_link: expect.stringMatching(/^http:\/\/localhost:3001\/operator\/password\//),
    note: `${isNotServed} Only this machine can open http://localhost:3001: for a browser elsewhere, open a tunnel first, ssh -L 3001:localhost:3001 SERVER, or set ADMIN_BASE_URL.`,
  });
});
