/**
 * `npm test`: runs the checks of every commit, cheapest failures first. With `--all` (`npm run test:all`), runs all
 * others as well. tools/test-folders.ts says which test belongs to which.
 *
 * Prints one line per step. For a failed step, also prints its failed tests or the end of its output, and writes the whole
 * output to `test-output/`. The last line is `N passed, N failed`, the sum over all steps; a step that failed without a
 * failed test counts as one.
 */
import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import packageDescription from '#package' with { type: 'json' };
import { parts } from '../test/campaign/parts.ts';
import { memoryFolder } from '../test/support/memory-folder.ts';
import { followSteps } from './check-progress.ts';
import { runStep, type Step, type StepResult, stopSteps } from './check-step.ts';
import { shortForms } from './short-forms.ts';
import {
  campaignCounts,
  forgeCounts,
  type TestCounts,
  type VitestReport,
  vitestCounts,
} from './test-counts.ts';

const root = join(import.meta.dirname, '..');
const node = process.execPath;
const minuteMs = 60_000;
/** Output shown for a failed step: enough to start from, and short enough for a log. */
const shownFailures = 10;
const shownOutputLines = 40;

/** Vitest projects of the first run: tests that take little time. */
const quickProjects = ['structure', 'unit', 'http', 'integration', 'conformance'];
/** Projects that join the first run with `--all`, so that some files wait while others compute. */
const longProjects = ['long', 'processes', 'postgres'];
/** Projects of the second run: whole services. */
const serviceProjects = ['payment'];
const longServiceProjects = ['e2e', 'browser'];

/** Outcome of one step together with its tests. */
interface Checked {
  result: StepResult;
  counts: TestCounts;
  failure: string | undefined;
  /** Failure message of each failed test; empty if the runner names none. */
  failedTests?: readonly string[] | undefined;
}

const script = (name: string) => join(root, 'tools', name);
const command = (name: string, file: string, ...parameters: string[]): Step => ({
  name,
  command: [node, file, ...parameters],
  timeoutMs: 20 * minuteMs,
});

const tsc = join(root, 'node_modules/typescript/bin/tsc');
/** State of `tsc` after the last check; below node_modules, so that it is removed with its compiler. */
const checkedTypes = join(root, 'node_modules/.cache/card-checkout/types.tsbuildinfo');

const staticSteps: Step[] = [
  command('format and lint', script('biome.ts'), 'check', '--error-on-warnings', '.'),
  // Checks only changed files and their dependents, in a fifth of the time.
  command('types', tsc, '--noEmit', '--incremental', '--tsBuildInfoFile', checkedTypes, '-p', '.'),
  // Browser code has other globals than Node.
  ...['src/web/checkout-layout', 'src/web/signed-in', 'src/pages/docs'].map((pages) =>
    command(`types of the script of ${pages}`, tsc, '--noEmit', '-p', `${pages}/client`),
  ),
  command('docs match the code', script('docs.ts'), '--check'),
  command('the lock file installs with the oldest npm', script('oldest-npm.ts')),
  { ...command('known weaknesses of dependencies', script('audit.ts')), timeoutMs: 2 * minuteMs },
];
const contractTests = (all: boolean) => command('contracts', script('contracts.ts'), all ? 'test' : 'quick');

/** Runs of the parts that are simulated. The whole campaign may take 90 seconds of CPU time. */
const simulatedRuns: Readonly<Record<string, number>> = { simulation: 60, instances: 6 };
const quickRuns = 20;

/** The short form of a part of the stress suite with a fresh seed. A step's name is the command that repeats it: `npm run …`. */
function campaignStep(part: string, runs = simulatedRuns[part]): Step {
  const seed = String(randomInt(2 ** 31));
  const flags = [
    '--short',
    '--only',
    part,
    '--seed',
    seed,
    ...(runs === undefined ? [] : ['--seeds', `${runs}`]),
  ];
  return command(`campaign -- ${flags.join(' ')}`, join(root, 'test', 'campaign', 'main.ts'), ...flags);
}

