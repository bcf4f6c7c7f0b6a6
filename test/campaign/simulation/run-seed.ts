import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../../src/store/store.ts';
import { createRecorder, type Findings } from '../promises.ts';
import { checkAfter } from './checks-after.ts';
import { checkMistake } from './checks-during.ts';
import { accountOf, type CreateInput } from './create-in-world.ts';
import { drawCreate, drawEvents, endFaults, type FaultKind, faultKinds } from './events.ts';
import { honest } from './node-mood.ts';
import { type SimulatedProcess, startProcess } from './simulated-process.ts';
import { createSimulatedWorld, EXPIRY_MS, type SimulatedWorld } from './simulated-world.ts';

const MAXIMUM_PAYMENTS = 4;
const MINUTE_MS = 60_000;
/** Deliveries stay open over steps up to this, two of them at most. */
const LONGEST_OPEN_STEP_MS = 4_000;
const QUICK_ROUNDS = 5;
const LONGEST_SETTLING_ROUNDS = QUICK_ROUNDS + 20;

/** A run: the world, the process that lives in it now, and what merchants still wait for. */
interface Run {
  readonly world: SimulatedWorld;
  readonly faults: ReadonlySet<FaultKind>;
  process: SimulatedProcess;
  /** Creations that were not acknowledged yet. */
  readonly asked: CreateInput[];
}

/** One seed from its first payment to the last check. The store begins empty and is closed afterwards. */
export async function runSeed(
  seed: number,
  findings: Findings,
  openStore: (nowMs: () => number) => Promise<Store>,
): Promise<void> {
  const world = createSimulatedWorld(seed, createRecorder(findings, seed), openStore);
  const { draws } = world;
  const faults = new Set(faultKinds.filter(() => draws.chance(50)));
  world.areNodesHonest = !faults.has('node');
  const run: Run = { world, faults, process: await startProcess(world), asked: [] };
  try {
    await run.process.raw.accounts.createAccount(accountOf(world.feeBasisPoints));
    world.chain.mine(100);
    // A service that has just been set up has looked at its chain before the first payment is made.
    await run.process.run('watch');
    run.asked.push(drawCreate(world), drawCreate(world));
    const ticks = draws.between(10, 26);
    for (let tick = 0; tick < ticks; tick++) await faultyTick(run);
    await settleDown(run);
    await checkAfter(world, run.process.raw);
  } finally {
    await run.process.raw.close();
  }
}

async function faultyTick(run: Run): Promise<void> {
  const { world, faults } = run;
  const { draws, recorder, time } = world;
  if (faults.has('deadline') && draws.chance(3)) await passDeadline(run);
  const stepMs = draws.oneOf([2_000, 2_000, 4_000, 20_000, 60_000, 300_000]);
  // No receiver holds a delivery for longer than ten seconds.
  if (stepMs > LONGEST_OPEN_STEP_MS) await endDeliveries(run);
  time.trueMs += stepMs;
  drawEvents(world, faults);
  for (let blocks = draws.between(0, 3); blocks > 0; blocks--) mineNow(world, draws.oneOf([30, 70, 100]));
  const mayAsk = world.payments.length + run.asked.length < MAXIMUM_PAYMENTS;
  if (mayAsk && draws.chance(10)) run.asked.push(drawCreate(world));

  if (faults.has('death')) run.process.life.dieAfter(draws.chance(25) ? draws.between(0, 80) : null);
  if (draws.chance(60)) letReceiversAnswer(world);
  const names = draws.shuffled(run.process.taskNames).filter((name) => draws.chance(oftenness(name)));
  const steps = [...names.map((name) => run.process.run(name)), createAsked(run), ...merchantSteps(run)];
  const fate = await Promise.race([Promise.all(steps).then(() => null), run.process.life.death]);
  if (fate === null) return;
  recorder.fault('death');
  await restart(run);
}

/** How often a task runs, in percent of the ticks. */
function oftenness(name: string): number {
  if (name === 'watch' || name === 'relay' || name === 'webhooks') return 80;
  return name === 'gas' ? 5 : 25;
}

/** A block at the present time. */
function mineNow({ chain, time }: SimulatedWorld, inclusionPercent: number): void {
  chain.mine(inclusionPercent, Math.max(1_000, time.trueMs - chain.latest.timestampMs));
}

