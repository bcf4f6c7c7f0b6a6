/**
 * `npm run shape`: how the code is cut, in figures.
 *
 * Counts files and lines, files with one importer and fewer than 60 lines, and import cycles. Then starts a sandbox and
 * asks V8 which files of `src` run between a create's first byte and its answer, and between a deposit and its webhook.
 *
 *   --static   only the figures that need no running service
 *   --list     names the files of the two paths
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cycles } from '../test/structure/arrows.ts';
import { isTest, projectModules } from '../test/structure/modules.ts';
import { projectFiles } from '../test/structure/project-files.ts';
import { smallSingleUseFiles } from '../test/structure/small-files.ts';

const root = join(import.meta.dirname, '..');
const CREATE_ROUNDS = 8;
const START_TIMEOUT_MS = 60_000;
const SETTLEMENT_TIMEOUT_MS = 60_000;

/**
 * What runs in the same seconds as a settlement and has no part in it:
 *
 * - the sandbox, the command line, and the customer's page with its providers, sessions and rates;
 * - the status that this script asks for: its key, and the check of its payment id;
 * - work of other loops: expiry, the index of lists and its statistics, mail, alerts, refunds, and the numbering of
 *   events, which the settlement leaves behind as rows;
 * - counters for the operator.
 */
const BESIDE_A_SETTLEMENT = new RegExp(
  [
    'src/(sandbox|cli|http|providers|rates)/',
    'src/store/(payment-(index|search|history)|emails|sessions|alerts|events|providers|refunds)',
    'src/store/\\w+/request-reads',
    'src/domain/(payment-(id|search|statistics)|api-key|provider-catalog|paid-threshold|callback-url)',
    'src/payments/(expire-payments|index-payments|send-receipts|read-status|start-session|provider-availability)',
    'src/payments/(handle-provider-webhook|watch-refunds)',
    'src/app/(public-server|run-until-stopped|metrics)',
  ]
    .map((path) => `^${path}`)
    .join('|'),
);

const { values: flags } = parseArgs({
  options: { static: { type: 'boolean', default: false }, list: { type: 'boolean', default: false } },
});

printFigures();
if (!flags.static) await printPaths();

function printFigures(): void {
  for (const folder of [
    'src',
    'simulators',
    'locales',
    'receiver-grader',
    'docs-site',
    'verifier',
    'sdk/src',
  ]) {
    const lines = linesOf(folder);
    console.log(`${folder}: ${lines.length} files, ${lines.reduce((sum, count) => sum + count, 0)} lines`);
  }
  for (const type of ['sql', 'css', 'js']) {
    const lines = linesOf('src', type);
    console.log(
      `src: ${lines.reduce((sum, count) => sum + count, 0)} lines in ${lines.length} .${type} files`,
    );
  }
  const ofSource = linesOf('src');
  console.log(
    `src: median ${ofSource[Math.floor(ofSource.length / 2)]} lines a file, longest ${ofSource.at(-1)}`,
  );
  const modules = projectModules(['src']).filter(({ path }) => path.endsWith('.ts') && !isTest(path));
  const small = smallSingleUseFiles(modules, projectFiles(/^src\//));
  console.log(`src: ${small.length} files of fewer than 60 lines with one importer`);
  for (const path of small) console.log(`  ${path}`);
  console.log(`src: ${cycles(modules).length} import cycles`);
}

/** Lines of each production file below a folder, ascending. */
function linesOf(folder: string, type = 'ts'): number[] {
  return projectFiles(new RegExp(`^${folder}/.*(?<!\\.test)\\.${type}$`))
    .map(({ text }) => text.split('\n').length - 1)
    .sort((a, b) => a - b);
}

/** Starts a sandbox under V8's inspector, and counts the files whose functions run on each path. */
async function printPaths(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'card-checkout-shape-'));
  const env = {
    ...process.env,
    PORT: String(await freePort()),
    ADMIN_PORT: String(await freePort()),
    DATA_DIR: folder,
    LOG_LEVEL: 'error',
  };
  const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', 'src/main.ts', 'start'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const [inspectorUrl, apiKey] = await Promise.all([
      printed(child, 'stderr', /ws:\/\/\S+/),
      printed(child, 'stdout', /service_live_[\w-]+/),
    ]);
    const api = createApi(`http://localhost:${env.PORT}`, apiKey);
    await until(api.isReady, START_TIMEOUT_MS);
    const coverage = await startCoverage(inspectorUrl);
    try {
      await api.create();
      report('from the first byte of a create to its answer', await filesOfCreate(api, coverage));
      report('from a deposit to its webhook', await filesOfSettlement(api, coverage, env));
    } finally {
      // A process does not end while a debugger is connected.
      coverage.close();
    }
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
}

