import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chooseGroups, mutationGroups } from './groups.ts';

const root = join(import.meta.dirname, '..', '..');

it('names files and tests that exist, no file twice', () => {
  const parts = mutationGroups.flatMap((group) => group.parts);
  const files = parts.map(({ file }) => file);
  expect(new Set(files).size).toBe(files.length);
  const named = parts.flatMap(({ file, tests }) => [file, ...tests]);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

it('chooses groups and single files by name, and refuses what is neither', () => {
  const file = 'src/payment/paid-threshold.ts';
  expect(chooseGroups([])).toBe(mutationGroups);
  expect(chooseGroups(['signing', file])).toEqual([
    { name: 'money', parts: [expect.objectContaining({ file })] },
    mutationGroups.find(({ name }) => name === 'signing'),
  ]);
  expect(() => chooseGroups(['money', 'nothing'])).toThrow('no such group or file: nothing');
});
