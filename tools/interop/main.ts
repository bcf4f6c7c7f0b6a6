/**
 * Runs the service with the neighbors that it has in production: behind nginx, HAProxy and Caddy with the files of deploy/,
 * and on PostgreSQL through pgbouncer. Prometheus scrapes it.
 * Lighthouse measures the pages, and the tests of the example shops run where PHP and Python are. Generated clients use its API.
 * The machine and the database fail as well. `npm run interop`; what is not installed is named as not checked.
 * With `--install`, as root on Debian, it is installed first. Not part of `npm run test:all`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkClients, clientPackages } from '../../test/openapi/generated-clients.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { startSandboxProcess } from '../sandbox-process.ts';
import { checkClock } from './check-clock.ts';
import { checkDescriptors } from './check-descriptors.ts';
import { checkDisk } from './check-disk.ts';
import { checkLighthouse, findLighthouse, lighthousePackage } from './check-lighthouse.ts';
import { checkCompose, checkKubernetes, checkUnits, kubernetesPackages } from './check-manifests.ts';
import { checkPackages } from './check-packages.ts';
import { checkPrometheus } from './check-prometheus.ts';
import { checkBehindProxy, type Outcome } from './check-proxy.ts';
import { castPackage, checkRecovery } from './check-recovery.ts';
import { checkRollingRestart } from './check-rolling.ts';
import { checkStandby } from './check-standby.ts';
import { checkSystemd } from './check-systemd.ts';
import { checkTests, collectOutcomes, startHostService } from './host-service.ts';
import { type Neighbor, proxies, startPgbouncer } from './neighbors.ts';

/** npm packages that `--install` adds. */
const toolsFolder = join(import.meta.dirname, '../../test-output/interop');
/** Checks without requirements. */
const npmChecks: readonly string[] = ['lighthouse', 'kubernetes'];

const packages = { nginx: 'nginx-light', haproxy: 'haproxy', caddy: 'caddy', pgbouncer: 'pgbouncer' };

const shopTests = ['test/examples/examples.test.ts'];

/**
 * Prometheus, the example shops, the machine or the database in trouble, and the files of deploy/. Each returns its
 * outcomes, or why it was not checked.
 */
const hostChecks = {
  prometheus: checkPrometheus,
  disk: checkDisk,
  descriptors: checkDescriptors,
  clock: checkClock,
  standby: checkStandby,
  recovery: (folder: string) => checkRecovery(folder, toolsFolder),
  compose: checkCompose,
  kubernetes: (folder: string) => checkKubernetes(folder, toolsFolder),
  units: checkUnits,
  clients: async (folder: string) => {
    const { outcomes, check } = collectOutcomes();
    return (await checkClients(folder, toolsFolder, check)) ?? outcomes;
  },
  php: () => checkTests('example shop and library', 'php', ...shopTests, 'test/woocommerce/plugin.test.ts'),
  python: () => checkTests('example shop', 'python3', ...shopTests),
  systemd: checkSystemd,
  packages: checkPackages,
};

function versionOf(program: string): string | undefined {
  const words = program === 'nginx' ? ['-v'] : program === 'caddy' ? ['version'] : ['--version'];
  const path = `${process.env['PATH']}:/usr/sbin`;
  const { error, stdout, stderr } = spawnSync(program, program === 'haproxy' ? ['-v'] : words, {
    encoding: 'utf8',
    env: { ...process.env, PATH: path },
  });
  if (error !== undefined) return undefined;
  return /\d+\.\d+(?:\.\d+)?/.exec(`${stdout}${stderr}`)?.[0] ?? 'unknown version';
}

/** Installs the requirements of the named checks, or of all. */
function install(only: readonly string[]): void {
  if (only.length === 0 || only.some((name) => !npmChecks.includes(name))) installPackages();
  mkdirSync(toolsFolder, { recursive: true });
  writeFileSync(join(toolsFolder, 'package.json'), '{ "private": true }');
  const names = [castPackage, lighthousePackage, ...kubernetesPackages, ...clientPackages];
  const words = ['install', '--no-audit', '--no-fund', ...names];
  execFileSync('npm', words, { cwd: toolsFolder, stdio: 'inherit' });
}

