import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createApiKey } from '../accounts/api-key.ts';
import { logLevels } from '../config/variables.ts';
import { createIpnTokens } from '../payment/ipn-token.ts';
import { createPaymentIdGenerator } from '../payment/payment-id.ts';
import { ChainUnavailableError } from '../settlement/chain/chain.ts';
import { createLog } from './log.ts';

const apiKey = createApiKey();
const token = createIpnTokens('a secret of the tests, long enough').create(
  createPaymentIdGenerator(Date.now)(),
);
const email = 'canary-5512@example.com';
const password = 'canary-password-5512';

/** Error texts that quote a provider's answer, a webhook's URL, and an RPC endpoint with credentials. */
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
  for (const secret of [apiKey, token, email, encodeURIComponent(email), password, 'canary-query'])
    expect(text).not.toContain(secret);
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
    level: 'warn',
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
  expect([stderr, status]).toEqual(['still here\n', 3]);
}, 60_000);
