/** `card-checkout rehearse`, as an operator runs it in the folder of an `.env`. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, it } from 'vitest';
import type { DoctorCheck } from '../../src/cli/program.ts';
import { processesUsing } from '../support/processes-using.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

const command = fileURLToPath(new URL('../../bin/card-checkout.js', import.meta.url));

let folder: string;
/** Where the rehearsal puts its files: `TMPDIR`. */
let temporary: string;

beforeEach(() => {
  folder = temporaryFolder();
  temporary = join(folder, 'tmp');
  mkdirSync(temporary);
});

/** The first block of an operator's `.env`. */
const usual = {
  SECRET_KEY: randomBytes(32).toString('hex'),
  RELAYER_PRIVATE_KEY: `0x${randomBytes(32).toString('hex')}`,
  FEE_WALLET: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  DEPOSIT_FACTORY_ADDRESS: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  BASE_URL: 'https://pay.service.example',
  TRUST_PROXY: '127.0.0.1',
  POLYGON_RPC_URL: 'https://polygon.service.example/key',
  MOONPAY_API_KEY: 'pk_live_of_the_operator',
  MOONPAY_SECRET_KEY: 'sk_live_of_the_operator',
};

type RunningRehearsal = ChildProcessByStdio<null, Readable, Readable>;

function startRehearsal(variables: Readonly<Record<string, string>>, ...flags: string[]): RunningRehearsal {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''), { mode: 0o600 });
  return spawn(process.execPath, [command, 'rehearse', ...flags], {
    cwd: folder,
    env: { PATH: process.env['PATH'], TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

interface Rehearsal {
  readonly exitCode: number | null;
  readonly checks: readonly DoctorCheck[];
  /** What did not succeed, as text for the message of a failed test. */
  readonly failures: readonly string[];
}

async function rehearse(variables: Readonly<Record<string, string>>): Promise<Rehearsal> {
  const child = startRehearsal(variables, '--json');
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const exitCode = await exited;
  if (!out.startsWith('{')) throw new Error(`no report: ${errors}`);
  const { checks } = JSON.parse(out) as { checks: DoctorCheck[] };
  const failed = checks.filter(({ level }) => level === 'fail');
  return {
    exitCode,
    checks,
    failures: failed.map(({ name, detail, log = [] }) => [`${name}: ${detail}`, ...log].join('\n')),
  };
}

const namesOf = (checks: readonly DoctorCheck[]) => [...new Set(checks.map(({ name }) => name))];

/** Every file below a folder with its content. */
function contentOf(place: string): Readonly<Record<string, string>> {
  const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

it('takes a payment to its signed webhook, and reaches nothing of the operator', async () => {
  let connections = 0;
  const world = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  const port = await new Promise<number>((resolve) => {
    world.listen(0, '127.0.0.1', () => resolve((world.address() as { port: number }).port));
  });
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'card-checkout.sqlite'), 'the operator’s database');
  writeFileSync(join(folder, 'secret'), usual.SECRET_KEY);
  const { SECRET_KEY: _, ...others } = usual;
  const found = await rehearse({
    ...others,
    SECRET_KEY_FILE: './secret',
    DATA_DIR: './data',
    DATABASE_URL: `postgres://user:password@127.0.0.1:${port}/database`,
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    MAIL_FROM: 'Shop <pay@service.example>',
    POLYGON_RPC_URL: `http://127.0.0.1:${port},ws://127.0.0.1:${port}`,
    MOONPAY_BASE_URL: `http://127.0.0.1:${port}`,
    BASE_URL: `http://127.0.0.1:${port}`,
    PORT: String(port),
  });
  await new Promise((resolve) => world.close(resolve));
  expect(found.failures).toEqual([]);
  expect(found.exitCode).toBe(0);
  expect(namesOf(found.checks).join(' ')).toBe(
    'configuration replaced chain contract start provider account create pay settle webhook verify stop',
  );
  const warnings = found.checks.filter(({ level }) => level === 'warn').map(({ detail }) => detail);
  expect(warnings).toEqual([expect.stringContaining('PostgreSQL is not rehearsed')]);
  expect(connections).toBe(0);
  expect(contentOf(dataDir)).toEqual({ [join(dataDir, 'card-checkout.sqlite')]: 'the operator’s database' });
  expect(readdirSync(temporary)).toEqual([]);
  expect(processesUsing(folder)).toEqual([]);
});

it('goes on without what an operator has not yet: endpoints, a factory, a provider; and says so', async () => {
  const { SECRET_KEY, RELAYER_PRIVATE_KEY, FEE_WALLET } = usual;
  const found = await rehearse({ SECRET_KEY, RELAYER_PRIVATE_KEY, FEE_WALLET });
  expect(found.failures).toEqual([]);
  const warnings = found.checks.filter(({ level }) => level === 'warn').map(({ detail }) => detail);
  expect(warnings).toEqual([
    expect.stringContaining('POLYGON_RPC_URL is missing'),
    expect.stringContaining('DEPOSIT_FACTORY_ADDRESS is missing'),
    expect.stringContaining('no provider that takes US dollars has credentials'),
  ]);
  expect(namesOf(found.checks)).toContain('stop');
});

it('ends before anything starts when a variable that counts is missing, and names each', async () => {
  const found = await rehearse({ ...usual, SECRET_KEY: '', FEE_WALLET: '' });
  expect(found.exitCode).toBe(1);
  expect(namesOf(found.checks)).toEqual(['configuration']);
  expect(found.failures.join(' ')).toMatch(/SECRET_KEY is missing.*FEE_WALLET is missing/s);
});

it('ends at the step that fails, with the last lines of the log and what to do', async () => {
  const found = await rehearse({ ...usual, COINBASE_API_KEY: 'key', COINBASE_API_SECRET: 'no key' });
  expect(found.exitCode).toBe(1);
  expect(found.checks.at(-1)).toMatchObject({ name: 'start', level: 'fail', isFine: false });
  expect(found.failures.join()).toMatch(/the service ended with 1: correct what its log names/);
  expect(found.checks.at(-1)?.log?.join('\n')).toContain('COINBASE_API_SECRET');
  expect(readdirSync(temporary)).toEqual([]);
  expect(processesUsing(folder)).toEqual([]);
});

it.each([
  [
    'it is interrupted',
    130,
    (child: RunningRehearsal) => void child.kill('SIGINT'),
    // The last line: no log of the service follows.
    /^fail .*stopped by SIGINT\n$/m,
  ],
  [
    'its output is closed, as by `| head`',
    143,
    (child: RunningRehearsal) => void child.stdout.destroy(),
    /^ok/,
  ],
])('leaves no process and no file when %s while the service runs', async (_, code, interrupt, last) => {
  const child = startRehearsal(usual);
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
  const errors = text(child.stderr);
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await waitFor('the service to start', 200_000, () => {
    if (child.exitCode !== null) throw new Error(`it ended before: ${printed}`);
    return /^ok +start/m.test(printed);
  });
  interrupt(child);
  expect(await exited).toBe(code);
  expect(printed).toMatch(last);
  expect(await errors).toMatch(/stopped by SIG\w+ \(\d+ steps\)\. No process and no file is left\./);
  expect(await errors).not.toContain('EPIPE');
  expect(readdirSync(temporary)).toEqual([]);
  expect(processesUsing(folder)).toEqual([]);
});
