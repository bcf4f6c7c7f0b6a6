import { expect, it } from 'vitest';
import { deliveryRows, p99Of, runNeighbours } from './run.ts';

/** Some 15 seconds on an idle machine. */
const LONGEST_MS = 240_000;

it(
  'bad receivers and bad callers hold up nobody else',
  async () => {
    const lines: string[] = [];
    const rows = await runNeighbours({ seed: 0, long: false, log: (line) => lines.push(line) });
    console.log(lines.join('\n'));
    expect(rows.filter(({ violations }) => violations > 0)).toEqual([]);
    for (const { cases, unchecked } of rows) if (unchecked === undefined) expect(cases).toBeGreaterThan(0);
  },
  LONGEST_MS,
);

it('what is late, repeated, unfinished, too much or too big is a violation', () => {
  const bad = { id: 'one', status: 'failed', reason: 'timeout', createdAtMs: 0, durationMs: 10_010 };
  const rows = deliveryRows(
    {
      hosts: 1,
      webhooksPerHost: 3,
      extraForOne: 0,
      healthy: 2,
      kinds: ['no answer'],
      isWatchedToTheEnd: true,
    },
    {
      latenciesMs: [10, Number.POSITIVE_INFINITY],
      bad: [bad, { ...bad, status: 'sending' }, { ...bad, durationMs: 20_000 }],
      requests: new Map([['/bad/0', 2]]),
      most: { open: 2_000, openToOne: 101 },
      grownMib: 500,
    },
    2_000,
    () => {},
  );
  expect(rows.map(({ violations }) => violations)).toEqual([1, 3, 2, 1]);
  expect(p99Of([])).toBe(Number.POSITIVE_INFINITY);
});
