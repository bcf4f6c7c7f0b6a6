/** The files of the project, read from the folder itself: a bare machine that runs the tests may lack git. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** What .gitignore keeps out of the repository, and the repository itself. */
const ignored =
  /^(\.git|data|test-output|coverage|contracts\/(out|cache)|sdk\/dist)$|(^|\/)node_modules$|\.log$|^sdk\/[^/]+\.tgz$|(^|\/)\.env$/;

/** A text file: its path from the project's root with forward slashes, and what is in it. */
export interface TextFile {
  path: string;
  text: string;
}

export function projectFiles(pattern: RegExp): TextFile[] {
  return walk('')
    .filter((path) => pattern.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function walk(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (ignored.test(path)) return [];
    if (entry.isDirectory()) return walk(path);
    return entry.isFile() ? [path] : [];
  });
}
