import type { ExternalServices } from '../../../src/app/external-services.ts';
import type { Log } from '../../../src/app/log.ts';
import { createMetrics } from '../../../src/app/metrics.ts';
import type { Store } from '../../../src/app/store/store.ts';
import type { WorkerParts } from '../../../src/app/worker-parts.ts';
import { cancelPayment } from '../../../src/payment/cancel-payment.ts';
import { ServiceError } from '../../../src/payment/errors.ts';
import { isDust } from '../../../src/payment/fees-and-paid-threshold.ts';
import { createIpnTokens } from '../../../src/payment/ipn-token.ts';
import { USD_RATE_ONE } from '../../../src/payment/money.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import { stateOf } from '../../../src/payment/payment-states.ts';
import { acceptPayment, releasePayment } from '../../../src/payment/release-payment.ts';
import { sumObservations } from '../../../src/payment/settle.ts';
import { createSecretBox } from '../../../src/platform/secret-box.ts';
import { defaultRelayLimits } from '../../../src/settlement/batch-and-gas-limits.ts';
import { type LatestBlock, SignerError } from '../../../src/settlement/chain/chain.ts';
import { createChainReader } from '../../../src/settlement/chain/create-chain-reader.ts';
import { createChainEndpoint } from '../../../src/settlement/chain/endpoint-rotation.ts';
import { createRelayer } from '../../../src/settlement/chain/relayer.ts';
import { openSigner } from '../../../src/settlement/chain/signer.ts';
import { createBalanceSweep, createTokenReader } from '../../../src/settlement/chain/token-reader.ts';
import type { RelayIncident } from '../../../src/settlement/relay/relay-context.ts';
import type { anvilKeys } from '../../support/anvil.ts';
import { checkBroadcast, checkDecision, checkIncident, checkMistake } from './checks-during.ts';
import { type CreateInput, createInWorld } from './create-in-world.ts';
import { createProcessLife, type ProcessLife } from './process-life.ts';
import { openRefundInWorld } from './refunds-in-world.ts';
import { createInstanceTasks } from './simulated-instance.ts';
import { createSimulatedNode } from './simulated-node.ts';
import { createReceiver } from './simulated-receiver.ts';
import { CHAIN_ID, EXPIRY_MS, type SimulatedWorld } from './simulated-world.ts';
import { withTrouble } from './troubled-store.ts';

/** Metrics are counted for all seeds together: making them anew costs more than a simulated process. */
const metrics = createMetrics();
export const tokens = createIpnTokens('a secret key of the simulation, long enough');

export type RelayerKey = (typeof anvilKeys)[number];

/** Blocks that the simulated rescans read again: few, so that what they do not reach is reached by the sweep. */
const RESCAN_DEPTH_BLOCKS = 150;

/** The most that a task has to do in one go. */
const MAXIMUM_RUNS = 500;

export type SimulatedProcess = Awaited<ReturnType<typeof startProcess>>;

