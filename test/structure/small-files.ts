/** Files that only one other imports and that are too short to be a topic of their own. */
import type { Module } from './modules.ts';
import type { TextFile } from './project-files.ts';

const SMALL_LINES = 60;

/** Paths of production files with exactly one importer and fewer than 60 lines. */
export function smallSingleUseFiles(modules: readonly Module[], files: readonly TextFile[]): string[] {
  const importers = new Map<string, Set<string>>();
  for (const { path, imports } of modules) {
    for (const { target } of imports) {
      if (target !== undefined) importers.set(target, (importers.get(target) ?? new Set()).add(path));
    }
  }
  const lines = new Map(files.map(({ path, text }) => [path, text.split('\n').length - 1]));
  return modules
    .map(({ path }) => path)
    .filter((path) => importers.get(path)?.size === 1 && (lines.get(path) ?? 0) < SMALL_LINES);
}
