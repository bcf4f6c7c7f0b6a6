import { describe, expect, it } from 'vitest';
import { unreachedFiles, unusedExports } from './dead-code.ts';
import { projectModules, readModule } from './modules.ts';

const modules = projectModules([
  'src',
  'simulators',
  'locales',
  'receiver-grader',
  'docs-site',
  'verifier',
  'test',
  'bench',
  'scripts',
  'sdk',
  'examples',
  'contracts',
]);

describe('the code', () => {
  it('exports nothing that nobody uses', () => {
    expect(unusedExports(modules)).toEqual([]);
  });

  it('has no file that the command and the benches never reach', () => {
    expect(unreachedFiles(modules)).toEqual([]);
  });
});

function planted(sources: Record<string, string>) {
  return Object.entries(sources).map(([path, text]) => readModule({ path, text }));
}

describe('the check itself', () => {
  it('catches an export that nobody takes', () => {
    const found = unusedExports(
      planted({
        'src/domain/a.ts': 'export const used = 1;\nexport function unused() {}\nexport interface Loose {}',
        'src/domain/b.ts': "import { used } from './a.ts';",
      }),
    );
    expect(found).toEqual(['src/domain/a.ts:2 unused', 'src/domain/a.ts:3 Loose']);
  });

  it('catches an export that lives for its test alone', () => {
    const test = "import { a } from './a.ts';";
    const forTest = { 'src/domain/a.ts': 'export const a = 1;', 'src/domain/a.test.ts': test };
    const usedToo = { 'src/domain/a.ts': 'export const a = 1;\nuse(a);', 'src/domain/a.test.ts': test };
    expect(unusedExports(planted(forTest))).toEqual(['src/domain/a.ts:1 a']);
    expect(unusedExports(planted(usedToo))).toEqual([]);
  });

  it('catches an export by name that is not used', () => {
    expect(unusedExports(planted({ 'src/a.ts': 'const a = 1;\nexport { a };' }))).toEqual(['src/a.ts:2 a']);
    expect(unusedExports(planted({ 'src/a.ts': 'const a = 1;\nexport { a as b };' }))).toEqual([
      'src/a.ts:2 b',
    ]);
  });

  it('reads every way to export and to import', () => {
    const found = unusedExports(
      planted({
        'src/a.ts': 'export const { a, b: [c], ...d } = x;\nexport class E {}\nexport default 1;',
        'src/b.ts': 'export const f = 1;',
        'src/c.ts': 'export const g = 1;',
        'scripts/d.ts': [
          "import z, { a, c as q, d, type E } from '../src/a.ts';",
          "import * as b from '../src/b.ts';",
          "const { g } = await import('../src/c.ts');",
        ].join('\n'),
      }),
    );
    expect(found).toEqual([]);
  });

  it("lets a module's own signatures use the types it exports", () => {
    const text = 'export interface Options {}\nexport function start(options: Options) {}';
    expect(
      unusedExports(planted({ 'src/a.ts': text, 'src/b.ts': "import { start } from './a.ts';" })),
    ).toEqual([]);
  });

  it('catches a file that only a test reaches, and sees workers and files that are started by their path', () => {
    const found = unreachedFiles(
      planted({
        'src/main.ts': "import './app.ts';",
        'src/app.ts':
          "await import('./sandbox/start.ts'); new Worker(new URL('./worker.ts', import.meta.url));",
        'src/sandbox/start.ts': '',
        'src/worker.ts': '',
        'src/domain/forgotten.ts': '',
        'src/domain/forgotten.test.ts': "import './forgotten.ts';",
      }),
    );
    expect(found).toEqual(['src/domain/forgotten.ts']);
  });
});
