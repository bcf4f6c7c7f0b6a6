/** Counts tests in what the test runners print. */
import { relative, sep } from 'node:path';
import { processFolders } from './test-folders.ts';

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
  testResults: { name: string; message?: string; assertionResults: VitestAssertion[] }[];
}

/** One test of the report. */
interface VitestAssertion {
  fullName: string;
  status: string;
  failureMessages?: string[];
}

/** Lines of a failure's message that are shown: what was expected and where, not the whole difference. */
const shownMessageLines = 15;

/**
 * The counts of vitest's JSON report; zero of everything without a whole report, as after a crash.
 * @throws when the report is not one of vitest's.
 */
export function vitestCounts(json: string | undefined): TestCounts {
  const report = parseReport(json);
  if (report === undefined) return { passed: 0, failed: 0, skipped: 0 };
  const counts = {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  };
  if (!Object.values(counts).every(Number.isSafeInteger)) throw new Error('not a JSON report of vitest');
  return counts;
}

/** The failed tests of vitest's JSON report, a text each: file, name and the beginning of what went wrong. */
export function failedTests(json: string | undefined, root: string): string[] {
  const failures: string[] = [];
  for (const { name, message, assertionResults } of parseReport(json)?.testResults ?? []) {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    for (const test of failed) {
      failures.push(`${file}: ${test.fullName}\n${firstLines((test.failureMessages ?? []).join('\n'))}`);
    }
    // A file that could not be loaded, or whose shared preparation failed, has a message and no failed test.
    if (failed.length === 0 && message) failures.push(`${file}:\n${firstLines(message)}`);
  }
  return failures;
}

function firstLines(text: string): string {
  return text.split('\n').slice(0, shownMessageLines).join('\n');
}

/** Projects of vitest.config.ts that take one folder below `test/` of their own name. */
function isOwnFolder(project: string): boolean {
  return ['structure', 'http', 'e2e', 'browser'].includes(project);
}

/** The projects of vitest.config.ts to which at least one test of the report belongs; `postgres` repeats files of others. */
export function projectsWithTests(json: string | undefined, root: string): Set<string> {
  const files = (parseReport(json)?.testResults ?? []).filter((file) => file.assertionResults.length > 0);
  const seen = new Set<string>();
  return new Set(
    files.map(({ name }) => {
      if (seen.has(name)) return 'postgres';
      seen.add(name);
      const [top, folder = ''] = relative(root, name).split(sep);
      if (top !== 'test') return 'unit';
      if (processFolders.includes(folder)) return 'processes';
      return isOwnFolder(folder) ? folder : 'integration';
    }),
  );
}

/** The report, or undefined where there is none or where its writing was cut off. */
function parseReport(json: string | undefined): VitestReport | undefined {
  try {
    return json === undefined ? undefined : (JSON.parse(json) as VitestReport);
  } catch {
    return undefined;
  }
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
