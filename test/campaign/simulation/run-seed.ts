import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../../src/app/store/store.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import { stateOf } from '../../../src/payment/payment-states.ts';
import { openSigner } from '../../../src/settlement/chain/signer.ts';
import { anvilKeys } from '../../support/anvil.ts';
import { createRecorder, type Findings } from '../promises.ts';
import { checkAfter } from './checks-after.ts';
import { checkMistake } from './checks-during.ts';
import { accountOf, type CreateInput } from './create-in-world.ts';
import {
  beginLastingLie,
  drawCreate,
  drawEvents,
  drawFeeCaps,
  endFaults,
  type FaultKind,
  faultKinds,
} from './events.ts';
import { honest } from './node-mood.ts';
import { checkRefunds, isRefundDue, transferRefunds } from './refunds-in-world.ts';
import { type RelayerKey, type SimulatedProcess, startProcess } from './simulated-process.ts';
import { CHAIN_ID, createSimulatedWorld, EXPIRY_MS, type SimulatedWorld } from './simulated-world.ts';
import { verifyAfter } from './verify-after.ts';

const MAXIMUM_PAYMENTS = 4;
const MINUTE_MS = 60_000;
/** Deliveries stay open over steps up to this, two of them at most. */
const LONGEST_OPEN_STEP_MS = 4_000;
/** Longer than a lease lasts. */
const LEASE_END_MS = 7_000;
/** Longer than a node is left alone that has not answered in time. */
const LONGEST_PAUSE_MS = 31_000;
const QUICK_ROUNDS = 5;
const LONGEST_SETTLING_ROUNDS = QUICK_ROUNDS + 20;

const relayers = anvilKeys.map((key) => ({
  key,
  address: openSigner(key).address,
}));

/** One of the processes that live in a world, which is another one after each death. */
interface Instance {
  readonly relayerKey: RelayerKey;
  process: SimulatedProcess;
}

/** A run: the world, the processes that live in it now, and what merchants still wait for. */
interface Run {
  readonly world: SimulatedWorld;
  readonly faults: ReadonlySet<FaultKind>;
  readonly instances: Instance[];
  /** Creations that were not acknowledged yet. */
  readonly asked: CreateInput[];
}

/** Where a run keeps what outlives its processes. */
export interface SeedStore {
  readonly open: (nowMs: () => number) => Promise<Store>;
  /** The most instances at a time. */
  readonly instances: number;
}

/** One seed from its first payment to the last check. The store begins empty and is closed afterwards. */
export async function runSeed(seed: number, findings: Findings, store: SeedStore): Promise<void> {
  const run = createRun(seed, findings, store);
  const { world, instances } = run;
  for (const relayerKey of drawRelayerKeys(world, store.instances)) {
    instances.push({ relayerKey, process: await startProcess(world, relayerKey) });
  }
  world.hasRivals = instances.length > 1;
  world.recorder.fault(
    `worlds with ${instances.length} ${instances.length === 1 ? 'instance' : 'instances'}`,
  );
  try {
    await setUp(run);
    run.asked.push(drawCreate(world), drawCreate(world));
    const ticks = world.draws.between(10, 26);
    for (let tick = 0; tick < ticks; tick++) await faultyTick(run);
    await settleDown(run);
    const { raw, chain } = firstOf(run);
    await checkAfter(world, raw);
    await checkRefunds(world, raw);
    // A verification believes the node that it asks.
    world.moods.fill(honest);
    await verifyAfter(world, raw, chain);
  } finally {
    for (const { process } of instances) await process.raw.close();
  }
}

function createRun(seed: number, findings: Findings, store: SeedStore): Run {
  const [first, ...others] = relayers.map(({ address }) => address);
  if (first === undefined) throw new RangeError('there is no relayer');
  // Of a process that is alone, the node need not find out who signed.
  const known = store.instances === 1 ? ([soleRelayer.address] as const) : ([first, ...others] as const);
  const world = createSimulatedWorld(seed, createRecorder(findings, seed), known, store.open);
  world.isStoreRemote = store.instances > 1;
  const kinds = faultKinds.filter((kind) => kind !== 'split leases' || store.instances > 1);
  const faults = new Set(kinds.filter(() => world.draws.chance(50)));
  world.areNodesHonest = !faults.has('node');
  if (faults.has('fee cap')) world.feeCapsWei = drawFeeCaps(world);
  if (faults.has('lasting lie')) beginLastingLie(world);
  return { world, faults, instances: [], asked: [] };
}

const soleRelayer = relayers[1] as (typeof relayers)[number];

/** One process for each; some of them share a key. */
function drawRelayerKeys({ draws }: SimulatedWorld, maximumInstances: number): RelayerKey[] {
  if (maximumInstances === 1) return [soleRelayer.key];
  const isShared = draws.chance(50);
  const instances = draws.oneOf([1, 2, 2, maximumInstances, maximumInstances]);
  return relayers.slice(0, instances).map(({ key }) => (isShared ? soleRelayer.key : key));
}

