import { expect, it } from 'vitest';
import { campaignCounts, failedTests, forgeCounts, projectsWithTests, vitestCounts } from './test-counts.ts';

it("adds up forge's closing lines and leaves those of single suites aside", () => {
  const output = [
    'Suite result: ok. 7 passed; 0 failed; 0 skipped; finished in 9.23ms',
    'Ran 3 test suites in 1.10s (2.30s CPU time): 21 tests passed, 1 failed, 2 skipped (24 total tests)',
    'Ran 1 test suite in 0.10s (0.30s CPU time): 1 tests passed, 0 failed, 0 skipped (1 total tests)',
  ].join('\n');
  expect(forgeCounts(output)).toEqual({ passed: 22, failed: 1, skipped: 2 });
});

it('counts nothing where a runner crashed before it reported', () => {
  expect(vitestCounts(undefined)).toEqual({ passed: 0, failed: 0, skipped: 0 });
  expect(vitestCounts('{"numPassed')).toEqual({ passed: 0, failed: 0, skipped: 0 });
  expect(forgeCounts('error: solc not found')).toEqual({ passed: 0, failed: 0, skipped: 0 });
});

it("reads vitest's report, where a todo is a skipped test", () => {
  const report = { numPassedTests: 5, numFailedTests: 1, numPendingTests: 2, numTodoTests: 3 };
  expect(vitestCounts(JSON.stringify(report))).toEqual({ passed: 5, failed: 1, skipped: 5 });
});

it("reads the campaign's table, where a promise without a case was not kept unless the table says why", () => {
  const table = [
    'hostile-input from seed 33, 2 cores',
    '| promise | part | cases | violations |',
    '|---|---|---|---|',
    '| Any bytes get whole answers | hostile-input | 1,300 | 0 |',
    '| Any query too | hostile-input | 800 | 2 |',
    '| Any form too | hostile-input | 0 | 0 |',
    '| Calls are in order (system calls) | durability | 0, not checked: strace is missing | 0 |',
  ].join('\n');
  expect(campaignCounts(table)).toEqual({
    counts: { passed: 1, failed: 2, skipped: 0 },
    unchecked: ['not checked: strace is missing (Calls are in order (system calls))'],
  });
});

it('refuses a report that is not one', () => {
  expect(() => vitestCounts('{}')).toThrow('not a JSON report');
});

it('tells to which project a test belongs, and leaves out files in which none ran', () => {
  const file = (name: string, tests = 1) => ({ name, assertionResults: Array(tests).fill({}) });
  const report = (...testResults: unknown[]) => JSON.stringify({ testResults });
  const inAll = [
    'src/a.test.ts',
    'test/http/b.test.ts',
    'test/chain/c.test.ts',
    'test/e2e/d.test.ts',
    'test/store/f.test.ts',
  ];
  const json = report(
    ...inAll.map((path) => file(`/project/${path}`)),
    file('/project/test/browser/e.test.ts', 0),
  );
  expect([...projectsWithTests(json, '/project')].sort()).toEqual([
    'e2e',
    'http',
    'integration',
    'processes',
    'unit',
  ]);
  expect(projectsWithTests(undefined, '/project').size).toBe(0);
});

it('counts a file that ran twice for the project on PostgreSQL too', () => {
  const file = { name: '/project/test/http/b.test.ts', assertionResults: [{}] };
  const json = JSON.stringify({ testResults: [file, file] });
  expect([...projectsWithTests(json, '/project')].sort()).toEqual(['http', 'postgres']);
});

it('shows of each failed test its file, its name and the first lines of what went wrong', () => {
  const long = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
  const report = {
    testResults: [
      {
        name: '/project/test/http/a.test.ts',
        message: '',
        assertionResults: [
          { fullName: 'a payment is created', status: 'passed', failureMessages: [] },
          { fullName: 'a payment is paid', status: 'failed', failureMessages: [long] },
        ],
      },
      { name: '/project/test/e2e/b.test.ts', message: 'Error: cannot find chromium', assertionResults: [] },
    ],
  };
  const [inTest, inFile, ...more] = failedTests(JSON.stringify(report), '/project');
  expect(inTest).toMatch(/^test\/http\/a\.test\.ts: a payment is paid\nline 0\n/);
  expect(inTest?.split('\n')).toHaveLength(16);
  expect(inFile).toBe('test/e2e/b.test.ts:\nError: cannot find chromium');
  expect(more).toEqual([]);
});
