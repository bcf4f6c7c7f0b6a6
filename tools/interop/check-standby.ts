/** PostgreSQL with a standby: the primary is killed or cut off while merchants create payments, and the standby promoted. */
import { setTimeout as delay } from 'node:timers/promises';
import { type CutOff, startCutOff } from '../../test/support/cut-off.ts';
import { type PostgresServer, queryPostgres, startPostgres } from '../../test/support/postgres.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Outcome } from './check-proxy.ts';
import {
  type BegunPayment,
  collectOutcomes,
  countOf,
  createdBy,
  type HostService,
  seconds,
  startHostService,
} from './host-service.ts';

const LANES = 4;
const PAID = 3;
/** Time that a person or program needs to notice and promote. */
const NOTICED_MS = 2_000;
const BEHIND_MS = 2_000;
const RECOVERED_MS = 120_000;
/** As in production: acknowledged commits survive a power cut. */
const settings = ['wal_keep_size=512MB', 'max_connections=200', 'shared_buffers=64MB'];

interface Failure {
  readonly name: string;
  readonly isSynchronous: boolean;
  readonly isPartition: boolean;
}

const failures: readonly Failure[] = [
  { name: 'kill -9 of the primary, synchronous standby', isSynchronous: true, isPartition: false },
  { name: 'partition from the primary, synchronous standby', isSynchronous: true, isPartition: true },
  { name: 'kill -9 of the primary, asynchronous standby', isSynchronous: false, isPartition: false },
];

/** Outcomes, or the reason why it was not checked. */
export async function checkStandby(): Promise<readonly Outcome[] | string> {
  const outcomes: Outcome[] = [];
  for (const failure of failures) {
    const found = await withServers((servers) => checkFailover(servers, failure));
    if (typeof found === 'string') return found;
    outcomes.push(...found.map(({ name, problem }) => ({ name: `${failure.name}: ${name}`, problem })));
  }
  return outcomes;
}

/** The service reaches both servers, and the standby its primary, through proxies that can be cut. */
interface Servers {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  readonly toPrimary: CutOff;
  readonly stream: CutOff;
  /** Variables of the service. */
  readonly url: string;
  readonly standbyUrl: string;
}

async function withServers<T>(run: (servers: Servers) => Promise<T>): Promise<T | string> {
  let primary: PostgresServer;
  try {
    primary = await startPostgres(settings);
  } catch (error) {
    return `PostgreSQL does not start: ${String(error).slice(0, 300)}`;
  }
  const closing: (() => Promise<unknown>)[] = [() => primary.stop()];
  try {
    const direct = await primary.createDatabase();
    const stream = await startCutOff(primary.port);
    closing.push(() => stream.close());
    const toPrimary = await startCutOff(primary.port);
    closing.push(() => toPrimary.close());
    const standby = await primary.startStandby([], stream.port);
    closing.push(() => standby.stop());
    const hosts = `127.0.0.1:${toPrimary.port},127.0.0.1:${standby.port}`;
    const url = direct.replace(`127.0.0.1:${primary.port}`, hosts);
    const standbyUrl = direct.replace(`:${primary.port}`, `:${standby.port}`);
    return await run({ primary, standby, toPrimary, stream, url, standbyUrl });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function checkFailover(servers: Servers, failure: Failure): Promise<readonly Outcome[]> {
  const { outcomes, check } = collectOutcomes();
  const service = await startHostService(() => ({
    DATABASE_URL: `${servers.url}?target_session_attrs=read-write`,
  }));
  try {
    if (failure.isSynchronous) await makeSynchronous(servers);
    const paying: BegunPayment[] = [];
    while (paying.length < PAID) paying.push(await service.begin());
    const creating = service.startCreating(LANES);
    await waitFor('creates', RECOVERED_MS, () => createdBy(creating.answers).length > 200);
    await Promise.all(paying.map((payment) => payment.pay()));
    // The asynchronous standby is two seconds behind, because the network delays its stream.
    if (!failure.isSynchronous) {
      servers.stream.cut();
      await delay(BEHIND_MS);
    }

    const failedMs = performance.now();
    if (failure.isPartition) for (const link of [servers.toPrimary, servers.stream]) link.cut();
    else await servers.primary.kill();
    const answered = creating.answers.length;
    await delay(NOTICED_MS);
    await queryPostgres(servers.standbyUrl, 'SELECT pg_promote()');
    const promotedMs = performance.now();
    const known = creating.answers.length;
    await check('creates succeed again by themselves', async () => {
      const isBack = () => createdBy(creating.answers.slice(known)).length > 0;
      await waitFor('a create to succeed', RECOVERED_MS, isBack);
      const nowMs = performance.now();
      const after = seconds(nowMs - promotedMs);
      return `${seconds(nowMs - failedMs)} after the failure, ${after} after the promotion`;
    });
    await waitFor('creates', RECOVERED_MS, () => createdBy(creating.answers.slice(known)).length > 100);
    const all = await creating.stop();
    const ids = createdBy(all);
    const lost = await findLost(service, ids);
    const figures = `${lost.length} of ${ids.length}; ${countOf(all.slice(answered))}`;
    if (failure.isSynchronous) {
      await check('no create that succeeded is lost', async () => {
        if (lost.length > 0) throw new Error(figures);
        return figures;
      });
    } else outcomes.push({ name: `creates that succeeded and are lost (${figures})`, problem: null });
    await check('no payment is settled twice', async () => {
      const kept = paying.filter(({ id }) => !lost.includes(id));
      await Promise.all(kept.map(({ id }) => service.untilSettled(id)));
      await service.requireAll(kept.map(({ id }) => id));
      return `${kept.length} paid for just before the failure, one webhook each, verify finds no difference`;
    });
    return outcomes;
  } finally {
    await service.world.stop();
  }
}

async function makeSynchronous({ primary, url, toPrimary }: Servers): Promise<void> {
  const direct = url.replace(/127\.0\.0\.1:\d+,127\.0\.0\.1:\d+/, `127.0.0.1:${toPrimary.port}`);
  await primary.query(direct, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
  await primary.query(direct, 'SELECT pg_reload_conf()');
  await waitFor('the synchronous standby', RECOVERED_MS, async () => {
    const [row] = await primary.query(direct, 'SELECT sync_state FROM pg_stat_replication');
    return row?.['sync_state'] === 'sync';
  });
}

/** Payments that the service no longer knows. */
async function findLost(service: HostService, ids: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (const id of ids) {
    const { status, body } = await service.readStatus(id);
    if (status === 404) lost.push(id);
    else if (status !== 200) throw new Error(`status of ${id}: ${status} ${JSON.stringify(body)}`);
  }
  return lost;
}
