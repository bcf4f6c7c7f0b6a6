/** The first step of `npm start` and `npm test`, where a machine or a setting of npm is in its way. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newcomersPath } from '../../scripts/newcomers-path.ts';
import { read, root } from '../docs/markdown.ts';

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'card-checkout-setup-'));
  for (const file of [
    'package.json',
    'package-lock.json',
    'scripts/setup.js',
    'scripts/platform-binaries.json',
  ])
    cpSync(join(root, file), join(clone, file));
});
afterEach(() => rmSync(clone, { recursive: true }));

function run(
  command: string,
  ...words: string[]
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { PATH: newcomersPath(), HOME: clone, npm_config_update_notifier: 'false' };
    execFile(command, words, { cwd: clone, env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

it.each(['--sandbox', '--tests'])(
  'says on a machine without a local chain that %s does not run there, before it installs anything',
  async (option) => {
    const asOnMac = "data:text/javascript,Object.defineProperty(process,'platform',{value:'darwin'})";
    const ended = await run(process.execPath, '--import', asOnMac, 'scripts/setup.js', option);
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `The sandbox and the tests run on linux-x64 only, and this machine is darwin-${process.arch}: nothing was ` +
        'installed. Use such a machine, a virtual machine or a container with Debian.\n',
    });
    expect(existsSync(join(clone, 'node_modules'))).toBe(false);
  },
);

it('says what to do where npm runs no install scripts, so that the Node of the project is not there', async () => {
  // As after `npm ci` with ignore-scripts: all is installed, and `node` is an older one.
  mkdirSync(join(clone, 'node_modules/.bin'), { recursive: true });
  const lock = createHash('sha256').update(read('package-lock.json')).digest('hex');
  const stamp = join(clone, 'node_modules/.card-checkout-install');
  writeFileSync(stamp, `${lock} ${process.platform}-${process.arch}\n`);
  const node = join(clone, 'node_modules/.bin/node');
  writeFileSync(
    node,
    `#!/bin/sh\n[ "$1" = --version ] && echo v20.19.0 && exit\nexec '${process.execPath}' "$@"\n`,
  );
  chmodSync(node, 0o755);
  const { code, stderr } = await run('npm', 'start', '--ignore-scripts');
  expect(code).not.toBe(0);
  expect(stderr).toContain('Node 24 is needed, this machine has v20.19.0');
  expect(stderr).toContain('npm rebuild node --ignore-scripts=false');
  expect(stderr).not.toContain('ERR_');
});
