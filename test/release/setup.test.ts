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

const run = (command: string, ...words: string[]) => runWith({}, command, ...words);

/** Runs a command as a newcomer would whose npm has nothing cached, and whose registry nobody answers for. */
function runWith(
  changes: Readonly<Record<string, string>>,
  command: string,
  ...words: string[]
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = {
      PATH: newcomersPath(),
      HOME: clone,
      npm_config_update_notifier: 'false',
      npm_config_registry: 'http://127.0.0.1:1',
      npm_config_cache: join(clone, 'cache'),
      ...changes,
    };
    execFile(command, words, { cwd: clone, env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

/** What Node says of itself, for scripts that ask on which machine they are. */
const as = (platform: string) =>
  `data:text/javascript,Object.defineProperty(process,'platform',{value:'${platform}'})`;

it.each(['--sandbox', '--tests'])(
  'says on a machine without a local chain what %s needs, before it installs anything',
  async (option) => {
    const ended = await run(process.execPath, '--import', as('darwin'), 'scripts/setup.js', option);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toBe(
      `The sandbox and the tests need anvil, a local chain, and npm has none for this machine (darwin-${process.arch}): ` +
        'nothing was installed. Install Foundry (https://getfoundry.sh), whose foundryup puts anvil on the PATH, or set ' +
        'ANVIL_PATH to its file. Then run the same command again.\n',
    );
    expect(existsSync(join(clone, 'node_modules'))).toBe(false);
  },
);

it.each(['PATH', 'ANVIL_PATH'])(
  'installs on a machine whose local chain npm does not bring, where %s names one',
  async (variable) => {
    const folder = join(clone, 'foundry');
    mkdirSync(folder);
    writeFileSync(join(folder, 'anvil'), '#!/bin/sh\n', { mode: 0o755 });
    const changes =
      variable === 'PATH' ? { PATH: `${newcomersPath()}:${folder}` } : { ANVIL_PATH: join(folder, 'anvil') };
    const words = ['--import', as('darwin'), 'scripts/setup.js', '--sandbox'];
    // It gets as far as npm, which finds no registry here.
    const { stdout, stderr } = await runWith(changes, process.execPath, ...words);
    expect(stdout).toContain('Installing');
    expect(stderr).toContain('npm cannot reach its package registry (ECONNREFUSED)');
  },
);

it('names WSL 2 on Windows, before it installs anything', async () => {
  const ended = await run(process.execPath, '--import', as('win32'), 'scripts/setup.js');
  expect(ended).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'On Windows this project runs inside WSL 2 (Debian or Ubuntu): clone it there. Nothing was installed.\n',
  });
});

it('says within seconds that the registry cannot be reached, and what to do', async () => {
  const started = performance.now();
  const { code, stdout, stderr } = await runWith({}, process.execPath, 'scripts/setup.js', '--sandbox');
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^Installing \d{3} packages into node_modules \(once, about \d+ MB to download\) …\n/,
  );
  expect(stderr).toContain('npm cannot reach its package registry (ECONNREFUSED): connect this machine');
  expect(performance.now() - started).toBeLessThan(60_000);
});

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
