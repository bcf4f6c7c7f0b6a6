/**
 * `npm run drills`: what takes up to an hour, or a machine without the project: every mutation, the stress suite at full length, a
 * clone that runs `npm test`, the image, a lost disk, fifty merchants, and a server from installation to restore. Every night and
 * before a release. Prints the time of each, and fails with any.
 *   npm run drills -- mutation stress   only these
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const drills: Readonly<Record<string, readonly string[]>> = {
  mutation: ['tools/mutation/main.ts'],
  stress: ['test/campaign/main.ts'],
  clone: ['tools/fresh-clone.ts'],
  image: ['tools/image/main.ts'],
  disk: ['tools/lost-disk.ts'],
  merchants: ['tools/fifty-merchants.ts'],
  server: ['tools/interop/main.ts', 'systemd'],
};

const named = process.argv.slice(2);
const unknown = named.filter((name) => !(name in drills));
if (unknown.length > 0) throw new RangeError(`no such drill: ${unknown.join(', ')}`);

for (const [name, words] of Object.entries(drills)) {
  if (named.length > 0 && !named.includes(name)) continue;
  const startedMs = performance.now();
  const { status } = spawnSync(process.execPath, words, {
    cwd: join(import.meta.dirname, '..'),
    stdio: 'inherit',
  });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${seconds.padStart(6)} s  ${name}`);
  if (status !== 0) process.exitCode = 1;
}
