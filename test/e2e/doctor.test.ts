import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { DoctorCheck } from '../../src/cli/program.ts';
import { createIpnTokens } from '../../src/payment/ipn-token.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { givePayment } from '../store/fixtures.ts';
import { startBlackhole } from '../support/blackhole.ts';
import { freePorts } from '../support/free-ports.ts';
import { liveEnvironment } from '../support/provider-environment.ts';
import { runJson, type ServiceEnvironment, startServiceProcess } from '../support/service-process.ts';
import { startSmtpServer } from '../support/smtp-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

const command = fileURLToPath(new URL('../../bin/card-checkout.js', import.meta.url));
const silent = { debug() {}, info() {}, warn() {}, error() {} };

const folder = temporaryFolder(afterAll);
let world: Sandbox;
let environment: ServiceEnvironment;

beforeAll(async () => {
  world = await startSandbox({ dataDir: join(folder, 'world'), log: silent, blockIntervalMs: 300 });
  environment = {
    DATA_DIR: join(folder, 'data'),
    SECRET_KEY: randomBytes(32).toString('hex'),
    ...liveEnvironment(world),
    DEPOSIT_FACTORY_ADDRESS: world.factory,
  };
  await runJson(environment, 'init');
});
afterAll(() => world?.stop());

interface Diagnosis {
  readonly exitCode: number;
  readonly checks: readonly DoctorCheck[];
  level(name: string): string | undefined;
  detail(name: string): string | undefined;
}

/** Runs `doctor --json` with these variables changed, in a folder of its own, and with this limit of open files. */
async function diagnose(
  changes: ServiceEnvironment = {},
  { openFiles = '20000', cwd = folder } = {},
): Promise<Diagnosis> {
  const script = 'ulimit -n "$0" && exec "$@"';
  const words = [openFiles, process.execPath, command, 'doctor', '--json'];
  const { PATH } = process.env;
  const [exitCode, stdout] = await new Promise<[number, string]>((resolve) => {
    const options = { cwd, env: { PATH, ...environment, ...changes }, timeout: 60_000 };
    execFile('sh', ['-c', script, ...words], options, (error, out) =>
      resolve([Number(error?.code ?? 0), out]),
    );
  });
  const { checks } = JSON.parse(stdout) as { checks: DoctorCheck[] };
  const find = (name: string) => checks.find((check) => check.name === name);
  return { exitCode, checks, level: (name) => find(name)?.level, detail: (name) => find(name)?.detail };
}

it('a complete configuration fails in nothing but the address that only this machine can open', async () => {
  const smtp = await startSmtpServer();
  const found = await diagnose({ SMTP_URL: smtp.url, MAIL_FROM: 'Shop <pay@service.example>' });
  await smtp.close();
  expect(found.exitCode).toBe(1);
  expect(Object.fromEntries(found.checks.map(({ name, level }) => [name, level]))).toEqual({
    configuration: 'ok',
    open_files: 'ok',
    env_file: 'ok',
    base_url: 'fail',
    trust_proxy: 'ok',
    store: 'ok',
    scan: 'warn',
    backup: 'warn',
    disk: expect.stringMatching(/ok|warn/),
    providers: 'warn',
    smtp: 'ok',
    endpoints: 'ok',
    clock: 'ok',
    contract: 'ok',
    relayer: 'ok',
  });
  expect(found.detail('base_url')).toMatch(/customers cannot open http:\/\/localhost:3000: set BASE_URL/);
  expect(found.checks.every(({ isFine, level }) => isFine === (level !== 'fail'))).toBe(true);
});