function firstOf({ instances }: Run): SimulatedProcess {
  return (instances[0] as Instance).process;
}

async function setUp(run: Run): Promise<void> {
  const { world } = run;
  const { raw } = firstOf(run);
  const { token, factory } = world.chain.contracts;
  await raw.accounts.createAccount(accountOf(world.feeBasisPoints));
  await raw.settlements.rememberSettlement({
    chainId: CHAIN_ID,
    token,
    factory,
    implementation: world.implementation,
    factoryCodeHash: '0x',
    feeWallet: world.feeWallet,
    lastStartedAtMs: world.time.trueMs,
  });
  world.chain.mine(100);
  // A service that has just been set up has looked at its chain before the first payment is made.
  await runOnOne(run, ['watch']);
}

/** Runs these tasks one after the other on one instance, after the leases of the others have ended. */
async function runOnOne({ world, instances }: Run, names: readonly string[], turn = 0): Promise<void> {
  const { process } = instances[turn % instances.length] as Instance;
  if (instances.length > 1) world.time.trueMs += LEASE_END_MS;
  await process.renewLeases();
  for (const name of names) await process.run(name);
}

async function faultyTick(run: Run): Promise<void> {
  const { world, faults } = run;
  const { draws, time } = world;
  if (faults.has('deadline') && draws.chance(3)) await passDeadline(run);
  const stepMs = draws.oneOf([2_000, 2_000, 4_000, 20_000, 60_000, 300_000]);
  // No receiver holds a delivery for longer than ten seconds.
  if (stepMs > LONGEST_OPEN_STEP_MS) await endDeliveries(run);
  time.trueMs += stepMs;
  drawEvents(world, faults);
  if (faults.has('merchant')) transferRefunds(world);
  for (let blocks = draws.between(0, 3); blocks > 0; blocks--) mineNow(world, draws.oneOf([30, 70, 100]));
  const mayAsk = world.payments.length + run.asked.length < MAXIMUM_PAYMENTS;
  if (mayAsk && draws.chance(10)) run.asked.push(drawCreate(world));

  const living = run.instances.filter(({ process }) => !process.life.isDead);
  if (faults.has('death')) {
    for (const { process } of living) process.life.dieAfter(draws.chance(25) ? draws.between(0, 80) : null);
  }
  if (draws.chance(60)) letReceiversAnswer(world);
  await Promise.all(living.map(({ process }) => liveOn(run, process)));
  for (const instance of run.instances) {
    if (!instance.process.life.isDead) continue;
    // Among several one may be missing for a while, and another takes its place.
    if (run.instances.length === 1 || draws.chance(40)) await restart(world, instance);
  }
}

/** A process does what comes its way, until it has done it or dies. */
async function liveOn(run: Run, process: SimulatedProcess): Promise<void> {
  const { world } = run;
  const { draws } = world;
  if (draws.chance(80)) await Promise.race([process.renewLeases(), process.life.death]);
  const names = draws.shuffled(process.taskNames).filter((name) => draws.chance(oftenness(name)));
  const steps = [
    ...names.map((name) => process.run(name)),
    createAsked(run, process),
    ...merchantSteps(run, process),
  ];
  const fate = await Promise.race([Promise.all(steps).then(() => null), process.life.death]);
  if (fate !== null) world.recorder.fault('death');
}

/** How often a task runs, in percent of the ticks. */
function oftenness(name: string): number {
  if (name === 'watch' || name === 'relay' || name === 'webhooks') return 80;
  return name === 'gas' ? 5 : 25;
}

function mineNow({ chain, time }: SimulatedWorld, inclusionPercent: number): void {
  chain.mine(inclusionPercent, Math.max(1_000, time.trueMs - chain.latest.timestampMs));
}

async function restart(world: SimulatedWorld, instance: Instance): Promise<void> {
  await instance.process.raw.close();
  instance.process = await startProcess(world, instance.relayerKey);
}

/** A delivery may have died with its process after the last step ended. From now on nothing dies. */
async function keepAlive({ world, instances }: Run): Promise<void> {
  for (const instance of instances) {
    instance.process.life.dieAfter(null);
    if (instance.process.life.isDead) await restart(world, instance);
  }
}

async function createAsked({ world, asked }: Run, process: SimulatedProcess): Promise<void> {
  for (const input of [...asked]) {
    try {
      const payment = await process.create(input);
      const place = asked.indexOf(input);
      if (place === -1) {
        // Another instance was asked the same at the same time, and has answered first.
        const isKnown = world.payments.some(({ id }) => id === payment.id);
        world.recorder.expect('madeOnce', isKnown, () => `${payment.id} is a second one for one request`);
        continue;
      }
      asked.splice(place, 1);
      world.payments.push(payment);
    } catch (error) {
      // What a dead process would have gone on with is of no interest.
      if (process.life.isDead) return;
      checkMistake(world, 'create', error);
    }
  }
}

