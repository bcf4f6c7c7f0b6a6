import { renameSync, writeFileSync } from 'node:fs';

/** Writes a file that only its owner may read, as a whole or not at all: a kill in between leaves what was there. */
export function writeOwnFile(file: string, text: string): void {
  const unfinished = `${file}.new`;
  writeFileSync(unfinished, text, { mode: 0o600, flush: true });
  renameSync(unfinished, file);
}