/** The real service but for its HTTP side: steps, tasks, chain code and store, over a simulated outside. */
export async function startProcess(world: SimulatedWorld, relayerKey: RelayerKey) {
  const life = createProcessLife(world.draws);
  const raw = await world.openStore();
  // As at the start of a real process that has the data for itself.
  if (raw.shared === null) await raw.webhooks.abandonStaleWebhooks(Number.MAX_SAFE_INTEGER);
  let announce: OnHead = () => {};
  const outside = createOutside(world, life, raw, relayerKey);
  const subscribeToHeads = (onHead: OnHead) => {
    announce = onHead;
  };
  const parts = createParts(world, life, raw, { ...outside, subscribeToHeads });
  const { store, nowMs } = parts;
  const tasks = createInstanceTasks(world, life, parts);
  const { all } = tasks;
  return {
    life,
    /** The store as it is, for looking on: reads here never fail and take no turns. */
    raw,
    taskNames: all.map(({ name }) => name),
    /** The chain as a verification sees it. */
    chain: { reader: parts.external.chain, sweepBalances: parts.external.sweepBalances },
    /** Takes leases that are free, and keeps those that it has. */
    async renewLeases(): Promise<void> {
      const { signal } = new AbortController();
      await Promise.all(tasks.renewals.map((renewal) => renewal.run(signal)));
    },
    /** Runs a task as the worker does: again at once while it says that there is more. What fails is judged. */
    async run(name: string): Promise<void> {
      const task = all.find((one) => one.name === name);
      if (task === undefined) throw new RangeError(`there is no task ${name}`);
      const { signal } = new AbortController();
      if (name === 'watch') announceHead(world, announce);
      let runs = 0;
      tasks.ran.delete(name);
      try {
        while (runs <= MAXIMUM_RUNS && (await task.run(signal))) runs++;
      } catch (error) {
        checkMistake(world, name, error);
      }
      // Without the lease nothing was looked at.
      if ((name === 'rescan' || name === 'sweep') && world.areNodesHonest && tasks.ran.has(name)) {
        const { recorder, misses } = world;
        recorder.expect('readAtOnce', misses === 0, () => `${name} found what the watcher had not`);
      }
      // The seed ends here: everything after it would take as long.
      if (runs > MAXIMUM_RUNS) throw new Error(`${name} does not come to an end`);
    },
    create: (input: CreateInput): Promise<Payment> => createInWorld(world, parts, input),
    cancel: (payment: Payment) => cancelPayment({ ...store, nowMs }, payment.id, 'merchant'),
    release: (payment: Payment) => releasePayment({ ...store, nowMs }, payment.id),
    /** Accepts as paid what has arrived for an open payment, as the merchant sees it at that moment. */
    async acceptPart(): Promise<void> {
      for (const payment of world.payments) {
        const view = await store.payments.viewPayment(payment.id);
        if (view === null || stateOf(view.payment) !== 'unpaid/pending') continue;
        const { seenUnits } = sumObservations(view.observations);
        if (isDust(view.payment, seenUnits)) continue;
        await acceptPayment({ ...store, nowMs }, payment.id, seenUnits);
        world.recorder.fault('part accepted');
        return;
      }
    },
    openRefund: () => openRefundInWorld(world, parts),
    drain: tasks.drain,
  };
}

type OnHead = (block: LatestBlock) => void;

/** Announces the newest block, mostly; else nothing, or another block's hash in its place. */
function announceHead({ chain: { blocks }, draws }: SimulatedWorld, announce: OnHead): void {
  const [parent, newest] = blocks.slice(-2);
  if (parent === undefined || newest === undefined || draws.chance(30)) return;
  const { hash } = draws.chance(20) ? draws.oneOf([newest, ...blocks]) : newest;
  announce({ number: newest.number, hash, parentHash: parent.hash, timestampMs: newest.timestampMs });
}

function createParts(
  world: SimulatedWorld,
  life: ProcessLife,
  raw: Store,
  external: ExternalServices,
): Omit<WorkerParts, 'withRelayerLease'> {
  const nowMs = () => world.time.trueMs + world.time.skewMs;
  const store = withTrouble(raw, {
    life,
    draws: world.draws,
    trouble: world.trouble,
    onTrouble: (when) => world.recorder.fault(`database fails ${when} the commit`),
    onDecision: (view, decision) => checkDecision(world, view, decision),
  });
  return {
    config: { dataDir: '.', chain: null, retention: { auditDays: 0, customerDataDays: 0.02 } },
    store,
    external,
    tokens,
    signingSecrets: { open: () => null },
    mailer: null,
    notifier: {
      box: createSecretBox('notification channels', 'never used here, and long enough'),
      send: async () => ({ result: 'sent' }),
    },
    baseUrl: 'http://localhost',
    deliver: createReceiver(world, life, raw),
    nowMs,
    monotonicMs: () => world.time.trueMs,
    expiryMs: EXPIRY_MS,
    log: createWatchedLog(world),
    metrics,
    wake: () => {},
  };
}

