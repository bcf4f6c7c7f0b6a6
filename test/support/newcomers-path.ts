import { delimiter, resolve, sep } from 'node:path';

/** PATH of a user with a fresh clone: without npm's additions for a project, above all its Node and anvil. */
export function newcomersPath(): string {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !resolve(entry).includes(`${sep}node_modules${sep}`))
    .join(delimiter);
}
