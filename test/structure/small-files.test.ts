import { expect, it } from 'vitest';
import { isTest, projectModules, readModule } from './modules.ts';
import { projectFiles } from './project-files.ts';
import { smallSingleUseFiles } from './small-files.ts';

/** Small files with one importer that stay, and why. */
const allowed: Record<string, string> = {
  'src/app/admin-server.ts': 'The counterpart of public-server.ts: what the operator reaches.',
  'src/app/chain-commands.ts': 'Commands; main.ts loads them only when one runs.',
  'src/http/close-stalled.ts': 'The rule for stalled connections, apart from the server that has it.',
  'src/http/operator/audit-page.ts': 'A page, like the others in its folder.',
  'src/http/serialize-pipelined.ts': 'The rule for pipelined requests, apart from the server that has it.',
  'src/payments/record-opened.ts': 'The rule for what pages record, apart from the server that has it.',
  'src/providers/evidence-files.ts': 'The one part of the providers that keeps files, and their format.',
  'src/store/records.ts': 'The store of one port, like the others in its folder.',
  'src/store/sqlite/own-file.ts': 'A rule about POSIX locks that must not be lost among others.',
};

const small = smallSingleUseFiles(
  projectModules(['src']).filter(({ path }) => path.endsWith('.ts') && !isTest(path)),
  projectFiles(/^src\//),
);

it('has no file with one importer and fewer than 60 lines, outside a list with reasons', () => {
  expect(small.filter((path) => allowed[path] === undefined)).toEqual([]);
});

it('allows nothing that has grown or found a second importer', () => {
  expect(Object.keys(allowed).filter((path) => !small.includes(path))).toEqual([]);
});

it('counts importers and lines', () => {
  const files = [
    { path: 'src/once.ts', text: 'export const a = 1;\n' },
    { path: 'src/twice.ts', text: 'export const b = 1;\n' },
    { path: 'src/long.ts', text: `export const c = 1;\n${'\n'.repeat(60)}` },
    { path: 'src/one.ts', text: "import { a } from './once.ts';\nimport { b } from './twice.ts';\n" },
    { path: 'src/two.ts', text: "import { b } from './twice.ts';\nimport { c } from './long.ts';\n" },
  ];
  expect(smallSingleUseFiles(files.map(readModule), files)).toEqual(['src/once.ts']);
});
