import { expect, it } from 'vitest';
import { formatScores, scoreOf } from './score.ts';

/** A report on `return a < b;` in which each ending is that of one change of the comparison. */
function report(...statuses: string[]): string {
  const location = { start: { line: 1, column: 8 }, end: { line: 1, column: 13 } };
  const mutants = statuses.map((status) => ({
    mutatorName: 'Compare',
    replacement: 'a <= b',
    status,
    location,
  }));
  return JSON.stringify({ files: { 'src/a.ts': { source: 'return a < b;', mutants } } });
}

it('counts what tests noticed: a failure, no end, and a file that does not load', () => {
  const score = scoreOf('money', [
    report('Killed', 'Timeout', 'RuntimeError', 'Survived'),
    report('NoCoverage'),
  ]);
  expect(score.scorePercent).toBe(60);
  expect(score.survivors).toEqual(['src/a.ts:1 a < b → a <= b', 'src/a.ts:1 a < b → a <= b']);
  const text = formatScores([score]);
  expect(text).toContain('| `src/a.ts` | 4 | 3 | 75.0 % |');
  expect(text).toContain('| **money** | 5 | 3 | **60.0 %** |');
});

it('gives no score where a change has no known ending, or none was made', () => {
  expect(() => scoreOf('money', [report('Killed', 'Ignored')])).toThrow('src/a.ts:1 ended as Ignored');
  expect(() => scoreOf('money', [report()])).toThrow('nothing was changed in money');
});
