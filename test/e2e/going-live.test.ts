/**
 * Goes through the steps of docs/going-live.md as an operator with a clone does: every command is taken from the page, in
 * its order, and run in a clone of the last commit. What the operator must bring is simulated: a chain and an account at a
 * provider. Installing is in test/release/setup, npx in ten-minute-start, the rehearsal in rehearse, and `provider prove`
 * needs a real account.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import { root } from '../docs/markdown.ts';
import { askChain } from '../support/ask-chain.ts';
import { freePorts } from '../support/free-ports.ts';
import { cloneAsNewcomer, type NewcomersClone } from '../support/newcomers-clone.ts';
import { providerEnvironment } from '../support/provider-environment.ts';
import { waitFor } from '../support/wait-for.ts';

const RUN_ELSEWHERE = ['rehearse', 'provider prove ID --ip IP', 'provider prove ID --confirm'];
const silent = { debug() {}, info() {}, warn() {}, error() {} };

let clone: NewcomersClone;
let world: Sandbox;
let page = '';
const used = new Set(RUN_ELSEWHERE);

beforeAll(async () => {
  clone = await cloneAsNewcomer();
  symlinkSync(join(root, 'node_modules'), join(clone.folder, 'node_modules'));
  mkdirSync(join(clone.folder, 'backups'));
  page = readFileSync(join(clone.folder, 'docs/going-live.md'), 'utf8');
  world = await startSandbox({ dataDir: join(clone.folder, 'world'), log: silent, blockIntervalMs: 300 });
});

afterAll(async () => {
  await clone?.remove();
  await world?.stop();
});

/** The commands of the page that begin with `npx card-checkout`, without that. */
function commandsOf(text: string): string[] {
  return [...text.matchAll(/npx card-checkout ([^`\n]+)/g)].map(([, words]) => words ?? '');
}

async function shell(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euc', command], {
    cwd: clone.folder,
    env: clone.environment,
    timeout: 60_000,
  });
  return stdout;
}

const cardCheckout = (words: string) => shell(`bin/card-checkout.js ${words}`);

/** Runs what the page has, with the operator's values in the place of its own. */
async function run(command: string, values: Readonly<Record<string, string>> = {}): Promise<string> {
  expect(commandsOf(page)).toContain(command);
  used.add(command);
  const withValues = Object.entries(values).reduce(
    (text, [shown, value]) => text.replace(shown, value),
    command,
  );
  return cardCheckout(withValues);
}

/** Fills in a variable, as an editor does: each has one line, which may be commented out. */
function fillIn(variables: Readonly<Record<string, string>>): void {
  const file = join(clone.folder, '.env');
  let text = readFileSync(file, 'utf8');
  for (const [name, value] of Object.entries(variables)) {
    const line = new RegExp(`^#?${name}=.*$`, 'm');
    expect(text, `${name} in .env.example`).toMatch(line);
    text = text.replace(line, `${name}=${value}`);
  }
  writeFileSync(file, text);
}

function valueIn(output: string, pattern: RegExp): string {
  const value = pattern.exec(output)?.[1];
  if (value === undefined) throw new Error(`${pattern} is not in:\n${output}`);
  return value;
}

it('leads from a clone to a running service with a merchant, a backup and no discrepancy, as it is written', async () => {
  const [port = 0, adminPort = 0] = await freePorts(2);

  expect(page).toContain('run `cp .env.example .env` and `chmod 600 .env`.');
  await shell('cp .env.example .env\nchmod 600 .env');
  expect(page).toContain('the output of `openssl rand -hex 32`');
  fillIn({
    SECRET_KEY: (await shell('openssl rand -hex 32')).trim(),
    POLYGON_RPC_URL: world.rpcUrl,
    FEE_WALLET: world.feeWallet,
    BASE_URL: 'https://pay.example.com',
    TRUST_PROXY: '127.0.0.1',
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    CHAIN_ID: String(world.chainId),
    SETTLEMENT_TOKEN_ADDRESS: world.usdc,
    ...providerEnvironment(world),
  });

  const relayer = await run('relayer create');
  const address = valueIn(relayer, /(0x[0-9a-fA-F]{40})\b(?![0-9a-fA-F])/);
  fillIn({ RELAYER_PRIVATE_KEY: valueIn(relayer, /(0x[0-9a-f]{64})/) });
  await askChain(world.anvilUrl, 'anvil_setBalance', [address, `0x${(20n * 10n ** 18n).toString(16)}`]);
  expect(await run('relayer show')).toMatch(/\b20\b/);

  const factory = await run('contract deploy');
  fillIn({ DEPOSIT_FACTORY_ADDRESS: valueIn(factory, /deposit_factory_address\W+(0x[0-9a-fA-F]{40})/) });
  expect(factory).toContain(world.usdc);

  await run('init');
  expect(await run('doctor')).not.toMatch(/^fail/m);

  expect(page).toContain('`node_modules/.bin/card-checkout start --live`');
  const service = spawn('bin/card-checkout.js', ['start', '--live'], {
    cwd: clone.folder,
    env: clone.environment,
  });
  let log = '';
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (chunk: Buffer) => (log += chunk.toString('utf8')));
  await waitFor('the service', 60_000, () => {
    if (service.exitCode !== null) throw new Error(log);
    return log.includes('"msg":"ready"');
  });

  await run('provider set ID --active', { ID: 'moonpay' });
  const account = valueIn(
    await run("account create --name 'Tea shop' --fee-percent 1.5"),
    /account_id\W+(\S+)/,
  );
  const key = valueIn(
    await run("key create --account ACCOUNT_ID --name 'Web shop'", { ACCOUNT_ID: account }),
    /(service_live_[\w-]+)/,
  );
  const invited = await run('user create anna@shop.example --account ACCOUNT_ID --role owner', {
    ACCOUNT_ID: account,
  });
  expect(invited).toContain('/dashboard/password');
  const created = await fetch(`http://127.0.0.1:${port}/api/v1/wallet`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      address: world.merchantWallet,
      callback: 'https://shop.example.com/webhook',
      amount: '80',
      provider: 'moonpay',
    }),
  });
  expect([created.status, await created.text()]).toMatchObject([
    200,
    expect.stringContaining('checkout_url'),
  ]);

  expect(await run('user create you@example.com --operator')).toContain('http');
  await run('backup /var/backups/card-checkout/2026-11-21.sqlite', {
    '/var/backups/card-checkout': join(clone.folder, 'backups'),
  });
  expect(await cardCheckout('verify')).toMatch(/^discrepancy_count +0$/m);

  service.kill('SIGTERM');
  await waitFor('the service to end', 30_000, () => service.exitCode !== null);
  expect(service.exitCode).toBe(0);

  const steps = page.split('\n## Steps\n')[1]?.split('\n## ')[0] ?? '';
  expect(commandsOf(steps).filter((command) => !used.has(command))).toEqual([]);
}, 240_000);
