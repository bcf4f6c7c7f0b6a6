import { expect, it } from 'vitest';
import { projectFiles } from './project-files.ts';

const machinePath = /(?<![\w.-])\/(work|root|tmp|Users\/\w+|home\/\w+)\//;
const registryHost = /https?:\/\/[^\s"'`)]*\bregistry\b|"resolved": "https?:/;

it('names no path of the machine it was written on, and no package registry', () => {
  const files = projectFiles(/./).filter(({ path }) => path !== 'test/structure/text.test.ts');
  expect(files.length).toBeGreaterThan(1_000);
  const lines = files.flatMap(({ path, text }) =>
    text.split('\n').map((line) => `${path}: ${line.slice(0, 2_000)}`),
  );
  expect(lines.filter((line) => machinePath.test(line) || registryHost.test(line))).toEqual([]);
});
