/**
 * `npm run mutation`: changes the code where a mistake costs money or grants access, one small change at a time,
 * and sees whether a test notices. Prints a table and each change that none noticed; ends with an error when a group
 * has less than its score.
 *
 *   npm run mutation                    every group
 *   npm run mutation -- money signing   these
 *
 * The tool has a lock file of its own in tool/ and is installed on its first use: it is many packages, and only who
 * measures the tests needs them. It works on a copy of the project below test-output/.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MutatedFile, type MutationGroup, mutationGroups } from './groups.ts';
import { formatScores, type GroupScore, scoreOf } from './score.ts';

const LEAST_SCORE_PERCENT = 85;
/** Beyond this a change is taken to have made the tests run without an end, and so to have been noticed. */
const TEST_TIMEOUT_MS = 30_000;
const CONCURRENCY = 2;

const root = join(import.meta.dirname, '..', '..');
const output = join(root, 'test-output', 'mutation');
const toolFolder = join(import.meta.dirname, 'tool');
const tool = join(toolFolder, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !mutationGroups.some((group) => group.name === name));
if (unknown.length > 0) throw new RangeError(`no such group: ${unknown.join(', ')}`);

installTool();
mkdirSync(output, { recursive: true });
const scores = mutationGroups.filter(({ name }) => asked.length === 0 || asked.includes(name)).map(measure);
console.log(formatScores(scores));
process.exitCode = scores.every(({ scorePercent }) => scorePercent >= LEAST_SCORE_PERCENT) ? 0 : 1;

function installTool(): void {
  if (existsSync(tool)) return;
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], {
    cwd: toolFolder,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the tool could not be installed');
}

function measure({ name, parts }: MutationGroup): GroupScore {
  return scoreOf(name, parts.map(tryChanges));
}

/** Runs the tool on one file; returns its report. */
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
    vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
    mutate: [file],
    concurrency: CONCURRENCY,
    timeoutMS: TEST_TIMEOUT_MS,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: report },
    tempDirName: join('test-output', 'mutation', 'copy'),
    ignorePatterns: [
      '/test-output',
      '/scripts/mutation/tool/node_modules',
      '/contracts/out',
      '/contracts/cache',
    ],
    // It would rewrite ours with a compiler that has no such interface any more; nothing here is compiled.
    tsconfigFile: 'none',
    allowConsoleColors: false,
    // A table is made when its module is loaded: changes to it take longer, and are those that matter.
    warnings: { slow: false },
  };
}
