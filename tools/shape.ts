/**
 * `npm run shape`: how large the code is and how it is cut, in figures.
 *
 * Counts lines by kind, files with one importer and fewer than 60 lines, and import cycles. Then starts a sandbox and
 * asks V8 which files of `src` run between a create's first byte and its answer, and between a deposit and its webhook.
 *   --static   only the figures that need no running service
 *   --list     names the files of the two paths
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cycles } from '../test/structure/arrows.ts';
import { isTest, projectModules } from '../test/structure/modules.ts';
import { projectFiles } from '../test/structure/project-files.ts';
import { smallSingleUseFiles } from '../test/structure/small-files.ts';
import { waitFor } from '../test/support/wait-for.ts';
import { startSandboxProcess } from './sandbox-process.ts';

const CREATE_ROUNDS = 8;
const SETTLEMENT_TIMEOUT_MS = 60_000;

/** Folders of other code than the service's. Everything else counts as production code. */
const besideProduction =
  /^(test|tools|sandbox|src\/web\/locales|sdk|sdk-python|plugins|contracts|docs|deploy)\/|^src\/features\/[^/]+\/locales\.ts$|^vitest\.config\.ts$|^\./;

/**
 * What runs in the same seconds as a settlement and has no part in it:
 *
 * - the sandbox, the command line, and the customer's page with its providers, sessions and rates;
 * - the status that this script asks for: its key, and the check of its payment id;
 * - work of other loops: expiry, the index of lists and its statistics, mail, alerts, refunds, and the numbering of
 *   events, which the settlement leaves behind as rows;
 * - counters for the operator.
 */
const besideSettlement: readonly string[] = [
  'src/(cli|web|api|pages|providers|rates)/',
  'src/(payment|store)/payment-(id|search|statistics|history)',
  'src/store/(erase-customer-data|receipts|sessions|events|providers|accounts)',
  'src/features/(alerts|refunds|receipts)/',
  'src/accounts/api-key',
  'src/(payment/(provider-catalog|callback-url|read-status)|settlement/expire-payments)',
  'src/app/(servers|run-until-stopped|metrics)',
];

const { values: flags } = parseArgs({
  options: { static: { type: 'boolean', default: false }, list: { type: 'boolean', default: false } },
});

printFigures();
if (!flags.static) await printPaths();

