/**
 * Exports and files that nothing uses, as a check over modules. Own code instead of `knip` 6.44.2, with which `npm ci`
 * fails: platform packages of its parser are missing from the lock file.
 */
import { isTest, type Module } from './modules.ts';

/**
 * Exports of `src` that no other module takes. What only tests take must be used where it is declared: otherwise
 * it lives for its test alone. A type may be exported so that a signature can be read, if its own module uses it.
 */
export function unusedExports(modules: Module[]): string[] {
  return modules
    .filter(({ path }) => path.startsWith('src/') && !isTest(path))
    .flatMap((module) => {
      const takers = modules.filter((other) => other.path !== module.path && takes(other, module.path));
      const everything = takers.some((taker) => takesName(taker, module.path, undefined));
      return module.exports
        .filter((entry) => !everything && !isAlive(entry, module.path, takers))
        .map((entry) => `${module.path}:${entry.line} ${entry.name}`);
    });
}

function isAlive(entry: Module['exports'][number], path: string, takers: Module[]): boolean {
  const users = takers.filter((taker) => takesName(taker, path, entry.name));
  if (users.some((user) => !isTest(user.path))) return true;
  return entry.isUsedInside && (entry.isType || users.length > 0);
}

function takes(module: Module, path: string): boolean {
  return module.imports.some(({ target }) => target === path);
}

function takesName(module: Module, path: string, name: string | undefined): boolean {
  return module.imports.some(
    ({ target, kind, names }) =>
      target === path &&
      kind !== 'path' &&
      (name === undefined ? names === undefined : names?.includes(name)),
  );
}

/** Files of `src` that no arrow reaches from `src/main.ts` or a bench: they never run. */
export function unreachedFiles(modules: Module[]): string[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const reached = new Set<string>();
  const queue = modules
    .map(({ path }) => path)
    .filter((path) => path === 'src/main.ts' || path.startsWith('tools/bench/'));
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const module = byPath.get(path);
    if (module === undefined || reached.has(path)) continue;
    reached.add(path);
    for (const { target } of module.imports) if (target !== undefined && !isTest(target)) queue.push(target);
  }
  return modules
    .map(({ path }) => path)
    .filter((path) => path.startsWith('src/') && !isTest(path) && !reached.has(path));
}
