import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { runKills } from '../campaign/kills/run.ts';

const seed = Number(process.env['KILL_SEED'] ?? randomInt(2 ** 31));

it(`killed at named points of its life, a payment is still paid once, with one webhook (KILL_SEED=${seed})`, async () => {
  const lines: string[] = [];
  const results = await runKills({ seed, long: false, log: (line) => lines.push(line) });
  expect(
    results.filter(({ violations }) => violations > 0),
    lines.join('\n'),
  ).toEqual([]);
  // What was never looked at was not kept either.
  expect(results.filter(({ cases }) => cases === 0)).toEqual([]);
});
