/** Counts tests in what the test runners print. */

/** Numbers of tests by outcome; a skipped one is neither passed nor failed. */
export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Fields of vitest's JSON report that are read here. */
interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
}

/**
 * The counts of vitest's JSON report; zero of everything without a report, as after a crash.
 * @throws when the report is not one of vitest's.
 */
export function vitestCounts(json: string | undefined): TestCounts {
  if (json === undefined) return { passed: 0, failed: 0, skipped: 0 };
  const report = JSON.parse(json) as VitestReport;
  const counts = {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  };
  if (!Object.values(counts).every(Number.isSafeInteger)) throw new Error('not a JSON report of vitest');
  return counts;
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
