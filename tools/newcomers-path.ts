/** The PATH of a user who has just cloned the project. */
import { delimiter, resolve, sep } from 'node:path';

/** The PATH without what npm adds for a project, above all its Node and anvil. */
export function newcomersPath(): string {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !resolve(entry).includes(`${sep}node_modules${sep}`))
    .join(delimiter);
}
