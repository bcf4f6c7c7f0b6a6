/**
 * Point-in-time recovery of PostgreSQL, with the commands of docs/operating.md: rows are changed by mistake while
 * merchants create payments and customers pay. The database is restored to the moment before, and the service continues.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeBlocks, read } from '../../test/docs/markdown.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { queryPostgres } from '../../test/support/postgres.ts';
import { runCommand, startServiceProcess } from '../../test/support/service-process.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Outcome } from './check-proxy.ts';
import { collectOutcomes, createdBy, type HostService, seconds, startHostService } from './host-service.ts';

export const castPackage = '@foundry-rs/cast-linux-amd64@1.7.1';

const LANES = 2;
const PAUSE_MS = 20;
const RECOVERED_MS = 120_000;
/** Test account of the chain; its key is public. */
const SENDER_KEY = '0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6';
/** Time and folders that docs/operating.md uses. */
const MOMENT = '2026-11-25 14:30:00+00';

/** Outcomes, or the reason why it was not checked. */
export async function checkRecovery(
  folder: string,
  castFolder: string,
): Promise<readonly Outcome[] | string> {
  const backup = globSync('/usr/lib/postgresql/*/bin/pg_basebackup').toSorted().at(-1);
  if (backup === undefined) return 'pg_basebackup is not installed';
  const server = await startArchivingServer(folder, join(backup, '..'), castFolder);
  try {
    const service = await startHostService(() => ({ DATABASE_URL: server.url }));
    try {
      return await checkOn(service, server, folder);
    } finally {
      await service.world.stop();
    }
  } finally {
    await server.remove();
  }
}

interface ArchivingServer {
  readonly url: string;
  readonly version: string;
  readonly hasCast: boolean;
  /** Runs the block of the docs that contains `words`, with the folders and the moment of this drill. */
  runBlock(words: string, moment?: string, environment?: Readonly<Record<string, string>>): Promise<string>;
  /** Stops the restored server after a recovery to the wrong time, and removes its folder and log. */
  removeRestored(): Promise<void>;
  /** Builds a standby of the server and starts it, and waits until it streams. */
  startStandby(): Promise<{ readonly url: string }>;
  remove(): Promise<void>;
}

async function startArchivingServer(
  folder: string,
  programs: string,
  castFolder: string,
): Promise<ArchivingServer> {
  const home = join(folder, 'recovery');
  const [data, backups] = [join(home, '15/main'), join(home, 'backups')];
  mkdirSync(join(home, '15'), { recursive: true });
  mkdirSync(join(backups, 'wal'), { recursive: true });
  const urlOf = (at: number) => `postgres://checkout@127.0.0.1:${at}/checkout`;
  const isRoot = process.getuid?.() === 0;
  chmodSync(folder, 0o755);
  if (isRoot) execFileSync('chown', ['-R', 'postgres', home]);
  const [port = 0, standbyPort = 0] = await freePorts(2);
  const identity = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  const cast = join(castFolder, 'node_modules', castPackage.replace(/@[^@]+$/, ''), 'bin');
  const place = { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'checkout', HOME: home };
  const environment = { ...place, PATH: `${programs}:${cast}:${process.env['PATH']}` };
  const runScript = async (script: string, more: Readonly<Record<string, string>> = {}) => {
    const [program = 'sh', ...words] = [...identity, 'sh', '-e', '-u', '-c', script];
    const options = { cwd: home, env: { ...environment, ...more }, timeout: RECOVERED_MS };
    return (await promisify(execFile)(program, words, options)).stdout;
  };
  const [, section = ''] = read('docs/operating.md').split('## Point-in-time recovery of PostgreSQL\n');
  const text = (section.split('\n## ')[0] ?? '').replaceAll(/^ {3}/gm, '');
  const ofThisDrill = (block: string, moment = MOMENT) =>
    block
      .replaceAll(MOMENT, moment)
      .replaceAll('/backups', backups)
      .replaceAll('/var/lib/postgresql', home)
      .replaceAll('cast send', `cast send --timeout ${RECOVERED_MS / 1_000}`);
  const [settings = ''] = codeBlocks(text, 'ini');

  await runScript(`initdb --pgdata=${data} --username=checkout --auth=trust --encoding=UTF8 --locale=C
cat >> ${data}/postgresql.conf <<'END'
${ofThisDrill(settings)}
port = ${port}
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
END
pg_ctl start --pgdata=${data} --log=${home}/main.log
createdb checkout
# For the restored server, which starts with the settings of this one: it has none of the standbys of this one.
echo "synchronous_standby_names = '*'" >> ${data}/postgresql.conf`);
  // Stops the servers if this process has exited without stopping them, even after kill -9.
  const end = `for data in ${data} ${home}/15/restored ${home}/15/standby; do ${programs}/pg_ctl stop --pgdata=$data --mode=immediate; done`;
  const [guardProgram = 'sh', ...guardWords] = [
    ...identity,
    'sh',
    '-c',
    `trap '' INT TERM; cat > /dev/null; ${end}`,
  ];
  const guard = spawn(guardProgram, guardWords, { cwd: home, stdio: ['pipe', 'ignore', 'ignore'] });
  return {
    url: urlOf(port),
    version: (await runScript('postgres --version')).trim(),
    hasCast: existsSync(join(cast, 'cast')),
    async runBlock(words, moment, more) {
      const block = codeBlocks(text, 'sh').find((each) => each.includes(words));
      if (block === undefined) throw new Error(`docs/operating.md has no block with "${words}"`);
      return runScript(ofThisDrill(block, moment), more);
    },
    async removeRestored() {
      const restored = `${home}/15/restored`;
      await runScript(`pg_ctl stop --pgdata=${restored} --mode=fast
rm -r ${restored} ${restored}.log`);
    },
    async startStandby() {
      const url = urlOf(standbyPort);
      await runScript(`pg_basebackup --checkpoint=fast --write-recovery-conf --pgdata=${home}/15/standby
pg_ctl start --pgdata=${home}/15/standby --log=${home}/standby.log --options='-p ${standbyPort}'`);
      const isStreaming = async () =>
        (await queryPostgres(urlOf(port), 'SELECT 1 FROM pg_stat_replication')).length > 0;
      await waitFor('the standby to stream', RECOVERED_MS, isStreaming);
      return { url };
    },
    async remove() {
      const ended = once(guard, 'exit');
      guard.stdin.end();
      await ended;
    },
  };
}

