import { expect, it } from 'vitest';
import { projectFiles } from './project-files.ts';

const machinePath = /(?<![\w.-])\/(work|root|tmp|Users\/\w+|home\/\w+)\//;
const registryHost = /https?:\/\/[^\s"'`)]*\bregistry\b|"resolved": "https?:/;

it('keeps the lines of rooms with pages within 160 characters, except in generated files and tests', () => {
  const files = projectFiles(/^(src\/(web|api|pages|features)|sandbox|sdk|plugins)\/.*\.[jt]sx?$/);
  const lines = files.flatMap(({ path, text }) => text.split('\n').map((line) => ({ path, line })));
  expect(files.length).toBeGreaterThan(200);
  const isExempt = (path: string) => path === 'sdk/src/wire.ts' || path.endsWith('.test.ts');
  expect(lines.filter(({ path, line }) => line.length > 160 && !isExempt(path))).toEqual([]);
});

it('sets text in sizes of the one scale', () => {
  const files = projectFiles(/^(src|sandbox)\/.*\.css$/).filter(({ path }) => !path.endsWith('/tokens.css'));
  const sizes = files.flatMap(({ path, text }) =>
    [...text.matchAll(/font(?:-size)?:([^;]*);/g)].map(([, value]) => `${path}: ${value}`),
  );
  expect(sizes.length).toBeGreaterThan(50);
  // The drawing units of charts, and code relative to its sentence.
  expect(sizes.filter((size) => !/var\(--text-|inherit|: {1,2}\d+px$|: {1,2}0\.9em /.test(size))).toEqual([]);
});

it('names no path of the machine it was written on, and no package registry', () => {
  const files = projectFiles(/./).filter(({ path }) => path !== 'test/structure/text.test.ts');
  expect(files.length).toBeGreaterThan(1_000);
  const lines = files.flatMap(({ path, text }) =>
    text.split('\n').map((line) => `${path}: ${line.slice(0, 2_000)}`),
  );
  expect(lines.filter((line) => machinePath.test(line) || registryHost.test(line))).toEqual([]);
});