/** Each script in its short form: `npm run …` repeats it. */
function scriptSteps(): Step[] {
  return Object.entries(shortForms).flatMap(([name, words]) => {
    const file = /\S+\.ts$/.exec(
      packageDescription.scripts[name as keyof typeof packageDescription.scripts],
    )?.[0];
    if (words === null || file === undefined) return [];
    return [
      command([name, ...(words.length === 0 ? [] : ['--', ...words])].join(' '), join(root, file), ...words),
    ];
  });
}

let shown: ReturnType<typeof followSteps>;

process.exitCode = await main(process.argv.includes('--all'));

async function main(all: boolean): Promise<number> {
  const started = performance.now();
  await moveTemporaryFiles();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stopSteps(signal);
      shown.stop(signal);
      process.exit(signal === 'SIGINT' ? 130 : 143);
    });
  }
  if (all) process.env['SETTLE_HISTORIES'] = '3000';
  const campaign = all
    ? parts.map(({ name }) => campaignStep(name))
    : [campaignStep('simulation', quickRuns)];
  const scripts = all ? scriptSteps().map(inBackground) : [];
  // The contracts and two runs of the tests are one step each.
  const steps = staticSteps.length + campaign.length + scripts.length + 3;
  shown = followSteps(all ? 'test-all' : 'test', steps);
  const checked: Checked[] = [];
  checked.push(...(await inLanes(2, staticSteps, checkPlain)));
  // Contracts and the stress suite use the CPU while tests wait for blocks, deadlines and processes.
  const [tests, ...others] = await Promise.all([
    checkProjects('tests', all ? [...quickProjects, ...longProjects] : quickProjects),
    inLanes(1, [inBackground(contractTests(all))], checkContracts),
    inLanes(1, campaign.map(inBackground), checkCampaign),
    inLanes(1, scripts, checkPlain),
  ]);
  checked.push(tests, ...others.flat());
  // Runs alone, because some of these measure the time until a page is painted.
  checked.push(
    await checkProjects(
      'whole services',
      all ? [...serviceProjects, ...longServiceProjects] : serviceProjects,
    ),
  );
  return summarize(checked, performance.now() - started);
}

/**
 * Gives all steps a temporary folder for this run, in memory if there is room. It also holds Node's compile cache, because
 * hundreds of test processes load the same modules.
 */
