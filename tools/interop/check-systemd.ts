/**
 * The service under systemd: a separate Debian boots in systemd-nspawn, deploy/server.sh installs, updates and restores
 * there, and a payment goes from its creation to its webhook. Its chain, providers and receiver are on this machine.
 */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import { root as project } from '../../test/docs/markdown.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { liveEnvironment } from '../../test/support/provider-environment.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../test/support/webhook-receiver.ts';
import { makeRoot } from '../image/base.ts';
import { createPayment, payToWebhook } from '../image/journey.ts';
import type { Outcome } from './check-proxy.ts';
import { collectOutcomes, seconds } from './host-service.ts';

const BOOT_MS = 60_000;
const COMMAND_MS = 300_000;
const SETTINGS = 'etc/card-checkout/env';
const CLONE = 'root/card-checkout';
const INSTALL = 'deploy/server.sh install --domain localhost --email ops@shop.example';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Outcomes, or the reason why it was not checked. */
export async function checkSystemd(folder: string): Promise<readonly Outcome[] | string> {
  if (process.getuid?.() !== 0) return 'it needs root';
  for (const program of ['debootstrap', 'systemd-nspawn', 'nsenter'])
    if (spawnSync(program, ['--version']).error !== undefined) return `${program} is not installed`;
  const home = join(folder, 'debian');
  const { environment } = makeRoot(home, ['systemd', 'systemd-sysv', 'dbus']);
  for (const program of ['node', 'npm'])
    symlinkSync(`../local/bin/${program}`, join(home, 'usr/bin', program));
  writeFileSync(join(home, 'etc/hosts'), '127.0.0.1 localhost\n');
  const clone = join(home, CLONE);
  mkdirSync(clone);
  const files =
    'git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --target-directory "$0"';
  execFileSync('sh', ['-c', files, clone], { cwd: project });
  execFileSync('git', ['init', '--quiet'], { cwd: clone });
  commit(clone, 'first');
  const machine = await boot(home, environment);
  const receiver = await startWebhookReceiver();
  const world = await startSandbox({ dataDir: join(folder, 'systemd'), log: silent, blockIntervalMs: 300 });
  try {
    return await checkOn(machine, world, receiver);
  } finally {
    await world.stop();
    await receiver.stop();
    await machine.end();
    rmSync(home, { recursive: true });
  }
}

/** Commits the content of the folder. */
function commit(folder: string, subject: string): void {
  const author = ['-c', 'user.name=Operator', '-c', 'user.email=ops@shop.example'];
  execFileSync('git', ['add', '--all'], { cwd: folder });
  execFileSync('git', [...author, 'commit', '--quiet', '--message', subject], { cwd: folder });
}

interface BootedMachine {
  readonly home: string;
  /** Runs a script in the machine as root. Throws with its output if it fails. */
  run(script: string): Promise<string>;
  end(): Promise<void>;
}

