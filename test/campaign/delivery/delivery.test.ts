import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { runDelivery } from './run.ts';

const seed = Number(process.env['CAMPAIGN_SEED'] ?? randomInt(2 ** 31));

it(`sends no webhook to a private address, whatever DNS answers (CAMPAIGN_SEED=${seed})`, async () => {
  const lines: string[] = [];
  const results = await runDelivery({ seed, long: false, log: (line) => lines.push(line) });
  expect(lines).toEqual([]);
  // Every kind of callback was drawn, also one that has to arrive.
  for (const { cases, violations } of results) {
    expect(violations).toBe(0);
    expect(cases).toBeGreaterThan(10);
  }
});