it('planted problems are found, each with its level and what to do, and in one line', async () => {
  const [port] = (await freePorts(1)) as [number];
  const found = await diagnose(
    {
      TRUST_PROXY: '10.0.0.0/8',
      POLYGON_RPC_URL: world.rpcUrl,
      SETTLEMENT_TOKEN_ADDRESS: '',
      RELAYER_PRIVATE_KEY: `0x${randomBytes(32).toString('hex')}`,
      SMTP_URL: `smtp://user:hidden-password@127.0.0.1:${port}`,
      MAIL_FROM: 'pay@service.example',
      MOONPAY_API_KEY: '',
      MOONPAY_SECRET_KEY: '',
      MOONPAY_WEBHOOK_KEY: '',
      MOONPAY_BASE_URL: '',
      FEE_WALLET: '0x000000000000000000000000000000000000dEaD',
      DATA_DIR: join(folder, 'other'),
    },
    { openFiles: '1024' },
  );
  const expected: [string, string, RegExp][] = [
    ['trust_proxy', 'warn', /BASE_URL is not https: set BASE_URL/],
    ['fee_wallet', 'warn', /without an owner: USDC sent there is lost; set FEE_WALLET/],
    ['endpoints', 'warn', /one host .*: add endpoints of other companies/],
    ['contract', 'fail', /^SETTLEMENT_TOKEN_ADDRESS is missing/],
    ['relayer', 'fail', /has 0 POL for gas, for about 0 payments: send POL/],
    ['smtp', 'fail', /cannot be reached \(.*ECONNREFUSED.*\): correct SMTP_URL/],
    ['providers', 'fail', /no provider has credentials/],
    ['store', 'fail', /there is no database in .*other: check DATA_DIR/],
    ['disk', 'fail', /there is no folder .*other: card-checkout init creates it/],
    ['open_files', 'warn', /1024 open files leave 256 for connections: allow 20000/],
  ];
  for (const [name, level, sentence] of expected) {
    expect(found.level(name), name).toBe(level);
    expect(found.detail(name)).toMatch(sentence);
  }
  for (const { detail } of found.checks) expect(detail).not.toMatch(/[\n\r]|hidden-password/);
});

it('a secret that the newest payment was not made with is a failure, also while a server runs', async () => {
  const old = randomBytes(32).toString('hex');
  const data = join(folder, 'data of an old secret');
  await runJson({ ...environment, DATA_DIR: data }, 'init');
  const store = await openSqliteStore({ file: join(data, 'card-checkout.sqlite') });
  await givePayment(store, { tokenFingerprint: createIpnTokens(old).currentFingerprint });
  await store.close();
  const [PORT, ADMIN_PORT] = (await freePorts(2)).map(String) as [string, string];
  const served = { ...environment, DATA_DIR: data, SECRET_KEY: old, PORT, ADMIN_PORT };
  const server = await startServiceProcess(served, { args: ['--live'] });
  const beside = await diagnose({ DATA_DIR: data });
  expect(beside.detail('store')).toMatch(/^SECRET_KEY differs from the key of the stored payments/);
  expect((await diagnose({ DATA_DIR: data, SECRET_KEY: old, CHAIN_ID: '4242' })).detail('store')).toMatch(
    /CHAIN_ID is 4242, but the database belongs to chain \d+: set DATA_DIR/,
  );
  const database = await diagnose({
    DATA_DIR: data,
    SECRET_KEY: old,
    DATABASE_URL: 'postgres://127.0.0.1:1/x',
  });
  expect(database.detail('store')).toMatch(/^DATABASE_URL cannot be used: .*ECONNREFUSED/);
  await server.end('SIGTERM');
  const alone = await diagnose({ DATA_DIR: data });
  expect(alone.level('store')).toBe('fail');
  expect(alone.detail('store')).toContain('SECRET_KEY differs from the key of the stored payments');
  expect((await diagnose({ DATA_DIR: data, SECRET_KEY_PREVIOUS: old })).level('store')).toBe('ok');
});

