import { describe, expect, it } from 'vitest';
import { arrowViolations, cycles } from './arrows.ts';
import { projectModules, readModule } from './modules.ts';

const modules = projectModules(['src', 'sandbox']);

describe('the house', () => {
  it('has no import that climbs or crosses', () => {
    expect(modules.length).toBeGreaterThan(10);
    expect(arrowViolations([...modules, ...projectModules(['test', 'tools'])])).toEqual([]);
  });

  it('has no cycle', () => {
    expect(cycles(modules)).toEqual([]);
  });
});

describe('the check itself', () => {
  it.each([
    ['climbs', 'src/payment/money.ts', "import { a } from '../web/create.ts';"],
    ['climbs by a type only', 'src/payment/money.ts', "import type { A } from '../web/create.ts';"],
    ['climbs later', 'src/payment/create.ts', "await import('../web/server.ts');"],
    ['crosses from feature to feature', 'src/features/a/a.ts', "import { b } from '../b/b.ts';"],
    ['knows a feature as a command', 'src/cli/a.ts', "import { b } from '../features/b/b.ts';"],
    ['knows a feature beside app', 'src/main.ts', "import { b } from './features/b/b.ts';"],
    ['knows a feature as a check', 'src/cli/verify/a.ts', "import { b } from '../../features/b/b.ts';"],
    ['knows a tool as a test', 'test/docs/a.test.ts', "import { a } from '../../tools/a.ts';"],
    ['knows a tool as a test of the core', 'src/web/a.test.ts', "import { a } from '../../tools/a.ts';"],
    ['is nowhere in the drawing', 'src/utilities/a.ts', 'export const a = 1;'],
  ])('catches a module that %s', (_, path, text) => {
    expect(arrowViolations([readModule({ path, text })])).toHaveLength(1);
  });
});
