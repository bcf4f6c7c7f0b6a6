/** Counts tests in what the test runners print. */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** Numbers of tests by outcome; a skipped one is neither passed nor failed. */
export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Outcome of one run of vitest. */
export interface VitestSummary {
  readonly counts: TestCounts;
  /** Names of the projects in which at least one test ran. */
  readonly projects: readonly string[];
  /** Failed tests and files, a text each: file, name and the beginning of what went wrong. */
  readonly failures: readonly string[];
}

/** Maximum lines of a failure's message: what was expected and where, not the whole difference. */
const shownMessageLines = 15;

/** Variable that names the file for the summary of a run with this reporter. */
export const SUMMARY_FILE = 'TEST_SUMMARY_FILE';

/** The reporter that writes a `VitestSummary` to the file at the end of a run. */
export function createSummaryReporter(file: string): Reporter {
  return { onTestRunEnd: (modules) => writeFileSync(file, JSON.stringify(summarizeModules(modules))) };
}

/** Counts the tests of all files that vitest ran. */
export function summarizeModules(modules: readonly TestModule[]): VitestSummary {
  const counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };
  const projects = new Set<string>();
  const failures: string[] = [];
  for (const module of modules) {
    const file = relative(module.project.config.root, module.moduleId);
    for (const error of module.errors()) failures.push(`${file}:\n${firstLines(error.message)}`);
    for (const test of module.children.allTests()) {
      const { state, errors = [] } = test.result();
      counts[state === 'pending' ? 'skipped' : state]++;
      if (state === 'passed' || state === 'failed') projects.add(module.project.name);
      const text = errors.map(({ stack, message }) => stack ?? message).join('\n');
      if (state === 'failed') failures.push(`${file}: ${test.fullName}\n${firstLines(text)}`);
    }
    for (const suite of module.children.allSuites())
      for (const error of suite.errors())
        failures.push(`${file}: ${suite.fullName}\n${firstLines(error.message)}`);
  }
  return { counts, projects: [...projects], failures };
}

function firstLines(text: string): string {
  return text.split('\n').slice(0, shownMessageLines).join('\n');
}

/** The sum over forge's closing lines, `… 12 tests passed, 0 failed, 0 skipped (12 total tests)`. */
export function forgeCounts(output: string): TestCounts {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const match of output.matchAll(/: (\d+) tests? passed, (\d+) failed, (\d+) skipped \(\d+ total/g)) {
    counts.passed += Number(match[1]);
    counts.failed += Number(match[2]);
    counts.skipped += Number(match[3]);
  }
  return counts;
}

/**
 * The counts of the campaign's table: a promise without a violation is a passed test. One of which no case came about
 * counts as failed where the table does not say why, and as neither where it does; `unchecked` names those.
 */
export function campaignCounts(output: string): { counts: TestCounts; unchecked: string[] } {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const unchecked: string[] = [];
  for (const line of output.split('\n')) {
    const [, promise, cases, reason, violations] =
      /^\| (.+) \| [a-z-]+ \| ([\d,]+)(?:, (not checked: .+))? \| ([\d,]+) \|$/.exec(line) ?? [];
    if (promise === undefined) continue;
    if (violations !== '0') counts.failed++;
    else if (reason !== undefined) unchecked.push(`${reason} (${promise})`);
    else if (cases === '0') counts.failed++;
    else counts.passed++;
  }
  return { counts, unchecked };
}
