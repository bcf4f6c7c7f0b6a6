/**
 * Installs what is missing; the first step of `npm start` (`--sandbox`), `npm test` (`--tests`: also the browser) and the
 * like. A step of the script itself and not a `prestart`, which npm skips where it is set to `ignore-scripts`.
 *
 * The only script that may run on whatever Node a machine has, before anything is installed: hence plain
 * JavaScript without dependencies. What runs after it has node_modules/.bin first on its PATH, and there Node 24.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const oldestNode = 24;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const ownNode = join(modules, '.bin', 'node');
const stamp = join(modules, '.card-checkout-install');

await main();

async function main() {
  if (process.platform === 'win32') {
    fail(
      'On Windows this project runs inside WSL 2 (Debian or Ubuntu): clone it there. Nothing was installed.',
    );
  }
  if (process.argv.includes('--sandbox') || process.argv.includes('--tests')) requireLocalChain();
  if (!isInstalled()) await install();
  const node = verifiedNode();
  linkCommand();
  if (process.argv.includes('--tests')) unpackBrowser(node);
  reportMissingTools();
}

/** Ends before anything is installed where the sandbox and the tests cannot run: they need a local chain. */
function requireLocalChain() {
  if (hasAnvilPackage() || hasOwnAnvil()) return;
  fail(
    `The sandbox and the tests need anvil, a local chain, and npm has none for this machine (${machineName()}): nothing ` +
      'was installed. Install Foundry (https://getfoundry.sh), whose foundryup puts anvil on the PATH, or set ' +
      'ANVIL_PATH to its file. Then run the same command again.',
  );
}

/** Whether package.json lists the package of this machine; simulators/chain/find-anvil.ts forms the same name. */
function hasAnvilPackage() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = `@foundry-rs/anvil-${process.platform}-${arch}`;
  return !machineName().endsWith('-musl') && optionalDependencies[name] !== undefined;
}

/** Whether the machine has an anvil of its own, where simulators/chain/find-anvil.ts looks for it. */
function hasOwnAnvil() {
  const places = (process.env.PATH ?? '').split(delimiter).map((place) => join(place, 'anvil'));
  return [process.env.ANVIL_PATH ?? '', ...places].some((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
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

async function install() {
  const started = Date.now();
  console.log(`Installing ${packageCount()} packages into node_modules (once, about 400 MB to download) …`);
  // Whoever has NODE_ENV=production or engine-strict set means their own projects: this one would lack its
  // Node 24, or refuse to install it because there is none yet.
  const options = ['--include=dev', '--include=optional', '--engine-strict=false', '--prefer-offline'];
  // `http` names each package that arrives. Few retries, so that a machine without a network is told within seconds.
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=http'];
  const retries = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=4000'];
  const { output, outcome } = await runNpm(['ci', ...options, ...quiet, ...retries], reportProgress(started));
  if (outcome !== 'exit 0') {
    const said = output.split('\n').filter((line) => !/^npm http /.test(line));
    process.stderr.write(said.join('\n'));
    const unreachable =
      /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b/;
    const code = unreachable.exec(output)?.[1];
    if (code !== undefined) {
      fail(
        `npm cannot reach its package registry (${code}): connect this machine to the network, or set npm's "registry" ` +
          'or "proxy". Then run the same command again; it continues with what has arrived.',
      );
    }
    fail(`npm ci did not succeed (${outcome}); see above.`);
  }
  writeFileSync(stamp, fingerprint());
  console.log(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/** Packages of the lock file that fit this machine, within a few. */
function packageCount() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const fits = (/** @type {string[] | undefined} */ names, /** @type {string} */ own) =>
    names === undefined || names.includes(own);
  const wanted = Object.entries(packages).filter(
    ([path, { os, cpu }]) => path !== '' && fits(os, process.platform) && fits(cpu, process.arch),
  );
  return wanted.length;
}

/**
 * Counts the packages that arrive: on one line of a terminal, or as a line every ten seconds in a log.
 * @param {number} started
 */
function reportProgress(started) {
  let count = 0;
  let reportedAt = started;
  return (/** @type {string} */ text) => {
    count += text.match(/\.tgz\b/g)?.length ?? 0;
    const now = Date.now();
    if (now - reportedAt < (process.stdout.isTTY ? 200 : 10_000)) return;
    reportedAt = now;
    const line = `  ${count} packages downloaded, ${Math.round((now - started) / 1000)} s`;
    process.stdout.write(process.stdout.isTTY ? `\r${line}\x1b[K` : `${line}\n`);
  };
}

/**
 * Runs the very npm that runs this script, if one does; its Node too, since ours may be about to be replaced.
 * @param {string[]} args
 * @param {(text: string) => void} onOutput
 * @returns {Promise<{ output: string, outcome: string }>}
 */
function runNpm(args, onOutput) {
  const npm = process.env.npm_execpath;
  const isScript = npm?.endsWith('npm-cli.js');
  const command = isScript ? (process.env.npm_node_execpath ?? process.execPath) : 'npm';
  const child = spawn(command, isScript && npm ? [npm, ...args] : args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (/** @type {string} */ text) => {
    output += text;
    onOutput(text);
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ output, outcome: error.message }));
    child.once('close', (code, signal) => {
      if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
      resolve({ output, outcome: code === null ? String(signal) : `exit ${code}` });
    });
  });
}

/** The Node that the scripts after this one will find; ends with advice if that one is too old. */
function verifiedNode() {
  const node = existsSync(ownNode) ? ownNode : 'node';
  const run = spawnSync(node, ['--version'], { encoding: 'utf8' });
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
  if (existsSync(link)) return;
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
    biome: 'formatting and linting need it; running and testing do not',
    forge: "the contracts' own tests need it; their compiled form is in the repository",
    postgres: 'the tests of the PostgreSQL store need it; SQLite and the service itself do not',
  };
  const machine = machineName();
  if (!hasAnvilPackage() && !hasOwnAnvil()) {
    console.warn(
      `Note: npm has no anvil for ${machine}: the sandbox and tests on a chain need it; live mode does not.`,
    );
  }
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
