import { describe, expect, it } from 'vitest';
import { arrowViolations, barrels, cycles, environmentReaders } from './arrows.ts';
import { projectModules, readModule } from './modules.ts';

const modules = projectModules(['src', 'sandbox']);

describe('the house', () => {
  it('is read: there are modules, and they import each other', () => {
    expect(modules.length).toBeGreaterThan(10);
    expect(modules.flatMap(({ imports }) => imports).some(({ target }) => target?.startsWith('src/'))).toBe(
      true,
    );
  });

  it('has no import that climbs or crosses', () => {
    expect(arrowViolations(modules)).toEqual([]);
  });

  it('imports only files that exist', () => {
    const paths = new Set(modules.map(({ path }) => path));
    const missing = modules.flatMap(({ path, imports }) =>
      imports
        .filter(({ target, kind }) => target?.startsWith('src/') && target.endsWith('.ts') && kind !== 'path')
        .filter(({ target }) => !paths.has(target as string))
        .map(({ specifier }) => `${path}: ${specifier}`),
    );
    expect(missing).toEqual([]);
  });

  it('has no cycle', () => {
    expect(cycles(modules)).toEqual([]);
  });

  it('has no barrel file', () => {
    expect(barrels(modules)).toEqual([]);
  });

  it('reads the environment in src/config/config.ts only, besides the search for anvil', () => {
    expect(environmentReaders(modules)).toEqual([]);
  });
});

/** Modules written for a test: path to source. */
function planted(sources: Record<string, string>) {
  return Object.entries(sources).map(([path, text]) => readModule({ path, text }));
}

describe('the check itself', () => {
  it.each([
    ['climbs', 'src/payment/money.ts', "import { a } from '../web/create.ts';"],
    ['climbs by a type only', 'src/payment/money.ts', "import type { A } from '../web/create.ts';"],
    ['climbs later', 'src/payment/create.ts', "await import('../web/server.ts');"],
    ['crosses from feature to feature', 'src/features/a/a.ts', "import { b } from '../b/b.ts';"],
    ['is nowhere in the drawing', 'src/utilities/a.ts', 'export const a = 1;'],
  ])('catches a module that %s', (_, path, text) => {
    expect(arrowViolations(planted({ [path]: text }))).toHaveLength(1);
  });

  it('catches a cycle, also one of types only', () => {
    const found = cycles(
      planted({
        'src/payment/a.ts': "import { b } from './b.ts';",
        'src/payment/b.ts': "import { c } from './c.ts';",
        'src/payment/c.ts': "import type { A } from './a.ts';",
      }),
    );
    expect(found).toEqual(['src/payment/a.ts → src/payment/b.ts → src/payment/c.ts → src/payment/a.ts']);
  });

  it('catches barrels', () => {
    expect(barrels(planted({ 'src/payment/index.ts': "export * from './a.ts';" }))).toHaveLength(2);
    expect(barrels(planted({ 'src/payment/all.ts': "export type { A } from './a.ts';" }))).toHaveLength(1);
  });

  it.each([
    'const a = process.env.A;',
    "const a = process['env'];",
    'const { env } = process;',
    'const a = globalThis.process.env;',
    "import { env } from 'node:process';",
  ])('catches the environment being read: %s', (text) => {
    expect(environmentReaders(planted({ 'src/web/a.ts': text }))).toEqual(['src/web/a.ts:1']);
    expect(environmentReaders(planted({ 'src/config/config.ts': text }))).toEqual([]);
  });
});
