import { expect, it } from 'vitest';
import type { TestModule } from 'vitest/node';
import { campaignCounts, forgeCounts, summarizeModules } from './test-counts.ts';

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

/** A file as vitest reports it: its tests by state, and an error of the file itself. */
function fileOf(path: string, projectName: string, states: string[], fileError?: string): TestModule {
  const long = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
  const tests = states.map((state, index) => ({
    fullName: `test ${index + 1}`,
    result: () => ({ state, errors: state === 'failed' ? [{ message: long }] : [] }),
  }));
  return {
    moduleId: `/project/${path}`,
    project: { name: projectName, config: { root: '/project' } },
    errors: () => (fileError === undefined ? [] : [{ message: fileError }]),
    children: { allTests: () => tests, allSuites: () => [] },
  } as unknown as TestModule;
}

it('counts tests by outcome, where one that was left out is skipped, and names the projects in which any ran', () => {
  const { counts, projects } = summarizeModules([
    fileOf('src/a.test.ts', 'unit', ['passed', 'failed', 'skipped']),
    fileOf('test/http/b.test.ts', 'http', ['passed']),
    fileOf('test/http/b.test.ts', 'postgres', ['passed', 'pending']),
    fileOf('test/browser/c.test.ts', 'browser', ['skipped']),
  ]);
  expect(counts).toEqual({ passed: 3, failed: 1, skipped: 3 });
  expect(projects).toEqual(['unit', 'http', 'postgres']);
});

it('shows of each failed test its file, its name and the first lines of what went wrong', () => {
  const [inTest, inFile, ...more] = summarizeModules([
    fileOf('test/http/a.test.ts', 'http', ['passed', 'failed']),
    fileOf('test/e2e/b.test.ts', 'e2e', [], 'cannot find chromium'),
  ]).failures;
  expect(inTest).toMatch(/^test\/http\/a\.test\.ts: test 2\nline 0\n/);
  expect(inTest?.split('\n')).toHaveLength(16);
  expect(inFile).toBe('test/e2e/b.test.ts:\ncannot find chromium');
  expect(more).toEqual([]);
});
