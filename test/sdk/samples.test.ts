/** Every sample of the documentation that is shown in several languages, run as it stands against a sandbox. */
import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { read, root } from '../docs/markdown.ts';
import { type EndToEndService, startEndToEndService } from '../support/e2e-service.ts';
import { runJson } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { type InstalledSdk, installPackedSdk } from './pack-sdk.ts';

let service: EndToEndService;
let sdk: InstalledSdk;
/** A paid payment of 30.00. */
let paidId: string;
const folder = temporaryFolder(afterAll);

beforeAll(async () => {
  sdk = installPackedSdk();
  service = await startEndToEndService();
  paidId = (await service.create({ amount: '30.00' })).payment_id;
  await runJson(service.environment, 'sandbox pay', paidId);
  const isPaid = async () => (await service.readStatus(`payment_id=${paidId}`))['status'] === 'paid';
  await waitFor('the payment', 60_000, isPaid);
}, 240_000);
afterAll(async () => {
  await service?.stop();
  sdk?.remove();
});

interface Operation {
  readonly page: string;
  /** Part of the first sample, by which the group is found. */
  readonly of: string;
  /** What each sample has to print. */
  readonly prints: () => readonly RegExp[];
}

const operations: readonly (readonly [name: string, operation: Operation])[] = [
  ['create', { page: 'docs/api.md', of: 'order-1002', prints: () => [/\/pay\/[0-9a-f-]{36}/] }],
  ['status', { page: 'docs/api.md', of: 'payment-status?', prints: () => [/paid/, /\d+\.\d{6}/] }],
  [
    'events',
    { page: 'docs/merchant-api.md', of: 'events?after=', prints: () => [/payment\.paid/, RegExp(paidId)] },
  ],
  ['list', { page: 'docs/merchant-api.md', of: 'limit=20', prints: () => [RegExp(paidId), /next/] }],
  [
    'refund',
    { page: 'docs/merchant-api.md', of: 'return-1042', prints: () => [/awaiting_address/, /\/refund\//] },
  ],
];

/** The samples that follow on each other in the page, by their language. */
function samplesOf({ page, of }: Pick<Operation, 'page' | 'of'>): ReadonlyMap<string, string> {
  const groups = read(page).matchAll(/(?:^```(?:sh|ts|python|php)\n.*?^```\n\n?)+/gms);
  const group = [...groups]
    .map(([text]) => text)
    .find((text) => text.includes(of) && text.includes('```ts\n'));
  const blocks = (group ?? '').matchAll(/^```(\w+)\n(.*?)^```/gms);
  return new Map([...blocks].map(([, language = '', code = '']) => [language, code]));
}

/** The sample with the service, the payment and the numbers of this run. */
function forThisRun(code: string): string {
  const adapted = code
    .replaceAll('http://localhost:3000', service.url)
    .replaceAll('https://shop.example/webhook', service.receiver.url)
    .replaceAll('01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4', paidId)
    .replaceAll('$PAYMENT_ID', paidId)
    .replaceAll('after=1795226471325', 'after=0')
    .replaceAll('after: 1795226471325', 'after: 0')
    .replaceAll('list_events(1795226471325)', 'list_events(0)')
    .replaceAll('2026-11-01T00:00:00Z', '2020-01-01T00:00:00Z');
  return adapted;
}

const interpreters: Readonly<
  Record<string, (code: string) => readonly [command: string, ...words: string[]]>
> = {
  sh: (code) => ['bash', '--norc', '-euc', code],
  ts(code) {
    const file = join(folder, 'sample.mts');
    writeFileSync(file, code);
    return [process.execPath, file];
  },
  python: (code) => ['python3', '-W', 'error', '-c', code],
  php: (code) => ['php', '-d', 'error_reporting=-1', '-r', code],
};

function run(language: string, code: string): string {
  const modules = join(folder, 'node_modules');
  if (!existsSync(modules)) symlinkSync(join(sdk.folder, 'node_modules'), modules);
  const [command = '', ...words] = interpreters[language]?.(forThisRun(code)) ?? [];
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      BASE: service.url,
      KEY: service.process().demoKey(),
      PYTHONPATH: join(root, 'sdk-python', 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
  expect(status, `${language}: ${stderr}`).toBe(0);
  return stdout;
}

function isHere(language: string): boolean {
  const commands: Record<string, readonly [string, ...string[]]> = {
    sh: ['bash', '--version'],
    python: ['python3', '--version'],
    php: ['php', '-r', "exit(function_exists('curl_init') ? 0 : 1);"],
  };
  const [command, ...check] = commands[language] ?? ['node', '--version'];
  if (spawnSync(command, check).status === 0) return true;
  console.warn(
    `not checked: the samples in ${language}, because ${command} is not installed here with all they need`,
  );
  return false;
}

it.each(operations)('the samples of %s do the same in each language', (_name, operation) => {
  const samples = samplesOf(operation);
  expect([...samples.keys()]).toEqual(['sh', 'ts', 'python', 'php']);
  for (const [language, code] of samples) {
    if (!isHere(language)) continue;
    const printed = run(language, code);
    for (const expected of operation.prints()) expect(printed, language).toMatch(expected);
  }
});

it('the samples that verify a webhook take the test vector, and refuse another signature', () => {
  const samples = samplesOf({ page: 'docs/webhooks.md', of: 'openssl' });
  expect([...samples.keys()]).toEqual(['sh', 'ts', 'python', 'php']);
  const signature = /^[0-9a-f]{64}$/m.exec(read('docs/webhooks.md'))?.[0] ?? '';
  expect(run('sh', samples.get('sh') ?? '')).toContain(signature);
  // The SDK also refuses a body without the fields of an event, after it has verified the signature.
  const check = `
for (const given of ['${signature}', '${'0'.repeat(64)}'])
  try { readEvent('{"event":"payment.paid"}', given, 'ipn_test'); } catch (error) { console.log(error.reason); }`;
  const [genuine, forged] = run('ts', `${samples.get('ts')}${check}`)
    .trim()
    .split('\n');
  expect(forged).toBe('wrong_signature');
  expect(genuine).not.toBe('wrong_signature');
});