/** What runs in the background runs in some of these moments; what a create needs runs in all of them. */
async function filesOfCreate(api: Api, coverage: Coverage): Promise<string[]> {
  let files: string[] | undefined;
  for (let round = 0; round < CREATE_ROUNDS; round++) {
    await coverage.take();
    await api.create();
    const ran = await coverage.take();
    files = files?.filter((path) => ran.has(path)) ?? [...ran];
  }
  return files ?? [];
}

async function filesOfSettlement(api: Api, coverage: Coverage, env: NodeJS.ProcessEnv): Promise<string[]> {
  const id = await api.create();
  await runCommand(['sandbox', 'pay', id], env);
  await coverage.take();
  await until(() => api.isPaid(id), SETTLEMENT_TIMEOUT_MS);
  // The webhook's row is claimed at most a second after the payment is paid.
  await delay(2_000);
  return [...(await coverage.take())].filter((path) => !BESIDE_A_SETTLEMENT.test(path));
}

function report(path: string, files: readonly string[]): void {
  console.log(`${files.length} files of src run ${path}`);
  if (flags.list) for (const file of [...files].sort()) console.log(`  ${file}`);
}

interface Api {
  create(): Promise<string>;
  isReady(): Promise<boolean>;
  isPaid(id: string): Promise<boolean>;
}

function createApi(base: string, apiKey: string): Api {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({
    address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    callback: 'https://shop.example.com/hook',
    amount: '25.00',
  });
  const read = async (path: string) => {
    const response = await fetch(`${base}${path}`, { headers });
    return (await response.json()) as { status?: string };
  };
  return {
    async create() {
      const response = await fetch(`${base}/api/v1/wallet`, { method: 'POST', headers, body });
      if (!response.ok) throw new Error(`create answered ${response.status}: ${await response.text()}`);
      return ((await response.json()) as { payment_id: string }).payment_id;
    },
    isReady: async () => (await fetch(`${base}/health/ready`)).ok,
    isPaid: async (id) => (await read(`/api/v1/payment-status?payment_id=${id}`)).status === 'paid',
  };
}

interface Coverage {
  /** The files of `src` whose functions ran since the last call. */
  take(): Promise<Set<string>>;
  close(): void;
}

/** The part of V8's answer that is read here. */
interface PreciseCoverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly count: number }[];
    }[];
  }[];
}

async function startCoverage(inspectorUrl: string): Promise<Coverage> {
  const socket = new WebSocket(inspectorUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  let calls = 0;
  const send = <Result>(method: string, params = {}) =>
    new Promise<Result>((resolve) => {
      const id = ++calls;
      const receive = ({ data }: MessageEvent) => {
        const message = JSON.parse(String(data)) as { id?: number; result: Result };
        if (message.id !== id) return;
        socket.removeEventListener('message', receive);
        resolve(message.result);
      };
      socket.addEventListener('message', receive);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await send('Profiler.enable');
  await send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    async take() {
      const { result } = await send<PreciseCoverage>('Profiler.takePreciseCoverage');
      const ran = result.filter(({ functions }) =>
        functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
      );
      const paths = ran.map(({ url }) => /^file:.*\/(src\/(?!sandbox\/).*)/.exec(url)?.[1]);
      return new Set(
        paths.filter((path) => path !== undefined && !path.includes('node_modules')) as string[],
      );
    },
    close: () => socket.close(),
  };
}

async function runCommand(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`card-checkout ${args.join(' ')} ended with ${code}`);
}

/** The first text of a stream that fits the pattern. */
function printed(child: ChildProcess, stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child[stream]?.on('data', (chunk) => {
      text += String(chunk);
      const found = pattern.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`the sandbox ended: ${text}`)));
  });
}

async function until(holds: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > endMs) throw new Error(`no success within ${timeoutMs} ms`);
    await delay(50);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