function createOutside(
  world: SimulatedWorld,
  life: ProcessLife,
  raw: Store,
  relayerKey: RelayerKey,
): ExternalServices {
  const { chain, draws } = world;
  const { token, factory } = chain.contracts;
  const key = openSigner(relayerKey);
  const signer: typeof key = {
    address: key.address,
    async signTransaction(transaction) {
      // Not once the world is well again.
      const isTroubled = world.moods.some((mood) => mood.kind !== 'honest' && mood !== world.lastingLie);
      if (!isTroubled || draws.chance(70)) return key.signTransaction(transaction);
      world.recorder.fault('signer: does not sign');
      throw new SignerError('the signer does not answer');
    },
  };
  const relayerOf = (endpoints: Parameters<typeof createRelayer>[0]['endpoints']) =>
    createRelayer({ endpoints, chainId: CHAIN_ID, signer });
  const endpoints = world.moods.map((_, index) =>
    createChainEndpoint(
      createSimulatedNode(chain, draws, {
        name: `node ${index + 1}`,
        mood: () => world.moods[index] ?? { kind: 'honest' },
        chainId: CHAIN_ID,
        signerOf: world.signerOf,
        maximumBlockRange: world.maximumBlockRange,
        feeCapWei: world.feeCapsWei[index] ?? null,
        pass: life.pass,
        onBroadcast: (rawTransaction) => checkBroadcast(world, raw, rawTransaction),
      }),
      CHAIN_ID,
      {
        isOneOfSeveral: world.moods.length > 1,
        monotonicMs: () => world.time.trueMs,
        // Real timers would make the run depend on how busy the machine is.
        minimumPatienceMs: Number.POSITIVE_INFINITY,
      },
    ),
  );
  type Outside = 'chain' | 'rates' | 'token' | 'relayers' | 'sweepBalances' | 'intervals';
  const outside: Pick<ExternalServices, Outside> = {
    rates: {
      async usdRate() {
        if (Math.floor(world.time.trueMs / 60_000) % 3 === 0) throw new ServiceError('conversion_failed');
        return USD_RATE_ONE;
      },
    },
    chain: createChainReader({
      endpoints,
      sources: { token, factories: [factory] },
      monotonicMs: () => world.time.trueMs,
    }),
    token: createTokenReader({ endpoints, token }),
    relayers: [relayerOf(endpoints)],
    sweepBalances: createBalanceSweep({ endpoints, token }),
    intervals: {
      watchIntervalMs: 0,
      quietWatchIntervalMs: 0,
      idleWatchIntervalMs: 0,
      relayIntervalMs: 0,
      featureIntervalMs: 0,
      rescanIntervalMs: 0,
      rescanDepthBlocks: RESCAN_DEPTH_BLOCKS,
      thoroughRescanIntervalMs: 60_000,
      rescanLagBlocks: world.rescanLagBlocks,
      finalityIntervalMs: world.finalityIntervalMs,
      sweepIntervalMs: 0,
      deepRescanBlocks: 50_000,
      relayLimits: { ...defaultRelayLimits, releasesPerBatch: 3, gasShare: world.gasShare },
      circuitOpenMs: 0,
      quoteKeepMs: 0,
    },
  };
  return outside as ExternalServices;
}

/** A log that nobody reads, but for mistakes and misses that tasks only report. */
function createWatchedLog(world: SimulatedWorld): Log {
  const report = (
    fields: { err?: unknown; added?: unknown; payments?: unknown; kind?: string; batchId?: number },
    text: string,
  ) => {
    if (fields.err !== undefined) checkMistake(world, text, fields.err);
    if (fields.added !== undefined || fields.payments !== undefined) world.misses++;
    if (text === 'relay' && fields.kind !== undefined) checkIncident(world, fields as RelayIncident);
  };
  return { error: report, warn: report, info: () => {}, debug: () => {} } as unknown as Log;
}