function installPackages(): void {
  if (process.getuid?.() !== 0) throw new Error('--install needs root on Debian');
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const tools = [
    'prometheus',
    'libfaketime',
    'python3',
    'php-cli',
    'php-curl',
    'php-sqlite3',
    'postgresql',
    'debootstrap',
    'systemd-container',
    'golang-go',
    'golang-github-getkin-kin-openapi-dev',
    'default-jdk-headless',
    'libjackson2-databind-java',
  ];
  const words = ['install', '--yes', '--no-install-recommends', ...Object.values(packages), ...tools];
  execFileSync('apt-get', words, { stdio: 'inherit', env: environment });
}

function report(neighbor: string, outcomes: readonly Outcome[]): void {
  for (const { name, problem } of outcomes) {
    console.log(
      `${problem === null ? 'ok  ' : 'FAIL'} ${neighbor}: ${name}${problem === null ? '' : `: ${problem}`}`,
    );
    if (problem !== null) process.exitCode = 1;
  }
}

/** A sandbox behind one proxy; it trusts the proxy and has its public name. */
async function checkProxy(name: keyof typeof proxies, folder: string): Promise<void> {
  const [httpPort = 0, httpsPort = 0] = await freePorts(2);
  const changes = {
    BASE_URL: 'https://pay.example.com',
    TRUST_PROXY: '127.0.0.1',
    RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '3',
  };
  const { port, pay, demoKey, end } = await startSandboxProcess(join(folder, name), changes);
  let proxy: Neighbor | null = null;
  try {
    proxy = await proxies[name]({ folder, port, httpPort, httpsPort });
    const forwardsCallersHeader = name !== 'caddy';
    report(
      `${name} ${versionOf(name)}`,
      await checkBehindProxy({
        httpPort,
        httpsPort,
        folder,
        apiKey: demoKey(),
        pay,
        forwardsCallersHeader,
      }),
    );
  } finally {
    await proxy?.stop();
    await end('SIGTERM');
  }
  if (name !== 'caddy') report(name, await checkRollingRestart(name, folder));
}

/** Live mode against a local chain, on PostgreSQL behind pgbouncer in transaction mode. */
async function checkPgbouncer(folder: string): Promise<void> {
  const name = 'starts in live mode, creates a payment and settles it in transaction mode';
  const neighbor = `pgbouncer ${versionOf('pgbouncer')}`;
  const postgres = await startPostgres();
  const bouncer = await startPgbouncer(await postgres.createDatabase(), folder);
  try {
    const service = await startHostService(() => ({ DATABASE_URL: bouncer.url }));
    try {
      const payment = await service.begin();
      await payment.pay();
      await service.untilSettled(payment.id);
      report(neighbor, [{ name, problem: null }]);
    } finally {
      await service.world.stop();
    }
  } finally {
    await bouncer.stop();
    await postgres.stop();
  }
}

/** Measures the most visited pages as on a phone. */
async function checkPages(folder: string): Promise<void> {
  const lighthouse = findLighthouse(toolsFolder);
  if (lighthouse === undefined) console.log('not checked: Lighthouse is not installed');
  else report(`Lighthouse ${lighthouse.version}`, await checkLighthouse(lighthouse.file, folder));
}

/** Runs a part and prints its duration. An error fails this part only. */
async function runPart(name: string, check: () => Promise<void>): Promise<void> {
  const startedMs = performance.now();
  await check().catch((error) =>
    report(name, [{ name: 'runs to its end', problem: String(error).slice(0, 1_500) }]),
  );
  console.log(`     ${name}: ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
}

async function main(): Promise<void> {
  const names = [...Object.keys(packages), ...npmChecks, ...Object.keys(hostChecks)];
  const only = process.argv.slice(2).filter((word) => names.includes(word));
  if (process.argv.includes('--install')) install(only);
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-interop-'));
  try {
    for (const name of Object.keys(packages) as (keyof typeof packages)[]) {
      if (only.length > 0 && !only.includes(name)) continue;
      if (versionOf(name) === undefined) console.log(`not checked: ${name} is not installed`);
      else if (name === 'pgbouncer') await runPart(name, () => checkPgbouncer(folder));
      else await runPart(name, () => checkProxy(name, folder));
    }
    if (only.length === 0 || only.includes('lighthouse'))
      await runPart('lighthouse', () => checkPages(folder));
    for (const [name, check] of Object.entries(hostChecks)) {
      if (only.length > 0 && !only.includes(name)) continue;
      await runPart(name, async () => {
        const outcomes = await check(folder);
        if (typeof outcomes === 'string') console.log(`not checked: ${name}: ${outcomes}`);
        else report(name, outcomes);
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
