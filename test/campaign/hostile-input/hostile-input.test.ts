import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { runHostileInput } from './run.ts';

/** A few seconds on an idle core; others may be at work beside it. */
const LONGEST_MS = 240_000;
const seed = Number(process.env['CAMPAIGN_SEED'] ?? randomInt(2 ** 31));

it(
  `answers what nobody should send as specified, and leaves nothing half done (CAMPAIGN_SEED=${seed})`,
  async () => {
    const lines: string[] = [];
    const rows = await runHostileInput({ seed, long: false, log: (line) => lines.push(line) });
    expect(lines).toEqual([]);
    expect(rows.filter(({ violations }) => violations > 0)).toEqual([]);
    // What was never looked at was not kept either.
    expect(Math.min(...rows.map(({ cases }) => cases))).toBeGreaterThanOrEqual(60);
  },
  LONGEST_MS,
);
