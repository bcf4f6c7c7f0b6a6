import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { plantIn, plants, runCampaign } from './run.ts';

it.each(plants)('$fault can still be injected', async (plant) => {
  const text = await readFile(plant.file, 'utf8');
  expect(plantIn(text, plant)).not.toBe(text);
  expect(() => plantIn('another text', plant)).toThrow('cannot be injected');
});

it('a copy of the source has all that a campaign needs, which finds nothing in it', async () => {
  expect(await runCampaign([], ['--only', 'simulation', '--seeds', '1', '--seed', '1'])).toEqual([]);
}, 120_000);