async function restart(run: Run): Promise<void> {
  run.world.slowReceivers.length = 0;
  await run.process.raw.close();
  run.process = await startProcess(run.world);
}

/** A delivery may have died with its process after the last step ended. From now on nothing dies. */
async function keepAlive(run: Run): Promise<void> {
  run.process.life.dieAfter(null);
  if (run.process.life.isDead) await restart(run);
}

async function createAsked(run: Run): Promise<void> {
  for (const input of [...run.asked]) {
    try {
      const payment = await run.process.create(input);
      run.asked.splice(run.asked.indexOf(input), 1);
      run.world.payments.push(payment);
    } catch (error) {
      checkMistake(run.world, 'create', error);
    }
  }
}

/** Now and then somebody cancels a payment or asks for its release. */
function merchantSteps({ world, faults, process }: Run): Promise<void>[] {
  const { draws, payments } = world;
  if (!faults.has('merchant') || payments.length === 0 || !draws.chance(10)) return [];
  const payment = draws.oneOf(payments as [(typeof payments)[0]]);
  const request = draws.chance(50) ? process.cancel(payment) : process.release(payment);
  return [
    request.then(
      () => {},
      (error: unknown) => checkMistake(world, 'merchant', error),
    ),
  ];
}

/**
 * A week goes by in one block. Before it, one honest look: in a real week there are two thousand, and nodes that
 * leave logs out in every single one of them are nothing that the service promises to withstand.
 */
async function passDeadline(run: Run): Promise<void> {
  const { world } = run;
  world.moods.fill(honest);
  world.trouble.percent = 0;
  await keepAlive(run);
  await endDeliveries(run);
  await run.process.run('watch');
  await run.process.run('rescan');
  world.time.trueMs += EXPIRY_MS;
  mineNow(world, 100);
  world.recorder.fault('deadline');
}

/** No more faults: blocks come, tasks run, and in the end nothing may be left to do. */
async function settleDown(run: Run): Promise<void> {
  const { world } = run;
  await keepAlive(run);
  endFaults(world);
  run.process.life.hurry();
  letReceiversAnswer(world);
  await createAsked(run);
  for (let round = 0; round < LONGEST_SETTLING_ROUNDS; round++) {
    if (round === QUICK_ROUNDS - 2) await releaseCanceled(run);
    if (round > QUICK_ROUNDS && round % 2 === 1 && (await isAtRest(run))) return;
    // Two minutes of blocks every few seconds, and then three hours in longer steps, for what is put off.
    world.time.trueMs += round < QUICK_ROUNDS ? 24_000 : 9 * MINUTE_MS;
    for (let blocks = 0; blocks < world.finalityBlocks / 2 + 1; blocks++) mineNow(world, 100);
    const seldom = round % 2 === 0 ? ['rescan', 'sweep', 'expire', 'stale webhooks'] : [];
    for (const name of ['watch', ...seldom, 'relay', 'webhooks']) await run.process.run(name);
    await run.process.drain();
    await nextTurn();
  }
}

async function isAtRest({ world, process }: Run): Promise<boolean> {
  if ((await process.raw.relay.listOpenBatches(1)).length > 0) return false;
  for (const { id } of world.payments) {
    if ((await process.raw.payments.findPaymentById(id))?.releaseDueAtMs !== null) return false;
    const webhooks = await process.raw.webhooks.listWebhooks(id);
    if (webhooks.some(({ status }) => status === 'pending' || status === 'sending')) return false;
  }
  return true;
}

/** Every open delivery comes to its end, or dies with its process. */
async function endDeliveries({ world, process }: Run): Promise<void> {
  const drained = process.drain();
  // One that has just been begun comes to its receiver in the meantime.
  let isDrained = false;
  const end = Promise.race([drained, process.life.death]).then(() => {
    isDrained = true;
  });
  while (!isDrained) {
    letReceiversAnswer(world);
    await nextTurn();
  }
  await end;
}

function letReceiversAnswer({ slowReceivers }: SimulatedWorld): void {
  for (const answer of slowReceivers.splice(0)) answer();
}

/** What was canceled with a deposit waits for somebody to ask for its release. */
async function releaseCanceled({ world, process }: Run): Promise<void> {
  for (const payment of world.payments) {
    await process.release(payment).catch((error: unknown) => checkMistake(world, 'release', error));
  }
}
