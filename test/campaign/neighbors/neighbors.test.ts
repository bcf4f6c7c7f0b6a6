import { expect, it } from 'vitest';
import { deliveryRows, p99Of } from './run.ts';

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
