/**
 * Tests whether the oldest npm of Node 18, and the npm of Debian 12 and 13, can install the lock file. If neither the
 * registry nor the cache has that npm, reports it without failing.
 *
 * `node tools/oldest-npm.ts [folder of package.json]`
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newcomersPath } from '../test/support/newcomers-path.ts';

const versions = ['8.6.0', '9.2.0'];
const TIMEOUT_MS = 90_000;

const root = process.argv[2] ?? join(import.meta.dirname, '..');
// An old npm removes node_modules even in a dry run.
const folder = mkdtempSync(join(tmpdir(), 'card-checkout-npm-'));
try {
  for (const file of ['package.json', 'package-lock.json', 'tools/platform-tools'])
    cpSync(join(root, file), join(folder, file), { recursive: true });
  for (const version of versions) {
    if (run(version, '--version').status !== 0) {
      console.log(`not checked: npm ${version} cannot be fetched`);
      continue;
    }
    const { status, stderr } = run(version, 'ci', '--dry-run', '--omit=dev', '--ignore-scripts');
    if (status === 0) continue;
    console.log(`npm ${version} cannot install this lock file:\n${stderr}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}

function run(version: string, ...words: string[]) {
  const exec = [
    'exec',
    '--yes',
    '--prefer-offline',
    '--fetch-retries=0',
    `--package=npm@${version}`,
    '--',
    'npm',
  ];
  return spawnSync('npm', [...exec, ...words], {
    cwd: folder,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    env: { ...process.env, PATH: newcomersPath() },
  });
}
