/**
 * The service under systemd: a Debian of its own boots in systemd-nspawn, the commands of docs/deploying.md run there as they
 * stand, and a payment goes from its creation to its webhook. Its chain, providers and receiver are on this machine.
 */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import { codeBlocks, root as project, read } from '../../test/docs/markdown.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { liveEnvironment } from '../../test/support/provider-environment.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../test/support/webhook-receiver.ts';
import { makeRoot } from '../image/base.ts';
import { createPayment, payToWebhook } from '../image/journey.ts';
import type { Outcome } from './check-proxy.ts';
import { collectOutcomes, seconds } from './host-service.ts';

const BOOT_MS = 60_000;
const COMMAND_MS = 180_000;
const READY_MS = 60_000;
const SETTINGS = 'etc/card-checkout/env';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** The outcomes, or why it was not checked. */
export async function checkSystemd(folder: string): Promise<readonly Outcome[] | string> {
  if (process.getuid?.() !== 0) return 'it needs root';
  for (const program of ['debootstrap', 'systemd-nspawn', 'nsenter'])
    if (spawnSync(program, ['--version']).error !== undefined) return `${program} is not installed`;
  const home = join(folder, 'debian');
  const { environment } = makeRoot(home, ['systemd', 'systemd-sysv', 'dbus']);
  for (const program of ['node', 'npm'])
    symlinkSync(`../local/bin/${program}`, join(home, 'usr/bin', program));
  mkdirSync(join(home, 'opt/card-checkout'));
  const files =
    'git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --target-directory "$0"';
  execFileSync('sh', ['-c', files, join(home, 'opt/card-checkout')], { cwd: project });
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

interface BootedMachine {
  readonly home: string;
  /** Runs a script in the machine as root. Throws with its output when it fails. */
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
  const [, section = ''] = read('docs/deploying.md').split('## systemd\n');
  const text = (section.split('\n## ')[0] ?? '').replaceAll(/^ {3}/gm, '');
  const [install = '', create = '', command = '', start = ''] = codeBlocks(text, 'sh');
  const json = async <T>(words: string): Promise<T> => {
    const output = await run(`cd /opt/card-checkout\n${command.replace('doctor', `${words} --json`)}`);
    return JSON.parse(output.slice(output.indexOf('{'))) as T;
  };
  const [port = 0, adminPort = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${port}`;

  await check(
    'installs with the commands of the docs',
    async () => void (await run(`${install}\n${create.replace(/^/, 'cd /opt/card-checkout\n')}`)),
  );
  const settings: Record<string, string> = {
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    BASE_URL: 'https://pay.example.com',
    TRUST_PROXY: '127.0.0.1',
    SECRET_KEY: randomBytes(32).toString('hex'),
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
  await check('its commands read the settings and deploy, init and doctor pass', async () => {
    writeFileSync(join(home, 'etc/card-checkout/ca.pem'), receiver.caPem);
    set(settings);
    const deployed = await json<{ deposit_factory_address: string }>('contract deploy');
    set({ DEPOSIT_FACTORY_ADDRESS: deployed.deposit_factory_address });
    await json('init');
    await json('doctor');
    return undefined;
  });
  await check('starts with the commands of the docs, within its sandbox', async () => {
    const startedAtMs = performance.now();
    await run(`cd /opt/card-checkout\n${start}`);
    await waitFor('the service to be ready', READY_MS, () =>
      fetch(`${url}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const tookMs = performance.now() - startedAtMs;
    const limits = await run('cat /proc/"$(systemctl show --property MainPID --value card-checkout)"/limits');
    if (!/Max open files +20000 /.test(limits)) throw new Error(limits);
    return `ready after ${seconds(tookMs)}`;
  });
  await check('takes a payment from its creation to the paid webhook', async () => {
    const { account_id: account } = await json<{ account_id: string }>('account create --name Shop');
    const { api_key: key } = await json<{ api_key: string }>(`key create --account ${account}`);
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
  await check('stops', async () => {
    const stoppedAtMs = performance.now();
    await run('systemctl stop card-checkout');
    const result = await run('systemctl show --property Result --value card-checkout');
    if (result.trim() !== 'success') throw new Error(result);
    return `after ${seconds(performance.now() - stoppedAtMs)}`;
  });
  return outcomes;
}