it('a former secret that an open payment needs is a warning, for doctor and at a start', async () => {
  const [former, longAgo] = [1, 2].map(() => randomBytes(32).toString('hex')) as [string, string];
  const data = join(folder, 'data of two secrets');
  await runJson({ ...environment, DATA_DIR: data }, 'init');
  const store = await openSqliteStore({ file: join(data, 'card-checkout.sqlite') });
  const madeWith = async (secret: string, ageHours: number, change: Partial<Payment> = {}) => {
    const createdAtMs = Date.now() - ageHours * 3_600_000;
    const tokenFingerprint = createIpnTokens(secret).currentFingerprint;
    const id = createPaymentIdGenerator(() => createdAtMs)();
    await givePayment(store, { id, createdAtMs, tokenFingerprint, ...change });
    return tokenFingerprint;
  };
  await madeWith(longAgo, 24 * 90);
  await madeWith(longAgo, 30, { status: 'paid', forwardStatus: 'completed' });
  const needed = await madeWith(former, 24);
  await madeWith(environment['SECRET_KEY'] as string, 0);
  await store.close();
  const sentence = new RegExp(
    `open payments need earlier secrets, with the fingerprints ${needed}: add them`,
  );

  const alone = await diagnose({ DATA_DIR: data });
  expect([alone.level('store'), alone.detail('store')]).toEqual(['warn', expect.stringMatching(sentence)]);
  const both = await diagnose({ DATA_DIR: data, SECRET_KEY_PREVIOUS: former });
  expect([both.level('store'), both.detail('store')]).toEqual([
    'ok',
    expect.stringMatching(new RegExp(`fingerprints of the secrets: [\\w-]{6}, ${needed}$`)),
  ]);
  const [PORT, ADMIN_PORT] = (await freePorts(2)).map(String) as [string, string];
  const served = { ...environment, DATA_DIR: data, PORT, ADMIN_PORT };
  const server = await startServiceProcess(served, { args: ['--live'] });
  await waitFor('the warning', 10_000, () => sentence.test(server.output()));
  expect((await diagnose({ DATA_DIR: data })).detail('store')).toMatch(sentence);
  await server.end('SIGTERM');
});

/** Resolves pay.example to this machine, as a line in /etc/hosts would. */
const hostsLine = `
  import dns from 'node:dns';
  const { lookup } = dns;
  dns.lookup = (name, ...rest) => lookup(name === 'pay.example' ? '127.0.0.1' : name, ...rest);`;

it('what does not answer is named within its time limit', async () => {
  const hole = await startBlackhole();
  const [closedPort] = (await freePorts(1)) as [number];
  const startedAtMs = performance.now();
  const found = await diagnose({
    BASE_URL: `https://pay.example:${closedPort}`,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hostsLine)}`,
    POLYGON_RPC_URL: `http://127.0.0.1:${hole.port},${world.rpcUrl},${world.anvilUrl}`,
    SMTP_URL: `smtp://127.0.0.1:${hole.port}`,
    MAIL_FROM: 'pay@service.example',
    DATABASE_URL: `postgres://user:password@127.0.0.1:${hole.port}/database`,
  });
  const tookMs = performance.now() - startedAtMs;
  await hole.close();
  expect(found.level('base_url')).toBe('warn');
  expect(found.detail('base_url')).toMatch(
    /cannot be reached from this machine \(ECONNREFUSED\); run doctor again while the service runs$/,
  );
  expect([found.level('store'), found.level('smtp')]).toEqual(['fail', 'fail']);
  expect(found.level('endpoints')).toBe('warn');
  expect(found.detail('endpoints')).toContain(
    `answer for this chain: 127.0.0.1:${hole.port} cannot be reached`,
  );
  expect([found.level('contract'), found.level('relayer')]).toEqual(['ok', 'ok']);
  expect(tookMs).toBeLessThan(50_000);
});

it('a backup is known with its age, and warned of when it is older than a day', async () => {
  await runJson(environment, 'account create --name Shop');
  await runJson(environment, 'backup', join(folder, 'copy.sqlite'));
  const made = await diagnose();
  expect([made.level('backup'), made.detail('backup')]).toEqual(['ok', 'the last backup is 0 hours old']);
  const before = Date.now() / 1000 - 27 * 3_600;
  utimesSync(join(environment['DATA_DIR'] as string, 'last-backup'), before, before);
  const old = await diagnose();
  expect(old.level('backup')).toBe('warn');
  expect(old.detail('backup')).toMatch(/27 hours old: run card-checkout backup every night/);
});
