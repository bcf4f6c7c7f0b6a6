import { expect, it } from 'vitest';
import { createRandom } from '../../support/random.ts';
import { createCanarySearch, drawSecret } from './canaries.ts';
import { judgeTiming } from './timing.ts';

it('finds a canary however it is written, and in part', () => {
  const search = createCanarySearch();
  const secret = drawSecret(createRandom(1));
  search.add({ name: 'it', kind: 'key', secret });
  const bytes = Buffer.from(`user:${secret}@host`);
  for (const text of [
    `before ${secret} after`,
    secret.toUpperCase(),
    secret.slice(5, 18),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    encodeURIComponent(`?key=${secret}&`),
    JSON.stringify({ secret }),
  ]) {
    expect(search.find(text).map(({ name }) => name)).toEqual(['it']);
  }
  expect(search.find(`…${secret.slice(-4)} ${drawSecret(createRandom(2), 500)}`)).toEqual([]);
  expect(search.find(secret, new Set(['email'] as const))).toEqual([]);
});

it('tells a little more time from none, and noise from both', () => {
  const random = createRandom(3);
  const times = (factor: number) =>
    Array.from({ length: 2_000 }, () => factor * (0.2 + 0.1 * random() + (random() < 0.02 ? 20 : 0)));
  expect(judgeTiming({ unknown: times(1), again: times(1), foreign: times(1) }).verdict).toBe('alike');
  expect(judgeTiming({ unknown: times(1), again: times(1), foreign: times(1.07) }).verdict).toBe('apart');
  expect(judgeTiming({ unknown: times(1.07), again: times(1.07), foreign: times(1) }).verdict).toBe('apart');
  expect(judgeTiming({ unknown: times(1), again: times(1.07), foreign: times(1) }).verdict).toBe('too noisy');
});