/** Now and then a merchant cancels a payment, asks for its release, accepts a part as paid, or opens a refund. */
function merchantSteps({ world, faults }: Run, process: SimulatedProcess): Promise<unknown>[] {
  const { draws, payments } = world;
  if (!faults.has('merchant') || payments.length === 0 || !draws.chance(20)) return [];
  const payment = draws.oneOf(payments as [(typeof payments)[0]]);
  const step = draws.oneOf([process.cancel, process.release, process.acceptPart, process.openRefund]);
  return [step(payment).catch((error: unknown) => checkMistake(world, 'merchant', error))];
}

/**
 * A week goes by in one block. Before it, one honest look: in a real week there are two thousand, and nodes that
 * leave logs out in every single one of them are nothing that the service promises to withstand.
 */
async function passDeadline(run: Run): Promise<void> {
  const { world } = run;
  world.moods.fill(honest);
  world.chain.isFinalityStalled = false;
  world.trouble.percent = 0;
  await keepAlive(run);
  // Merchants without an answer ask again before: the same key means the same payment for a day only.
  await createAsked(run, firstOf(run));
  await endDeliveries(run);
  world.time.trueMs += LONGEST_PAUSE_MS;
  // The first look at a node that was paused finds out that it answers again.
  for (const _ of world.moods) await runOnOne(run, ['watch']);
  await runOnOne(run, ['watch', 'rescan']);
  world.time.trueMs += EXPIRY_MS;
  mineNow(world, 100);
  world.recorder.fault('deadline');
}

/** No more faults: blocks come, tasks run, and in the end nothing may be left to do. */
async function settleDown(run: Run): Promise<void> {
  const { world, instances } = run;
  await keepAlive(run);
  endFaults(world);
  for (const { process } of instances) process.life.hurry();
  letReceiversAnswer(world);
  await createAsked(run, firstOf(run));
  for (let round = 0; round < LONGEST_SETTLING_ROUNDS; round++) {
    if (round === QUICK_ROUNDS - 2) await releaseEach(run);
    if (round >= QUICK_ROUNDS && round % 2 === 1) await releaseFoundLate(run);
    if (round > QUICK_ROUNDS && round % 2 === 1 && (await isAtRest(run))) return;
    // Two minutes of blocks every few seconds, and then three hours in longer steps, for what is put off.
    world.time.trueMs += round < QUICK_ROUNDS ? 24_000 : 9 * MINUTE_MS;
    for (let blocks = 0; blocks < world.finalityBlocks / 2 + 1; blocks++) mineNow(world, 100);
    const seldom = round % 2 === 0 ? ['rescan', 'sweep', 'expire', 'stale webhooks'] : [];
    await runOnOne(run, ['watch', ...seldom, 'relay', 'refunds', 'webhooks'], round >> 1);
    for (const { process } of instances) await process.drain();
    await nextTurn();
  }
}

async function isAtRest(run: Run): Promise<boolean> {
  const { raw } = firstOf(run);
  // A row of a lost block goes when the chain is as high again.
  if (run.world.chain.isShortened) return false;
  if ((await raw.relay.listOpenBatches(1)).length > 0) return false;
  if (await isRefundDue(run.world, raw)) return false;
  for (const { id } of run.world.payments) {
    if ((await raw.payments.findPaymentById(id))?.releaseDueAtMs !== null) return false;
    const webhooks = await raw.webhooks.listWebhooks(id);
    if (webhooks.some(({ status }) => status === 'pending' || status === 'sending')) return false;
  }
  return true;
}

async function endDeliveries({ world, instances }: Run): Promise<void> {
  const ends = instances.map(({ process }) => Promise.race([process.drain(), process.life.death]));
  // One that has just been begun comes to its receiver in the meantime.
  let isDrained = false;
  const end = Promise.all(ends).then(() => {
    isDrained = true;
  });
  while (!isDrained) {
    letReceiversAnswer(world);
    // A database on a server takes its time: going round and round meanwhile would cost it that of the processor.
    await (world.isStoreRemote ? delay(1) : nextTurn());
  }
  await end;
}

function letReceiversAnswer({ slowReceivers }: SimulatedWorld): void {
  for (const answer of slowReceivers.splice(0)) answer();
}

/** A deposit that every node left out may be found by a later scan, after the payment was canceled. */
async function releaseFoundLate(run: Run): Promise<void> {
  const { raw } = firstOf(run);
  const found = await Promise.all(run.world.payments.map(({ id }) => raw.payments.findPaymentById(id)));
  const waiting = found.filter(
    (payment) => payment !== null && stateOf(payment) === 'canceled/manual_required',
  );
  await releaseEach(run, waiting as Payment[]);
}

/** What was canceled with a deposit waits for somebody to ask for its release. */
async function releaseEach(run: Run, payments: readonly Payment[] = run.world.payments): Promise<void> {
  const { world } = run;
  for (const payment of payments) {
    await firstOf(run)
      .release(payment)
      .catch((error: unknown) => checkMistake(world, 'release', error));
  }
}
