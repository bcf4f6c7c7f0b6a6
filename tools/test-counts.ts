/** Counts tests in what the test runners print. */
import { relative } from 'node:path';

/** Numbers of tests by outcome; a skipped one is neither passed nor failed. */
export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Used fields of vitest's JSON report. */
export interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Maximum lines of a failure's message: expectation and place, without the whole diff. */
const shownMessageLines = 15;

/** Counts of a run, and a text for each failed test or file: file, name and the beginning of what went wrong. */
export function vitestCounts(report: VitestReport, root: string): { counts: TestCounts; failures: string[] } {
  const failures = report.testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    return [
      ...(message === '' ? [] : [`${file}:\n${firstLines(message)}`]),
      ...failed.map(
        ({ fullName, failureMessages }) => `${file}: ${fullName}\n${firstLines(failureMessages.join('\n'))}`,
      ),
    ];
  });
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests, numTodoTests } = report;
  return { counts: { passed, failed, skipped: numPendingTests + numTodoTests }, failures };
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
