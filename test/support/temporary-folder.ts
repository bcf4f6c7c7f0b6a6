import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that goes with its test; at the top of a file, `afterAll` removes it with the last test. */
export function temporaryFolder(whenOver: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-test-'));
  whenOver(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
