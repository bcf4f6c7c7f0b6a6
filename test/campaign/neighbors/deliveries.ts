import { join } from 'node:path';
import { endOrphanedChain } from '../../../simulators/chain/chain-process.ts';
import { callServer } from '../../../src/cli/control-socket.ts';
import { type EndToEndService, startEndToEndService } from '../../support/e2e-service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sampleMemory } from '../soak/memory.ts';
import { type BadReceivers, type Misbehavior, startBadReceivers } from './bad-receivers.ts';
import { plantWebhooks, readAttempts, type StoredAttempt } from './planted-webhooks.ts';

/** How bad the neighbors are. */
export interface Neighborhood {
  /** Hosts that misbehave, all of one account. */
  readonly hosts: number;
  readonly webhooksPerHost: number;
  /** More for the first host. */
  readonly extraForOne: number;
  /** Payments of another account with a healthy receiver, each paid for real. */
  readonly healthy: number;
  /** How they misbehave, in turn. */
  readonly kinds: readonly Misbehavior[];
  /** Whether to wait until the last of their deliveries has ended; else the server is killed before. */
  readonly isWatchedToTheEnd: boolean;
}

/** What was seen of it. */
export interface DeliveryFindings {
  /** From the moment a healthy webhook was queued until its receiver had it; infinite for what never came. */
  readonly latenciesMs: readonly number[];
  readonly bad: readonly StoredAttempt[];
  /** Requests at bad receivers by path; each webhook has a path of its own. */
  readonly requests: ReadonlyMap<string, number>;
  readonly most: { readonly open: number; readonly openToOne: number };
  /** How much more memory the process took meanwhile, MiB; null where the system does not say. */
  readonly grownMib: number | null;
}

const STARTED_MS = 20_000;
/** Not what is measured: a customer's way to the on-ramp, on a machine that may do ten other things. */
const PAID_MS = 120_000;
const DELIVERED_MS = 90_000;
/** Half of 2,000 places, ten seconds each, and a machine that does other things. */
const ALL_ENDED_MS = 240_000;

const silent = { info() {}, warn() {}, error() {} };

/** Lets bad neighbors take what they can, and then has healthy payments paid beside them. */
export async function watchDeliveries(neighborhood: Neighborhood): Promise<DeliveryFindings> {
  const bad = await startBadReceivers(neighborhood.hosts, neighborhood.kinds);
  try {
    const service = await startEndToEndService({ RATE_LIMIT_CREATE_PER_MINUTE: '100000' }, { others: bad });
    try {
      return await watchService(service, bad, neighborhood);
    } finally {
      // It would wait for the deliveries. Killed, it leaves its chain behind.
      if (!neighborhood.isWatchedToTheEnd) {
        await service.process().end('SIGKILL');
        await endOrphanedChain(join(service.folder, 'data/sandbox/chain'), silent);
      }
      await service.stop();
    }
  } finally {
    await bad.stop();
  }
}

async function watchService(
  service: EndToEndService,
  bad: BadReceivers,
  { hosts, webhooksPerHost, extraForOne, healthy, isWatchedToTheEnd }: Neighborhood,
): Promise<DeliveryFindings> {
  const control = join(service.environment['DATA_DIR'] as string, 'control.sock');
  const callServerFor = <T>(name: string, args: Readonly<Record<string, string>>) =>
    callServer(control, name, args) as Promise<T>;
  const { account_id: badAccount } = await callServerFor<{ account_id: string }>('account create', {
    name: 'Bad shop',
  });
  const payments = await Promise.all(
    Array.from({ length: healthy }, () => service.create({ amount: '80.00' })),
  );
  const [own] = await callServerFor<{ account_id: string }[]>('payment list', {});
  const tokenFingerprint = (payments[0]?.ipn_token ?? '').slice(4, 10);
  const memory = watchMemory(service);
  await memory.look();

  const evenly = hosts * webhooksPerHost;
  const urls = Array.from(
    { length: evenly + extraForOne },
    (_, index) => `https://${bad.hosts[index < evenly ? index % hosts : 0]}/bad/${index}`,
  );
  plantWebhooks(service, badAccount, tokenFingerprint, urls);
  await waitFor('the neighbors to have begun', STARTED_MS, () => bad.most.open >= Math.min(hosts, 100));

  for (const { payment_id: payment } of payments) await pay(() => callServerFor('sandbox pay', { payment }));
  const received = () => service.receiver.received;
  // What does not come shows as an infinite latency.
  await waitFor('every healthy webhook', DELIVERED_MS, () => received().length >= healthy).catch(() => {});
  const ended = await waitFor('every bad delivery to end', ALL_ENDED_MS, async () => {
    await memory.look();
    const attempts = readAttempts(service, badAccount);
    if (!isWatchedToTheEnd) return attempts;
    return attempts.every(({ status }) => status !== 'pending' && status !== 'sending') && attempts;
  });
  const arrivals = new Map(
    received().map(({ rawBody, atMs }) => [(JSON.parse(rawBody) as { paymentId: string }).paymentId, atMs]),
  );
  const latenciesMs = readAttempts(service, own?.account_id ?? '').map(
    ({ id, createdAtMs }) => (arrivals.get(id.slice(0, 36)) ?? Number.POSITIVE_INFINITY) - createdAtMs,
  );
  return { latenciesMs, bad: ended, requests: bad.requests, most: bad.most, grownMib: memory.grownMib() };
}

/** The on-ramp is left alone for a while once it was slow, as it is on a busy machine: until then the customer waits. */
async function pay(playCustomer: () => Promise<unknown>): Promise<void> {
  let lastError: unknown;
  await waitFor('the on-ramp to take a payment', PAID_MS, () =>
    playCustomer().then(
      () => true,
      (error: unknown) => {
        lastError = error;
        return false;
      },
    ),
  ).catch((error: unknown) => {
    throw new Error(String(error), { cause: lastError });
  });
}

/** How much more memory the process has taken at most, whenever it was looked at. */
function watchMemory(service: EndToEndService) {
  const admin = `http://127.0.0.1:${service.environment['ADMIN_PORT']}`;
  let first: number | null = null;
  let most: number | null = null;
  return {
    async look(): Promise<void> {
      const residentMib = (await sampleMemory(service.process().pid, admin))?.residentMib ?? null;
      first ??= residentMib;
      most = residentMib === null ? null : Math.max(most ?? 0, residentMib);
    },
    grownMib: () => (first === null || most === null ? null : most - first),
  };
}