function printFigures(): void {
  const files = projectFiles(/./);
  const count = (name: string, isCounted: (path: string) => boolean, linesOf: (text: string) => number) => {
    const lines = files.filter(({ path }) => isCounted(path)).map(({ text }) => linesOf(text));
    const sum = lines.reduce((total, each) => total + each, 0);
    console.log(`${name}: ${sum.toLocaleString('en')} lines in ${lines.length} files`);
  };
  const isCode = (path: string) => /\.(ts|js|css|sql)$/.test(path) && !isTest(path);
  const all = (text: string) => text.split('\n').length - 1;
  const nonBlank = (text: string) => text.split('\n').filter((line) => line.trim() !== '').length;
  count('production, non-blank', (path) => isCode(path) && !besideProduction.test(path), nonBlank);
  count('locales, non-blank', (path) => isCode(path) && /^src\/.*\/locales[/.]/.test(path), nonBlank);
  count('test and src/**/*.test.ts', (path) => /^test\/|^src\/.*\.test\.ts$/.test(path), all);
  count('tools', (path) => path.startsWith('tools/'), all);
  count('sandbox', (path) => path.startsWith('sandbox/'), all);

  const named = files.filter(
    ({ path, text }) => /^src\/.*\.ts$/.test(path) && !isTest(path) && /refund/i.test(text),
  );
  const folders = new Set(named.map(({ path }) => dirname(path)));
  console.log(`"refund" in ${named.length} TypeScript files of ${folders.size} folders of src`);
  const root = new Set(files.map(({ path }) => path.split('/')[0]));
  const [decisions, pages] = [true, false].map((isDecision) =>
    files.filter(({ path }) => /^docs\/.*\.md$/.test(path) && path.includes('/decisions/') === isDecision),
  );
  const words = pages?.reduce((total, { text }) => total + text.split(/\s+/).filter(Boolean).length, 0);
  console.log(
    `${root.size} entries in the root, ${decisions?.length} decisions, ${words} words of docs beside`,
  );

  const ofSource = files
    .filter(({ path }) => /^src\/.*\.ts$/.test(path) && !isTest(path))
    .map(({ text }) => all(text))
    .sort((left, right) => left - right);
  const middle = ofSource[Math.floor(ofSource.length / 2)];
  console.log(`src: median ${middle} lines a file, longest ${ofSource.at(-1)}`);
  const modules = projectModules(['src']).filter(({ path }) => path.endsWith('.ts') && !isTest(path));
  const small = smallSingleUseFiles(modules, projectFiles(/^src\//));
  console.log(`src: ${small.length} files of fewer than 60 lines with one importer`);
  for (const path of small) console.log(`  ${path}`);
  console.log(`src: ${cycles(modules).length} import cycles`);
  console.log(`${besideSettlement.length} exceptions for the path of a settlement`);
  for (const pattern of besideSettlement) console.log(`  ${pattern}`);
}

/** Starts a sandbox under V8's inspector, and counts the files whose functions run on each path. */
async function printPaths(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'card-checkout-shape-'));
  const options = { nodeArgs: ['--inspect=127.0.0.1:0'] };
  const sandbox = await startSandboxProcess(folder, { LOG_LEVEL: 'error' }, options);
  try {
    const coverage = await startCoverage(/ws:\/\/\S+/.exec(sandbox.output())?.[0] ?? '');
    try {
      await sandbox.create();
      report('from the first byte of a create to its answer', await filesOfCreate(sandbox, coverage));
      report('from a deposit to its webhook', await filesOfSettlement(sandbox, coverage));
    } finally {
      // A process does not exit while a debugger is connected.
      coverage.close();
    }
  } finally {
    await sandbox.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }
}

/** Background work runs in some of these samples; a create's own code runs in all of them. */
async function filesOfCreate(sandbox: Sandbox, coverage: Coverage): Promise<string[]> {
  let files: string[] | undefined;
  for (let round = 0; round < CREATE_ROUNDS; round++) {
    await coverage.take();
    await sandbox.create();
    const ran = await coverage.take();
    files = files?.filter((path) => ran.has(path)) ?? [...ran];
  }
  return files ?? [];
}

async function filesOfSettlement(sandbox: Sandbox, coverage: Coverage): Promise<string[]> {
  const id = await sandbox.create();
  await sandbox.pay(id);
  await coverage.take();
  await waitFor('the payment to be paid', SETTLEMENT_TIMEOUT_MS, () => sandbox.isPaid(id));
  // The webhook's row is claimed at most a second after the payment is paid.
  await delay(2_000);
  const beside = besideSettlement.map((pattern) => new RegExp(`^${pattern}`));
  return [...(await coverage.take())].filter((path) => !beside.some((pattern) => pattern.test(path)));
}

function report(path: string, files: readonly string[]): void {
  console.log(`${files.length} files of src run ${path}`);
  if (flags.list) for (const file of [...files].sort()) console.log(`  ${file}`);
}

type Sandbox = Awaited<ReturnType<typeof startSandboxProcess>>;

interface Coverage {
  /** Files of `src` with functions that ran since the last call. */
  take(): Promise<Set<string>>;
  close(): void;
}

/** Used fields of V8's answer. */
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
      const paths = ran.flatMap(({ url }) => /^file:.*\/(src\/.*)/.exec(url)?.[1] ?? []);
      return new Set(paths.filter((path) => !path.includes('node_modules')));
    },
    close: () => socket.close(),
  };
}
