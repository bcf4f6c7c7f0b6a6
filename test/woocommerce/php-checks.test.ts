/** The code style of the plugin, which Debian's PHP_CodeSniffer checks. */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

function isInstalled(command: string): boolean {
  if (spawnSync(command, ['--version']).status === 0) return true;
  // Said in the output of every run: a reader sees what was not checked.
  console.warn(`not checked: woocommerce with ${command}, which is not installed here`);
  return false;
}

it('follows its code style, where PHP_CodeSniffer is installed', async () => {
  if (!isInstalled('phpcs')) return;
  const folder = join(root, 'plugins', 'woocommerce');
  const check = (...args: string[]) =>
    run('phpcs', ['--standard=phpcs.xml', '--report=emacs', '-q', ...args], { cwd: folder }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  expect(await check()).toBe('');
  // The standard is in effect: a file that breaks it is reported.
  expect(await check(join(import.meta.dirname, 'wordpress-stubs.php'))).toContain('error');
}, 60_000);
