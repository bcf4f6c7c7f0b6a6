import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ConfigError } from '../config.ts';
import { logLevels } from '../config-variables.ts';
import { createApiKey } from '../domain/api-key.ts';
import { createIpnTokens } from '../domain/ipn-token.ts';
import { createPaymentIdGenerator } from '../domain/payment-id.ts';
import type { Address } from '../domain/payout-address.ts';
import { ChainUnavailableError } from '../domain/ports/chain.ts';
import { openSqliteStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import type { Settlement } from './external-services.ts';
import { createLog, factoriesOf, rememberSettlement } from './log.ts';

const apiKey = createApiKey();
const token = createIpnTokens('a secret of the tests, long enough').create(
  createPaymentIdGenerator(Date.now)(),
);
const email = 'canary-5512@example.com';
const password = 'canary-password-5512';

/** What errors of a step quote: a provider's answer, a webhook's URL, an RPC endpoint with credentials. */
const quoting = [
  `the provider answered {"email":"${email}","key":"${apiKey}"}`,
  `POST https://shop.example/hook?customer=${encodeURIComponent(email)}&t=canary-query failed (${token})`,
  `connect to https://user:${password}@rpc.example/?key=canary-query failed`,
].join('\n');

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog('trace', { write: (line) => void lines.push(line) }));
  return lines.join('');
}

const failed = () => new ChainUnavailableError(quoting, { cause: new Error(quoting, { cause: quoting }) });

it.each<[string, (log: ReturnType<typeof createLog>) => void]>([
  ['an error of a step', (log) => log.warn({ err: failed(), task: 'relay' }, 'a task failed and is retried')],
  ['an error without a text', (log) => log.error({ err: failed() })],
  ['an error alone', (log) => log.error(failed())],
  ['an error with a text', (log) => log.error(failed(), quoting)],
  ['a text', (log) => log.info(quoting)],
  ['a text with values', (log) => log.info('failed: %s', quoting)],
  [
    'a child logger, as the server has one',
    (log) => log.child({ part: 'http' }).error({ err: failed() }, quoting),
  ],
])('%s tells no key, token, email address, query string or password', (_, write) => {
  const text = logged(write);
  for (const secret of [apiKey, token, email, encodeURIComponent(email), password, 'canary-query']) {
    expect(text).not.toContain(secret);
  }
  expect(text).toContain('[redacted');
  for (const line of text.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
});

it('keeps what helps: kind, cause and place of an error, and the fields beside it', () => {
  const error = new ChainUnavailableError('node.example did not answer eth_chainId', {
    cause: new Error('why'),
  });
  const line = JSON.parse(
    logged((log) => log.warn({ err: error, task: 'watch', failuresInARow: 2 }, 'a step failed')),
  );
  expect(line).toMatchObject({
    level: 40,
    msg: 'a step failed',
    task: 'watch',
    failuresInARow: 2,
    err: {
      type: 'ChainUnavailableError',
      message: 'node.example did not answer eth_chainId',
      stack: expect.stringContaining('log.test.ts'),
      cause: { type: 'Error', message: 'why' },
    },
  });
  expect(Date.parse(line.time)).not.toBeNaN();
});

it('takes the error’s message where there is no text', () => {
  expect(JSON.parse(logged((log) => log.error(new Error('out of gas')))).msg).toBe('out of gas');
  expect(JSON.parse(logged((log) => log.error({ err: new Error('out of gas') }))).msg).toBe('out of gas');
});

it.each(logLevels)('knows the level %s', (level) => {
  expect(createLog(level, { write: () => {} }).level).toBe(level);
});

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'card-checkout-settlements-'));
  store = await openSqliteStore({ file: join(folder, 'store.sqlite') });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const address = (digit: string): Address => `0x${digit.repeat(40)}`;

function settlement(factory: string, feeWallet: string, chainId = 137): Settlement {
  return {
    chainId,
    token: address('1'),
    factory: address(factory),
    implementation: address('2'),
    factoryCodeHash: `0x${'a'.repeat(64)}`,
    feeWallet: address(feeWallet),
  };
}

/** Factory and fee wallet by their digits, newest first, after a start with this settlement. */
async function startWith(current: Settlement, nowMs: number): Promise<string[]> {
  const settlements = await rememberSettlement(store, current, nowMs);
  return settlements.map(({ factory, feeWallet }) => `${factory[2]} ${feeWallet[2]}`);
}

it('puts the settlement of new payments first, and keeps every earlier one', async () => {
  expect(await startWith(settlement('3', '4'), 1)).toEqual(['3 4']);
  expect(await startWith(settlement('3', '4'), 2)).toEqual(['3 4']);
  expect(await startWith(settlement('3', '5'), 3)).toEqual(['3 5', '3 4']);
  expect(await startWith(settlement('6', '5'), 4)).toEqual(['6 5', '3 5', '3 4']);
  expect(await startWith(settlement('3', '4'), 5)).toEqual(['3 4', '6 5', '3 5']);
});

it('watches each factory once', async () => {
  await startWith(settlement('3', '4'), 1);
  await startWith(settlement('3', '5'), 2);
  const settlements = await rememberSettlement(store, settlement('6', '5'), 3);
  expect(factoriesOf(settlements)).toEqual([address('6'), address('3')]);
});

it('refuses the data of another chain, and remembers nothing of it', async () => {
  await startWith(settlement('3', '4'), 1);
  const started = startWith(settlement('3', '4', 80_002), 2);
  await expect(started).rejects.toThrow(ConfigError);
  await expect(started).rejects.toThrow(
    'CHAIN_ID is 80002, but the database belongs to chain 137: set DATA_DIR or',
  );
  expect(await startWith(settlement('3', '4'), 3)).toEqual(['3 4']);
});

it('goes on and ends where standard output is on a full disk', () => {
  // Only Linux has a file that is always full.
  if (!existsSync('/dev/full')) {
    process.stderr.write('not checked: this machine has no /dev/full\n');
    return;
  }
  const full = openSync('/dev/full', 'w');
  const program = `
    const { createLog } = await import(${JSON.stringify(new URL('log.ts', import.meta.url).href)});
    const log = createLog('info');
    for (let line = 0; line < 100; line++) log.info('x'.repeat(20_000));
    setTimeout(() => { log.info('later'); console.error('still here'); process.exit(3); }, 50);`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    stdio: ['ignore', full, 'pipe'],
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  closeSync(full);
  expect(stderr).toBe('still here\n');
  expect(status).toBe(3);
}, 60_000);
