/** Delay, loss and partition between the service and its database, the chain and the provider, while merchants ask it and customers pay. */
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../test/support/free-ports.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Outcome } from './check-proxy.ts';
import {
  type BegunPayment,
  collectOutcomes,
  createdBy,
  type HostService,
  requireAnswers,
  seconds,
  startAsking,
  startHostService,
} from './host-service.ts';
import {
  type LinkFault,
  type LinkName,
  type NetworkLinks,
  obstacleToLinks,
  startNetworkLinks,
} from './network-links.ts';

const LANES = 2;
const PAUSE_MS = 50;
const RECOVERED_MS = 60_000;
/** How long a link stays as it is, at least. */
const FAULT_MS = 6_000;
/** Longer than the limit of a statement, 33 s: the service gives its connections up. */
const DATABASE_PARTITION_MS = 38_000;
const PARTITION_MS = 20_000;
/** A statement and a new connection one after the other take 48 s at most; a session at a provider 8 s. */
const ANSWERED_MS: Readonly<Record<Disturbed, number>> = { database: 50_000, chain: 5_000, provider: 15_000 };

type Disturbed = Exclude<LinkName, 'merchant'>;
const disturbed: readonly Disturbed[] = ['database', 'chain', 'provider'];

const none: LinkFault = { delayMs: 0, jitterMs: 0, lossPercent: 0 };
const slow: LinkFault = { delayMs: 100, jitterMs: 50, lossPercent: 0 };
const lossy: LinkFault = { delayMs: 10, jitterMs: 0, lossPercent: 5 };
const silent: LinkFault = { delayMs: 0, jitterMs: 0, lossPercent: 100 };

/** The outcomes, or why it was not checked. */
export async function checkNetwork(): Promise<readonly Outcome[] | string> {
  const obstacle = obstacleToLinks();
  if (obstacle !== undefined) return obstacle;
  const links = await startNetworkLinks();
  let postgres: PostgresServer | undefined;
  try {
    postgres = await startPostgres();
    const databaseUrl = await postgres.createDatabase();
    const databasePort = postgres.port;
    const service = await startHostService(
      async ({ sandbox, receiver }) => {
        const [port = 0, adminPort = 0] = await freePorts(2);
        await links.publish(port);
        await links.connect('database', databasePort);
        for (const url of [sandbox.rpcUrl, sandbox.anvilUrl]) await links.connect('chain', portOf(url));
        await links.connect('provider', portOf(sandbox.onrampBaseUrl));
        await links.connect('merchant', portOf(receiver.url));
        const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
        return { ...links.serviceEnvironment, ...ports, DATABASE_URL: databaseUrl };
      },
      { through: links.through },
    );
    try {
      return await checkFaults(service, links);
    } finally {
      await service.world.stop();
    }
  } finally {
    await postgres?.stop();
    await links.stop();
  }
}

const portOf = (url: string) => Number(new URL(url).port);

async function checkFaults(service: HostService, links: NetworkLinks): Promise<readonly Outcome[]> {
  const { outcomes, check } = collectOutcomes();
  const first = await service.create();
  const creating = service.startCreating(LANES, PAUSE_MS);
  const reading = startAsking(() => service.readStatus(first.body['payment_id'] ?? ''), 1, PAUSE_MS);
  const living = startAsking(() => service.get('/health/live'), 1, PAUSE_MS);
  const paid: string[] = [];
  /** Runs with a payment whose customer is at the provider, and returns what was asked meanwhile. */
  async function during(link: Disturbed, fault: LinkFault, run: (payment: BegunPayment) => Promise<void>) {
    const payment = await service.begin();
    paid.push(payment.id);
    const [created, read, lived] = [creating, reading, living].map(({ answers }) => answers.length);
    links.setFault(link, fault);
    try {
      await run(payment);
    } finally {
      links.setFault(link, none);
    }
    const asked = [...creating.answers.slice(created), ...reading.answers.slice(read)];
    return { asked, lived: living.answers.slice(lived) };
  }

  for (const link of disturbed) {
    for (const [name, fault] of Object.entries({ delay: slow, loss: lossy })) {
      await check(`${link}, ${name}: creates and status succeed, and a payment is settled`, async () => {
        let settledMs = 0;
        const { asked } = await during(link, fault, async ({ id, pay }) => {
          const [, took] = await Promise.all([delay(FAULT_MS), pay().then(() => service.untilSettled(id))]);
          settledMs = took;
        });
        const figures = requireAnswers(asked, [200], ANSWERED_MS[link]);
        return `settled after ${seconds(settledMs)}; ${figures}`;
      });
    }
    await check(
      `${link}, partition: each answer is in time, and the service recovers by itself`,
      async () => {
        const partitionMs = link === 'database' ? DATABASE_PARTITION_MS : PARTITION_MS;
        let begun: BegunPayment | undefined;
        const { asked, lived } = await during(link, silent, async (payment) => {
          begun = payment;
          await payment.pay();
          await delay(partitionMs);
        });
        const mendedMs = performance.now();
        const known = creating.answers.length;
        const since = () => performance.now() - mendedMs;
        const isBack = () => createdBy(creating.answers.slice(known)).length > 0;
        await waitFor('a create to succeed', RECOVERED_MS, isBack);
        const createdMs = since();
        await service.untilSettled(begun?.id ?? '');
        requireAnswers(lived, [200], 2_000);
        const figures = requireAnswers(asked, [200, 500, 502, 503], ANSWERED_MS[link]);
        return `${seconds(partitionMs)}; creates after ${seconds(createdMs)}, settled after ${seconds(since())}; ${figures}`;
      },
    );
  }
  const answers = await creating.stop();
  await reading.stop();
  await living.stop();
  // Also those that were answered after a link was mended.
  await check('every create was answered in time', async () =>
    requireAnswers(answers, [200, 500, 502, 503], ANSWERED_MS.database),
  );
  await check('nothing answered is lost, and no payment is settled twice', () =>
    service.requireAll([...paid, ...createdBy(answers)]),
  );
  return outcomes;
}
