/**
 * Installs what is missing; the first step of `npm start` (`--sandbox`), `npm test` (`--tests`: also the browser) and the
 * like. A step of the script itself and not a `prestart`, which npm skips where it is set to `ignore-scripts`.
 *
 * The only script that may run on whatever Node a machine has, before anything is installed: hence plain
 * JavaScript without dependencies. What runs after it has node_modules/.bin first on its PATH, and there Node 24.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const oldestNode = 24;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const ownNode = join(modules, '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
const stamp = join(modules, '.card-checkout-install');

main();

function main() {
  if (process.argv.includes('--sandbox') || process.argv.includes('--tests')) requireLocalChain();
  if (!isInstalled()) install();
  const node = verifiedNode();
  linkCommand();
  if (process.argv.includes('--tests')) unpackBrowser(node);
  reportMissingTools();
}

/** Ends before anything is installed where the sandbox and the tests cannot run: they need a local chain. */
function requireLocalChain() {
  const machines = Object.keys(platformBinaries().anvil ?? {});
  if (machines.includes(machineName())) return;
  fail(
    `The sandbox and the tests run on ${machines.join(', ')} only, and this machine is ${machineName()}: nothing was ` +
      'installed. Use such a machine, a virtual machine or a container with Debian.',
  );
}

/** As in platform-binaries.json. The binaries there need glibc: Alpine Linux, for one, has another C library. */
function machineName() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return name;
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return report.header.glibcVersionRuntime === undefined ? `${name}-musl` : name;
}

/** @returns {Record<string, Record<string, string>>} */
function platformBinaries() {
  return JSON.parse(readFileSync(join(root, 'scripts', 'platform-binaries.json'), 'utf8'));
}

/** What an installation is good for: this lock file on this kind of machine. */
function fingerprint() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  return `${hash.digest('hex')} ${process.platform}-${process.arch}\n`;
}

function isInstalled() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint();
}

function install() {
  const started = Date.now();
  console.log('Installing the dependencies (once, takes about a minute) …');
  // Whoever has NODE_ENV=production or engine-strict set means their own projects: this one would lack its
  // Node 24, or refuse to install it because there is none yet.
  const options = ['--include=dev', '--include=optional', '--engine-strict=false'];
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  const run = runNpm(['ci', ...options, ...quiet]);
  if (run.error || run.status !== 0) {
    process.stderr.write(`${run.stdout ?? ''}${run.stderr ?? ''}`);
    fail(`npm ci did not succeed (${run.error?.message ?? `exit ${run.status ?? run.signal}`}); see above.`);
  }
  writeFileSync(stamp, fingerprint());
  console.log(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/**
 * Runs the very npm that runs this script, if one does; its Node too, since ours may be about to be replaced.
 * @param {string[]} args
 */
function runNpm(args) {
  const npm = process.env.npm_execpath;
  /** @type {import('node:child_process').SpawnSyncOptionsWithStringEncoding} */
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 };
  if (npm?.endsWith('npm-cli.js')) {
    return spawnSync(process.env.npm_node_execpath ?? process.execPath, [npm, ...args], options);
  }
  return spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
}

/** The Node that the scripts after this one will find; ends with advice if that one is too old. */
function verifiedNode() {
  const node = existsSync(ownNode) ? ownNode : 'node';
  const run = spawnSync(node, ['--version'], { encoding: 'utf8', shell: process.platform === 'win32' });
  const version = run.stdout?.trim() || 'none that starts';
  if (Number(/^v(\d+)\./.exec(version)?.[1]) >= oldestNode) return node;
  return fail(
    [
      `Node ${oldestNode} is needed, this machine has ${version}, and the package that brings it did not install.`,
      'Most likely npm was told not to run install scripts (ignore-scripts, or a list of allowed ones). Either',
      '  npm rebuild node --ignore-scripts=false     lets this one package run its script, or',
      `  install Node ${oldestNode} or newer yourself      from nodejs.org or your system's packages.`,
      'Then run the same command again.',
    ].join('\n'),
  );
}

/** `npx card-checkout` runs what lies in .bin; npm puts only the commands of dependencies there. */
function linkCommand() {
  const link = join(modules, '.bin', 'card-checkout');
  if (process.platform === 'win32' || existsSync(link)) return;
  rmSync(link, { force: true });
  symlinkSync('../../bin/card-checkout.js', link);
}

/** @param {string} node */
function unpackBrowser(node) {
  const run = spawnSync(node, [join(root, 'scripts', 'chromium.ts')], { encoding: 'utf8' });
  if (run.status === 0) {
    process.stdout.write(run.stdout);
    return;
  }
  process.stderr.write(`${run.stdout ?? ''}${run.stderr ?? ''}`);
  fail('The browser of the tests could not be unpacked; see above.');
}

/** Says once a run which tools do not exist for this kind of machine, and what that costs. */
function reportMissingTools() {
  /** @type {Record<string, string>} */
  const losses = {
    anvil: 'the sandbox and every test on a chain need it; live mode does not',
    biome: 'formatting and linting need it; running and testing do not',
    forge: "the contracts' own tests need it; their compiled form is in the repository",
    postgres: 'the tests of the PostgreSQL store need it; SQLite and the service itself do not',
  };
  const machine = machineName();
  for (const [tool, places] of Object.entries(platformBinaries())) {
    const place = places[machine];
    if (place !== undefined && existsSync(join(modules, place))) continue;
    const reason = place === undefined ? `has no package for ${machine}` : 'did not install';
    console.warn(`Note: ${tool} ${reason}: ${losses[tool]}.`);
  }
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(1);
}
