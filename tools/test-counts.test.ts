import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { campaignCounts, forgeCounts, vitestCounts } from './test-counts.ts';
import { conformanceTests, longTests, paymentTests, postgresTests, processFolders } from './test-folders.ts';

it("adds up forge's closing lines and leaves those of single suites aside", () => {
  const output = [
    'Suite result: ok. 7 passed; 0 failed; 0 skipped; finished in 9.23ms',
    'Ran 3 test suites in 1.10s (2.30s CPU time): 21 tests passed, 1 failed, 2 skipped (24 total tests)',
    'Ran 1 test suite in 0.10s (0.30s CPU time): 1 tests passed, 0 failed, 0 skipped (1 total tests)',
  ].join('\n');
  expect(forgeCounts(output)).toEqual({ passed: 22, failed: 1, skipped: 2 });
});

it('counts nothing where forge crashed before it reported', () => {
  expect(forgeCounts('error: solc not found')).toEqual({ passed: 0, failed: 0, skipped: 0 });
});

it("reads the campaign's table, where a promise without a case was not kept unless the table says why", () => {
  const table = [
    'kills from seed 33, 2 cores',
    '| promise | part | cases | violations |',
    '|---|---|---|---|',
    '| Any bytes get whole answers | kills | 1,300 | 0 |',
    '| Any query too | kills | 800 | 2 |',
    '| Any form too | kills | 0 | 0 |',
    '| Calls are in order (system calls) | durability | 0, not checked: strace is missing | 0 |',
  ].join('\n');
  expect(campaignCounts(table)).toEqual({
    counts: { passed: 1, failed: 2, skipped: 0 },
    unchecked: ['not checked: strace is missing (Calls are in order (system calls))'],
  });
});

it('shows of each failed test its file, its name and the first lines of what went wrong', () => {
  const long = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
  const test = (fullName: string, status: string, ...failureMessages: string[]) => ({
    fullName,
    status,
    failureMessages,
  });
  const { counts, failures } = vitestCounts(
    {
      numPassedTests: 1,
      numFailedTests: 1,
      numPendingTests: 1,
      numTodoTests: 1,
      testResults: [
        {
          name: '/project/test/http/a.test.ts',
          message: '',
          assertionResults: [test('one', 'passed'), test('two', 'failed', long), test('three', 'skipped')],
        },
        { name: '/project/test/e2e/b.test.ts', message: 'cannot find chromium', assertionResults: [] },
      ],
    },
    '/project',
  );
  expect(counts).toEqual({ passed: 1, failed: 1, skipped: 2 });
  expect(failures[0]).toMatch(/^test\/http\/a\.test\.ts: two\nline 0\n/);
  expect(failures[0]?.split('\n')).toHaveLength(16);
  expect(failures.slice(1)).toEqual(['test/e2e/b.test.ts:\ncannot find chromium']);
});

it('names only tests and folders that are there, so that no project is empty', () => {
  const root = join(import.meta.dirname, '..');
  const folders = processFolders.map((folder) => `test/${folder}/**/*.test.ts`);
  const patterns = [...paymentTests, ...conformanceTests, ...longTests, ...folders, ...postgresTests.include];
  expect(patterns.filter((pattern) => globSync(pattern, { cwd: root }).length === 0)).toEqual([]);
});