/** Time in a form that PostgreSQL parses. */
function textOf(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '+00');
}

async function checkOn(
  service: HostService,
  server: ArchivingServer,
  folder: string,
): Promise<readonly Outcome[]> {
  const { outcomes, check } = collectOutcomes();
  const { world, machine } = service;
  const { sandbox } = world;
  const creating = service.startCreating(LANES, PAUSE_MS);
  const { begin } = service;
  await check(`a base backup under load, ${server.version}`, async () => {
    const startMs = performance.now();
    await server.runBlock('pg_basebackup');
    return seconds(performance.now() - startMs);
  });
  await check('WAL from before the base backup is removed, and no other', async () => {
    const segments = () =>
      readdirSync(join(folder, 'recovery/backups/wal')).filter((name) => /^[0-9A-F]{24}$/.test(name));
    await waitFor('the WAL of the base backup', RECOVERED_MS, async () => segments().length > 1);
    const label = readFileSync(join(folder, 'recovery/backups/base-2026-11-25/backup_label'), 'utf8');
    const [, first = ''] = /file ([0-9A-F]{24})/.exec(label) ?? [];
    const [older, needed] = [
      segments().filter((name) => name < first),
      segments().filter((name) => name >= first),
    ];
    await server.runBlock('pg_archivecleanup');
    const left = segments();
    if (older.length === 0) throw new Error('there was none to remove');
    if (left.some((name) => name < first) || needed.some((name) => !left.includes(name)))
      throw new Error(`${left} of ${older} and ${needed}`);
    return `${older.length} of ${older.length + needed.length} segments`;
  });
  const tooEarly = textOf(new Date());
  const [settled, paidLater, paidMeanwhile] = [await begin(), await begin(), await begin()];
  await settled.pay();
  await service.untilSettled(settled.id);

  await delay(1_000);
  const sinceMs = Date.now();
  const moment = textOf(new Date(sinceMs));
  await delay(1_000);
  const answers = await creating.stop();

  // After that time, two payments end, and the customer of a third one pays while the service is down.
  const [lost, lostOpen] = [await begin(), await begin()];
  for (const payment of [paidLater, lost]) {
    await payment.pay();
    await service.untilSettled(payment.id);
  }
  await queryPostgres(server.url, "UPDATE payments SET status = 'canceled', forward_status = 'canceled'");
  const { status } = (await service.readStatus(settled.id)).body;
  if (status !== 'canceled') throw new Error(`the mistake did nothing: ${status}`);
  await machine.process.end('SIGTERM');
  await paidMeanwhile.pay();
  await lostOpen.pay();

  const startMs = performance.now();
  const recoverTo = async (when: string) => {
    await server.runBlock('recovery.signal', when);
    const isPromoted = async () => (await server.runBlock('pg_is_in_recovery')).trim().startsWith('f');
    await waitFor('the end of the recovery', RECOVERED_MS, isPromoted);
    return seconds(performance.now() - startMs);
  };
  await check('the steps of docs/operating.md restore a moment that is too early', async () => {
    await server.runBlock('all-payments.csv');
    await server.runBlock('pg_ctl stop');
    return recoverTo(tooEarly);
  });
  await check('repeated with the right moment, they restore that one', async () => {
    await server.removeRestored();
    return recoverTo(moment);
  });
  if (outcomes.some(({ problem }) => problem !== null)) return outcomes;
  await runCommand(machine.environment, 'restore');
  const again = await startServiceProcess(machine.environment, { args: ['--live'] });
  try {
    await check('the service starts on it and settles what was paid meanwhile', async () => {
      await service.untilSettled(paidMeanwhile.id);
      return `${seconds(performance.now() - startMs)} after the first step`;
    });
    await check('a payment settled after the moment is paid, its webhook not sent again', async () => {
      await service.untilSettled(paidLater.id);
      const shown = await runCommand(machine.environment, 'payment show', paidLater.id, '--json');
      const { status, reason } = JSON.parse(shown).webhooks[0];
      const found = `${status}, ${reason}, arrived: ${service.webhooksOf(paidLater.id).length}`;
      if (found !== 'unknown, restored, arrived: 1') throw new Error(found);
      return found;
    });
    const createdBefore = answers.filter(({ atMs }) => atMs < sinceMs);
    await check('no payment that was answered before the moment is lost, and verify agrees', async () =>
      service.requireAll([settled.id, paidLater.id, paidMeanwhile.id, ...createdBy(createdBefore)]),
    );
    await check('the payments after the moment are lost, and listed with their terms', async () => {
      await server.runBlock('lost-payments.csv');
      const listed = readFileSync(join(folder, 'recovery/backups/lost-payments.csv'), 'utf8').split('\n');
      const ids = listed.map((line) => line.split(',')[0]).filter((id) => id !== '');
      const missing: string[] = [];
      for (const id of [lost.id, lostOpen.id, ...createdBy(answers)])
        if ((await service.readStatus(id)).status === 404) missing.push(id);
      if (missing.toSorted().join() !== ids.toSorted().join()) throw new Error(`${missing} and ${ids}`);
      return `${ids.length} of ${createdBy(answers).length}`;
    });
    if (!server.hasCast) console.log('not checked: release of a lost payment, cast is not installed');
    else
      await check(
        'money at the address of a lost payment is reported, and released to its merchant',
        async () => {
          const printed = await server.runBlock('cast send', undefined, {
            ETH_RPC_URL: sandbox.anvilUrl,
            USDC: sandbox.usdc,
            PRIVATE_KEY: SENDER_KEY,
          });
          const lines = printed.split('\n').filter((line) => line.includes('releasing to'));
          if (lines.length !== 1 || !lines[0]?.startsWith(lostOpen.id)) throw new Error(printed);
          return lines[0];
        },
      );
    await check('a standby of the restored server follows it, and commits wait for it again', async () => {
      const standby = await server.startStandby();
      await server.runBlock('15/restored --mode=fast');
      const [{ synchronous_standby_names: names } = {}] = await queryPostgres(
        server.url,
        'SHOW synchronous_standby_names',
      );
      if (names !== '*') throw new Error(`synchronous_standby_names is ${names}`);
      const isSynchronous = async () =>
        (await queryPostgres(server.url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"))
          .length > 0;
      await waitFor('the synchronous standby', RECOVERED_MS, isSynchronous);
      const { id } = await service.begin();
      await waitFor('the payment on the standby', RECOVERED_MS, async () => {
        const sql = `SELECT pg_is_in_recovery() AS follows FROM payments WHERE id = '${id}'`;
        return (await queryPostgres(standby.url, sql))[0]?.['follows'] === true;
      });
      return undefined;
    });
    await check('verify finds no difference', async () => {
      await runCommand(machine.environment, 'verify');
      return undefined;
    });
  } finally {
    await again.end('SIGTERM');
  }
  return outcomes;
}
