import { expect, it } from 'vitest';
import { tooLong } from './limits.ts';
import { projectFiles } from './project-files.ts';

/** What may be longer than the limits, and why; `path` for a file, `path#function` for a function. */
const allowed: Record<string, string> = {};

const found = projectFiles(/^src\/.*(?<!\.test)\.ts$/).flatMap(tooLong);

it('has no function over 70 lines of code and no file over 300, outside a list with reasons', () => {
  expect(found.filter(({ what }) => allowed[what] === undefined)).toEqual([]);
});

it('allows nothing that has become short again', () => {
  const long = new Set(found.map(({ what }) => what));
  expect(Object.keys(allowed).filter((what) => !long.has(what))).toEqual([]);
});

it('catches a long function by its name, and a long file', () => {
  const body = (lines: number) => `{\n${'a();\n'.repeat(lines - 2)}}`;
  const measured = (text: string) => tooLong({ path: 'src/a.ts', text });
  expect(measured(`function f() ${body(71)}`)).toEqual([{ what: 'src/a.ts#f', lines: 71 }]);
  expect(measured(`const g = async () => ${body(80)};`)).toEqual([{ what: 'src/a.ts#g', lines: 80 }]);
  expect(measured(`const o = { h() ${body(72)} };`)).toEqual([{ what: 'src/a.ts#h', lines: 72 }]);
  expect(measured(`class C { i() ${body(73)} }`)).toEqual([{ what: 'src/a.ts#i', lines: 73 }]);
  expect(measured(`use(function () ${body(74)});`)).toEqual([{ what: 'src/a.ts#anonymous', lines: 74 }]);
  expect(measured(`function f() ${body(70)}`)).toEqual([]);
  expect(measured('a();\n'.repeat(301))).toEqual([{ what: 'src/a.ts', lines: 301 }]);
  expect(measured('a();\n'.repeat(300))).toEqual([]);
  expect(measured(`${'a();\n\n// why\n/**\n * what\n */\n'.repeat(300)}`)).toEqual([]);
});