async function boot(home: string, environment: readonly string[]): Promise<BootedMachine> {
  const options = ['--boot', '--register=no', '--keep-unit', '--quiet', '--console=read-only'];
  const nspawn = spawn('systemd-nspawn', [`--directory=${home}`, ...options], { stdio: 'ignore' });
  const run = async (script: string) => {
    const inside = ['--mount', '--uts', '--ipc', '--pid', 'env', '-i', 'HOME=/root', ...environment];
    const words = [`--target=${firstProcessOf(nspawn)}`, ...inside, 'sh', '-e', '-u', '-c', script];
    const { stdout } = await promisify(execFile)('nsenter', words, { timeout: COMMAND_MS });
    return stdout;
  };
  await waitFor('systemd to have booted', BOOT_MS, () =>
    run('systemctl is-system-running --wait || true').then(
      (state) => /running|degraded/.test(state),
      () => false,
    ),
  );
  return {
    home,
    run,
    async end() {
      const ended = once(nspawn, 'exit');
      nspawn.kill('SIGTERM');
      const timer = setTimeout(() => nspawn.kill('SIGKILL'), 20_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

function firstProcessOf({ pid, exitCode }: ChildProcess): string {
  if (exitCode !== null) throw new Error(`systemd-nspawn ended with ${exitCode}`);
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
}

async function checkOn(
  { home, run }: BootedMachine,
  world: Sandbox,
  receiver: WebhookReceiver,
): Promise<readonly Outcome[]> {
  const { outcomes, check } = collectOutcomes();
  /** Runs a command of deploy/server.sh, and resolves with its output; fails unless it succeeds as expected. */
  const server = async (words: string, succeeds = true) => {
    const output = await run(`cd /${CLONE}\n{ ${words}; } 2>&1 && echo SUCCEEDED || true`);
    if (output.includes('SUCCEEDED') !== succeeds) throw new Error(output.slice(-1_500));
    return output;
  };
  const json = async <T>(words: string): Promise<T> => {
    const command = `runuser --user card-checkout -- node_modules/.bin/node bin/card-checkout.js ${words} --json`;
    const output = await run(`cd /opt/card-checkout\n${command}`);
    return JSON.parse(output.slice(output.search(/[[{]/))) as T;
  };
  const [port = 0, adminPort = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${port}`;

  const settings: Record<string, string> = {
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    ...liveEnvironment(world),
    CALLBACK_ALLOWED_HOSTS: receiver.host,
    NODE_EXTRA_CA_CERTS: '/etc/card-checkout/ca.pem',
  };
  const set = (values: Readonly<Record<string, string>>) => {
    const lines = readFileSync(join(home, SETTINGS), 'utf8').split('\n');
    const kept = lines.filter((line) => !((line.split('=')[0] as string) in values));
    const added = Object.entries(values).map(([name, value]) => `${name}=${value}`);
    writeFileSync(join(home, SETTINGS), [...kept, ...added, ''].join('\n'));
  };
  await check('installs on a bare Debian until settings are missing, and names them', async () => {
    const output = await server(INSTALL, false);
    if (!output.includes('set POLYGON_RPC_URL in /etc/card-checkout/env')) throw new Error(output);
    return undefined;
  });
  await check('installs the rest when it runs again, with TLS and the first merchant', async () => {
    writeFileSync(join(home, 'etc/card-checkout/ca.pem'), receiver.caPem);
    set(settings);
    const startedAtMs = performance.now();
    const output = await server(`${INSTALL} --merchant Shop --owner anna@shop.example`);
    if (!output.includes('card-checkout runs at https://localhost')) throw new Error(output);
    const tookMs = performance.now() - startedAtMs;
    const limits = await run('cat /proc/"$(systemctl show --property MainPID --value card-checkout)"/limits');
    if (!/Max open files +20000 /.test(limits)) throw new Error(limits);
    await run('curl --silent --fail --insecure --retry 10 --retry-all-errors https://localhost/health/ready');
    return `after ${seconds(tookMs)}`;
  });
  await check('changes nothing when it runs once more', async () => {
    const before = readFileSync(join(home, SETTINGS), 'utf8');
    await server(`${INSTALL} --merchant Shop --owner anna@shop.example`);
    const accounts = await json<unknown[]>('account list');
    if (accounts.length !== 1 || readFileSync(join(home, SETTINGS), 'utf8') !== before)
      throw new Error(`${accounts.length} accounts`);
    return undefined;
  });
  await check('takes a payment from its creation to the paid webhook', async () => {
    const [account] = await json<{ account_id: string }[]>('account list');
    const { api_key: key } = await json<{ api_key: string }>(`key create --account ${account?.account_id}`);
    await json('provider set moonpay --active');
    const merchant = { url, key, world, receiver };
    await payToWebhook(merchant, await createPayment(merchant, '80'));
    return undefined;
  });
  await check('the nightly backup and verify pass, and their timers wait', async () => {
    await run('systemctl start card-checkout-backup && systemctl start card-checkout-verify');
    const [copy] = readdirSync(join(home, 'var/lib/card-checkout-backups'));
    if (copy?.endsWith('.sqlite') !== true) throw new Error(`the backup left ${copy}`);
    const timers = await run('systemctl list-timers --no-pager');
    if ((timers.match(/card-checkout-\w+\.timer/g) ?? []).length !== 2) throw new Error(timers);
    return undefined;
  });
  const copyOf = async () =>
    (await run('systemctl show --property MainPID --value card-checkout-copy')).trim();
  await check('copies the database continuously once it is told where', async () => {
    set({ DATABASE_COPY_URL: 'file:///var/lib/card-checkout-copy' });
    await server(`${INSTALL} && systemctl restart card-checkout card-checkout-copy`);
    await waitFor('a copy', BOOT_MS, async () =>
      (await run('ls /var/lib/card-checkout-copy')).includes('generations'),
    );
    return undefined;
  });
  const release = async () => (await run('readlink -f /opt/card-checkout')).trim();
  await check('updates to the next commit', async () => {
    const [before, copyBefore] = [await release(), await copyOf()];
    writeFileSync(join(home, CLONE, 'README.md'), 'next');
    commit(join(home, CLONE), 'next');
    const startedAtMs = performance.now();
    await server('deploy/server.sh update');
    if ((await release()) === before) throw new Error('the release is the one before');
    if ((await copyOf()) === copyBefore) throw new Error('the copy runs in the release before');
    return `after ${seconds(performance.now() - startedAtMs)}`;
  });
  await check('goes back after an update that does not start', async () => {
    const before = await release();
    writeFileSync(join(home, CLONE, 'src/app/start-service.ts'), "throw new Error('broken');");
    commit(join(home, CLONE), 'broken');
    const output = await server('deploy/server.sh update', false);
    if (!output.includes('runs again') || (await release()) !== before) throw new Error(output);
    return undefined;
  });
  await check('restores the newest backup, and verify finds no difference', async () => {
    await server('deploy/server.sh restore "$(ls /var/lib/card-checkout-backups/*.sqlite | tail -n 1)"');
    return undefined;
  });
  await check('brings back by the copy what was created a second before the disk was lost', async () => {
    await run('systemctl start card-checkout-copy');
    const [account] = await json<{ account_id: string }[]>('account list');
    const { api_key: key } = await json<{ api_key: string }>(`key create --account ${account?.account_id}`);
    const id = await createPayment({ url, key, world, receiver }, '81');
    await delay(1_000);
    await run(
      'systemctl kill --signal=KILL card-checkout card-checkout-copy; rm -r /var/lib/card-checkout/*',
    );
    const copy = 'DATABASE_COPY_URL=file:///var/lib/card-checkout-copy';
    await server(
      `systemctl stop card-checkout card-checkout-copy
      DATA_DIR=/srv/restored ${copy} deploy/continuous-copy.sh restore
      deploy/server.sh restore /srv/restored/card-checkout.sqlite`,
    );
    const { status } = await json<{ status: string }>(`payment show ${id}`);
    if (status !== 'unpaid') throw new Error(status);
    return undefined;
  });
  await check('stops', async () => {
    const stoppedAtMs = performance.now();
    await run('systemctl stop card-checkout');
    const result = await run('systemctl show --property Result --value card-checkout');
    if (result.trim() !== 'success') throw new Error(result);
    return `after ${seconds(performance.now() - stoppedAtMs)}`;
  });
  return outcomes;
}
