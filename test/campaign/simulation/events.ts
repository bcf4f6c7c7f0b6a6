import { checksumAddress, termsOf } from '../../../src/payment/address.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import type { CreateInput } from './create-in-world.ts';
import { drawMood, honest, isLie } from './node-mood.ts';
import { drawNumberLie } from './number-lies.ts';
import { HOUR_MS, type SimulatedWorld } from './simulated-world.ts';

/** Kinds of faults; each seed has about half of them, so that rare mixtures come about as well. */
export const faultKinds = [
  'node',
  'reorganization',
  'dropped transaction',
  'dear gas',
  'rival',
  'blocklist',
  'pause',
  'database',
  'clock',
  'death',
  'deadline',
  'merchant',
  'split leases',
  'finality stall',
  'fee cap',
  'lasting lie',
] as const;
export type FaultKind = (typeof faultKinds)[number];

const MAXIMUM_REORGANIZATION = 64;

/** What customers do, and what happens to the chain, its nodes, the database and the clock before a tick. */
export function drawEvents(world: SimulatedWorld, faults: ReadonlySet<FaultKind>): void {
  const { draws, payments } = world;
  const payment = payments.length === 0 ? undefined : payments[draws.between(0, payments.length - 1)];
  if (payment !== undefined && draws.chance(35)) {
    world.chain.submit({ kind: 'mint', to: payment.depositAddress, units: drawUnits(world, payment) });
  }
  if (faults.has('node')) drawNodes(world, payment);
  drawChainEvents(world, faults, payment);
  if (faults.has('database')) drawTrouble(world);
  if (faults.has('clock') && draws.chance(6)) {
    world.time.skewMs = draws.oneOf([-HOUR_MS, 0, HOUR_MS]);
    world.recorder.fault(`clock ${world.time.skewMs / HOUR_MS} h`);
  }
  if (faults.has('split leases') && draws.chance(20)) {
    world.leases.isSplit = draws.chance(70);
    if (world.leases.isSplit) world.recorder.fault('split leases');
  }
  recordTogether(world);
}

/** Faults of one endpoint, or of all their finality, of which each is met alone and each two are met at once. */
export const endpointFaults = [
  'fabricated logs',
  'omitted logs',
  'behind',
  'hung',
  'load balancer',
  'fee cap',
  'finality stall',
] as const;

/** Records which of these faults the next tasks meet: one alone, or each two of several. */
function recordTogether({ moods, feeCapsWei, chain, recorder }: SimulatedWorld): void {
  const active = new Set<string>(moods.map(({ kind }) => kind).filter((kind) => kind !== 'honest'));
  if (feeCapsWei.some((cap) => cap !== null)) active.add('fee cap');
  if (chain.isFinalityStalled) active.add('finality stall');
  const met = endpointFaults.filter((fault) => active.has(fault));
  const [only] = met;
  if (only !== undefined && active.size === 1) recorder.together(`${only} alone`);
  for (const [index, one] of met.entries()) {
    for (const other of met.slice(index + 1)) recorder.together(`${one} + ${other}`);
  }
}

/** Names of what `recordTogether` can record. */
export function allTogether(): string[] {
  return endpointFaults.flatMap((one, index) => [
    `${one} alone`,
    ...endpointFaults.slice(index + 1).map((other) => `${one} + ${other}`),
  ]);
}

function drawUnits({ draws }: SimulatedWorld, { paidThresholdUnits }: Payment): bigint {
  const odd = BigInt(draws.between(1, 9_999));
  return draws.oneOf([
    paidThresholdUnits,
    paidThresholdUnits,
    paidThresholdUnits + odd,
    paidThresholdUnits * 2n + odd,
    paidThresholdUnits - 1n,
    paidThresholdUnits / 2n,
    paidThresholdUnits / 2n + odd,
    1n,
    odd,
    200_000n,
  ]);
}

function drawNodes(
  { draws, moods, chain, recorder, lastingLie }: SimulatedWorld,
  payment: Payment | undefined,
): void {
  for (const [index, mood] of moods.entries()) {
    if (mood === lastingLie) continue;
    if (mood.kind !== 'honest' && draws.chance(30)) moods[index] = honest;
    if (!draws.chance(15)) continue;
    const isOnlyLiar = moods.every((other, place) => place === index || !isLie(other));
    const next = drawMood(draws, { chain, payment, nodes: moods.length, isOnlyLiar });
    moods[index] = next;
    const kind = next.kind === 'lying numbers' ? `lying about ${next.lie.about}` : next.kind;
    recorder.fault(`node: ${kind}, one of ${moods.length}`);
  }
}

