import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { plantIn, plants } from './run.ts';

it.each(plants)('$fault can still be injected', async (plant) => {
  const text = await readFile(plant.file, 'utf8');
  expect(plantIn(text, plant)).not.toBe(text);
  expect(() => plantIn('another text', plant)).toThrow('cannot be injected');
});
