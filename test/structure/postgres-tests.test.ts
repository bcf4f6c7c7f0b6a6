import { matchesGlob } from 'node:path';
import { expect, it } from 'vitest';
import { oneEngineTests, postgresTests } from '../../scripts/test-folders.ts';
import { type Module, projectModules } from './modules.ts';

const modules = projectModules(['src', 'simulators', 'test', 'bench', 'scripts', 'sdk']);
const isAmong = (globs: readonly string[], path: string) => globs.some((glob) => matchesGlob(path, glob));

/** Whether a test loads the file that chooses between the engines. */
function reachesStore(path: string, byPath: ReadonlyMap<string, Module>): boolean {
  const reached = new Set([path]);
  for (const each of reached) {
    for (const { target, kind } of byPath.get(each)?.imports ?? []) {
      if (target !== undefined && kind !== 'type') reached.add(target);
    }
  }
  return reached.has('test/support/test-store.ts');
}

it('of its folders the project postgres runs the tests that reach the store, save those about connections and endpoints', () => {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const tests = [...byPath.keys()].filter((path) => isAmong(postgresTests.include, path));
  const left = tests.filter((path) => isAmong(postgresTests.exclude, path));
  expect(left.length).toBeGreaterThan(5);
  const isOfOneEngine = (path: string) => isAmong(oneEngineTests, path);
  expect(tests.filter((path) => isOfOneEngine(path) || !reachesStore(path, byPath))).toEqual(left);
  expect(tests.filter((path) => isOfOneEngine(path) && reachesStore(path, byPath))).toHaveLength(9);
});