function drawChainEvents(
  world: SimulatedWorld,
  faults: ReadonlySet<FaultKind>,
  payment: Payment | undefined,
): void {
  const { draws, chain, recorder } = world;
  const happens = (kind: FaultKind, percent: number) => {
    if (!faults.has(kind) || !draws.chance(percent)) return false;
    recorder.fault(kind);
    return true;
  };
  const deepest = Math.min(MAXIMUM_REORGANIZATION, chain.latest.number - chain.finalNumber);
  if (deepest > 0 && happens('reorganization', 12)) {
    chain.reorganize(draws.between(1, deepest), draws.oneOf([0, 50, 90]));
  }
  if (happens('dropped transaction', 10)) {
    for (const [hash, { sender }] of chain.pool) {
      if (sender !== null && draws.chance(70)) chain.pool.delete(hash);
    }
  }
  if (faults.has('finality stall') && draws.chance(8)) {
    chain.isFinalityStalled = draws.chance(60);
    if (chain.isFinalityStalled) recorder.fault('finality stall');
  }
  if (faults.has('dear gas') && draws.chance(15)) {
    chain.baseFee = BigInt(draws.oneOf([30, 30, 60, 200, 900])) * 10n ** 9n;
    recorder.fault('dear gas');
  }
  if (payment === undefined) return;
  if (happens('rival', 8)) {
    chain.submit({ kind: 'forward', terms: [termsOf(payment)] });
  }
  if (happens('blocklist', 8)) {
    const account = draws.chance(80) ? payment.payoutAddress : world.feeWallet;
    chain.submit({ kind: 'blocklist', account, isOn: draws.chance(50) });
  }
  if (happens('pause', 6)) chain.submit({ kind: 'pause', isOn: draws.chance(50) });
}

function drawTrouble({ draws, trouble }: SimulatedWorld): void {
  if (trouble.percent > 0 && draws.chance(40)) trouble.percent = 0;
  else if (draws.chance(10)) trouble.percent = draws.oneOf([10, 30, 100]);
}

/**
 * A cap for each node on what the gas limit of a transaction may cost: none, or so low that not every batch fits. At the
 * usual 85 gwei a release may cost 0.013 POL, and one with two others 0.027.
 */
export function drawFeeCaps({ draws, moods, recorder }: SimulatedWorld): (bigint | null)[] {
  return moods.map(() => {
    if (!draws.chance(80)) return null;
    recorder.fault('node: fee cap');
    return BigInt(draws.oneOf([13, 20, 26])) * 10n ** 15n;
  });
}

/** Which of three nodes lies for ever. */
const LASTING_LIAR = 0;

/** Lets one of three nodes lie about a number until the end. */
export function beginLastingLie(world: SimulatedWorld): void {
  if (world.moods.length < 3) return;
  const lie = drawNumberLie(world.draws, true);
  world.lastingLie = { kind: 'lying numbers', lie };
  world.moods[LASTING_LIAR] = world.lastingLie;
  world.areNodesHonest = false;
  world.recorder.fault(`lasting lie about ${lie.about}`);
}

/**
 * Ends all that is wrong; what is in the air stays, and so do fee caps, which are settings of the nodes, and a lasting
 * lie, which must stop nothing.
 */
export function endFaults(world: SimulatedWorld): void {
  const { chain, moods, trouble, time } = world;
  world.isCalm = true;
  moods.fill(honest);
  if (world.lastingLie !== null) moods[LASTING_LIAR] = world.lastingLie;
  chain.isFinalityStalled = false;
  trouble.percent = 0;
  time.skewMs = 0;
  world.leases.isSplit = false;
  chain.baseFee = 30n * 10n ** 9n;
  chain.submit({ kind: 'pause', isOn: false });
  for (const account of [world.feeWallet, ...world.payments.map(({ payoutAddress }) => payoutAddress)]) {
    chain.submit({ kind: 'blocklist', account, isOn: false });
  }
}

export function drawCreate({ draws }: SimulatedWorld): CreateInput {
  return {
    payoutAddress: checksumAddress(draws.hex(40)),
    amountCents: draws.oneOf([1_000, 2_499, 9_999, 10_000, 123_457]),
    passFeeToCustomer: draws.chance(30),
    idempotencyKey: draws.hex(16),
  };
}