async function moveTemporaryFiles(): Promise<void> {
  const folder = await mkdtemp(join(memoryFolder() ?? tmpdir(), 'card-checkout-check-'));
  // The tests' PostgreSQL may run as another user.
  await chmod(folder, 0o755);
  process.env['TMPDIR'] = folder;
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

function inBackground(step: Step): Step {
  return { ...step, isBackground: true };
}

/** Runs the steps in order, with limited concurrency. The smallest build machine has two cores. */
async function inLanes<Result>(
  lanes: number,
  steps: Step[],
  run: (step: Step) => Promise<Result>,
): Promise<Result[]> {
  const queue = [...steps];
  const results: Result[] = [];
  const lane = async () => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) results.push(await run(step));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

async function checkPlain(step: Step): Promise<Checked> {
  const result = await runStep(step);
  const checked = await reportStep({
    result,
    counts: { passed: 0, failed: 0, skipped: 0 },
    failure: result.problem,
  });
  // A step that could not reach its service does not fail, but must not look like one that passed.
  const unchecked = /^not checked: .*$/m.exec(result.output);
  if (unchecked !== null && checked.failure === undefined) console.log(indent(unchecked[0]));
  return checked;
}

/** Counts each promise in the stress suite's table as a test; an unchecked one is named and counts as failed. */
async function checkCampaign(step: Step): Promise<Checked> {
  const result = await runStep(step);
  const { counts, unchecked } = campaignCounts(result.output);
  const broken = counts.failed === 0 ? undefined : `${counts.failed} promises were broken or not looked at`;
  const checked = await reportStep({
    result,
    counts,
    failure: result.problem ?? broken ?? emptyOrSkipped(counts),
  });
  if (checked.failure === undefined) for (const line of unchecked) console.log(indent(line));
  return checked;
}

async function checkContracts(step: Step): Promise<Checked> {
  const result = await runStep(step);
  const counts = forgeCounts(result.output);
  const checked = await reportStep({ result, counts, failure: result.problem ?? emptyOrSkipped(counts) });
  // Prints the gas per payment even if all steps pass.
  const gas = result.output.indexOf('Gas per payment');
  if (gas !== -1 && checked.failure === undefined) console.log(indent(result.output.slice(gas)));
  return checked;
}

/** Runs vitest once over the projects. */
async function checkProjects(name: string, projects: string[]): Promise<Checked> {
  const file = join(root, 'test-output', `${fileName(name)}.json`);
  await rm(file, { force: true });
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const named = projects.flatMap((project) => ['--project', project]);
  const result = await runStep({
    name: `${name} (${projects.join(', ')})`,
    command: [
      node,
      vitest,
      'run',
      ...named,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
    ],
    timeoutMs: 30 * minuteMs,
  });
  // A run that crashed leaves no report.
  const report = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as VitestReport,
    () => null,
  );
  const none = { counts: { passed: 0, failed: 0, skipped: 0 }, failures: [] };
  const { counts, failures } = report === null ? none : vitestCounts(report, root);
  const failure = result.problem ?? emptyOrSkipped(counts);
  return reportStep({ result, counts, failure, failedTests: failures });
}

function emptyOrSkipped(counts: TestCounts): string | undefined {
  if (counts.skipped > 0) return `${counts.skipped} tests were skipped`;
  return counts.passed + counts.failed === 0 ? 'no test ran' : undefined;
}

async function reportStep(checked: Checked): Promise<Checked> {
  shown.count();
  const { result, failure } = checked;
  const seconds = `${(result.durationMs / 1000).toFixed(1)} s`;
  const tests = checked.counts.passed === 0 ? '' : `: ${checked.counts.passed} passed`;
  console.log(
    `${failure === undefined ? 'ok  ' : 'FAIL'} ${seconds.padStart(8)}  ${result.step.name}${tests}`,
  );
  if (failure === undefined) return checked;
  const logFile = join(root, 'test-output', `${fileName(result.step.name)}.log`);
  await mkdir(join(root, 'test-output'), { recursive: true });
  await writeFile(logFile, result.output);
  console.log(
    indent(`${whatWentWrong(checked)}\n${failure}; all of its output is in ${relative(root, logFile)}`),
  );
  return checked;
}

/** Failed tests; if the runner named none, the end of its output. */
function whatWentWrong({ failedTests = [], result }: Checked): string {
  if (failedTests.length > 0) return failedTests.slice(0, shownFailures).join('\n\n');
  return result.output.trimEnd().split('\n').slice(-shownOutputLines).join('\n');
}

function fileName(stepName: string): string {
  return stepName.replaceAll(/[^A-Za-z0-9]+/g, '-');
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '     ');
}

/** Prints the sum and returns the exit code. */
function summarize(checked: Checked[], durationMs: number): number {
  const failures = checked.filter((one) => one.failure !== undefined);
  shown.end(failures.length === 0);
  const passed = checked.reduce((sum, one) => sum + one.counts.passed, 0);
  const failed = checked.reduce(
    (sum, one) => sum + Math.max(one.counts.failed, one.failure === undefined ? 0 : 1),
    0,
  );
  console.log(
    `\n${checked.length - failures.length} of ${checked.length} steps in ${(durationMs / 1000).toFixed(0)} s`,
  );
  for (const { result, failure } of failures) console.log(`FAIL ${result.step.name}: ${failure}`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
