/** The PATH of a user who has just cloned the project. */
import { delimiter, join, resolve } from 'node:path';

const modules = join(import.meta.dirname, '..', 'node_modules');

/** The PATH without what npm adds for this project, above all its Node. */
export function newcomersPath(): string {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !resolve(entry).startsWith(modules))
    .join(delimiter);
}
