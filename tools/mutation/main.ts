/**
 * `npm run mutation`: changes the code where a mistake costs money or grants access, one small change at a time,
 * and sees whether a test notices. Prints a table and each change that none noticed; ends with an error when a group
 * has less than its score.
 *
 *   npm run mutation                             every group
 *   npm run mutation -- money signing            these
 *   npm run mutation -- src/payment/money.ts     this file
 *   npm run mutation -- --concurrency 1 money    leaves the other processor cores to others
 *
 * A changed line is tried with the tests that reach it; what a module computes while it is loaded, a table for example,
 * with all tests of its file, in a process that loads the module anew.
 *
 * The tool is installed on its first use, in the versions of the date in tool/.npmrc: it is many packages, and only who
 * measures the tests needs them. It works on a copy of the project below test-output/.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseGroups, type MutatedFile, type MutationGroup } from './groups.ts';
import { formatScores, type GroupScore, scoreOf } from './score.ts';

const LEAST_SCORE_PERCENT = 90;
/** Time limit; a mutation beyond it counts as an endless loop, and so as detected. */
const TEST_TIMEOUT_MS = 30_000;

const root = join(import.meta.dirname, '..', '..');
const output = join(root, 'test-output', 'mutation');
const toolFolder = join(import.meta.dirname, 'tool');
const tool = join(toolFolder, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { concurrency: { type: 'string', default: '2' } },
});
const concurrency = Number(values.concurrency);
const groups = chooseGroups(positionals);

installTool();
mkdirSync(output, { recursive: true });
const scores = groups.map(measure);
console.log(formatScores(scores));
process.exitCode = scores.every(({ scorePercent }) => scorePercent >= LEAST_SCORE_PERCENT) ? 0 : 1;

function installTool(): void {
  if (existsSync(tool)) return;
  const { status } = spawnSync('npm', ['install', '--ignore-scripts'], {
    cwd: toolFolder,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the tool could not be installed');
}

function measure({ name, parts }: MutationGroup): GroupScore {
  return scoreOf(name, parts.map(tryChanges));
}

/** Runs Stryker on one file; returns its report. */
function tryChanges({ file, tests }: MutatedFile): string {
  const name = file.replaceAll('/', '-').replace(/\.ts$/, '');
  const configuration = join(output, `${name}.config.json`);
  const report = join(output, `${name}.json`);
  writeFileSync(configuration, JSON.stringify(optionsOf(file, report), null, 2));
  const { status } = spawnSync(process.execPath, [tool, 'run', configuration], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, MUTATION_TESTS: tests.join(',') },
  });
  if (status !== 0) throw new Error(`the tool ended with ${status}`);
  return readFileSync(report, 'utf8');
}

function optionsOf(file: string, report: string): object {
  return {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'tools/mutation/vitest.config.ts', related: false },
    mutate: [file],
    concurrency,
    timeoutMS: TEST_TIMEOUT_MS,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: report },
    tempDirName: join('test-output', 'mutation', 'copy'),
    ignorePatterns: [
      '/test-output',
      '/tools/mutation/tool/node_modules',
      '/contracts/out',
      '/contracts/cache',
    ],
    // Stryker would rewrite ours with a compiler that lacks the interface; nothing here is compiled.
    tsconfigFile: 'none',
    allowConsoleColors: false,
    // Tables are evaluated on import, so their mutations take longer, and matter most.
    warnings: { slow: false },
  };
}
