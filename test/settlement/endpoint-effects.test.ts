import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { ChainUnavailableError } from '../../src/settlement/chain/chain.ts';
import type { AlteringProxy } from '../chain/altering-proxy.ts';
import {
  denyUpTo,
  fabricate,
  fork,
  hang,
  lagAt,
  moveFinality,
  omitLogsOf,
} from '../chain/endpoint-faults.ts';
import { BLOCK_MS, EXPECTED_UNITS, useSettlement } from './harness.ts';
import { useReadThrough } from './proxies.ts';

/**
 * What one faulty endpoint does with one, two and three hosts: a test for each cell of the threat model's table. The
 * watcher reads the faulty one.
 */

const stage = useSettlement();
const { chain, settlement } = stage;
const hosts = useReadThrough(stage, 500);
const { readThrough } = hosts;

/** A standstill is noticed after twenty seconds; the rest is enough for a payment from its deposit to its end. */
const ROUNDS = 20_000 / BLOCK_MS + 16;
const LAG_BLOCKS = 4;

const cursor = async () => (await settlement.store.observations.readCursor())?.number as number;

/** A block, a pass of the sender and one of the watcher, any of which the endpoint may fail. */
async function runRound(beforeReading: () => Promise<void> = async () => {}): Promise<void> {
  const mayFail = (error: unknown) => expect(error).toBeInstanceOf(ChainUnavailableError);
  await settlement.relay().catch(mayFail);
  await settlement.mine();
  await beforeReading();
  await settlement.watchOnce().catch(mayFail);
}

async function runRounds(beforeReading?: () => Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await runRound(beforeReading);
}

/**
 * More rounds, for what a busy machine did not get done: an honest endpoint that answers too late fails a round as well. At
 * most four times as many as without load.
 */
async function runRoundsUntil(
  isReached: () => Promise<boolean>,
  beforeReading?: () => Promise<void>,
): Promise<void> {
  for (let round = 0; round < 3 * ROUNDS && !(await isReached()); round++) await runRound(beforeReading);
}

/** What happens to an honest payment beside the fault. */
type Effect =
  /** It is paid, with its money. */
  | 'paid'
  /** It waits, and so does the cursor of the watcher. The alert for its age fires. */
  | 'settlement waits'
  /** The same, and the alert for disagreeing endpoints fires. */
  | 'settlement waits, and endpoints disagree'
  /** It waits, while the watcher goes on. */
  | 'the payment waits';

async function expectEffect(effect: Effect, payment: Payment, cursorBefore: number): Promise<void> {
  if (effect === 'paid') {
    await runRoundsUntil(async () => (await settlement.state(payment)) === 'paid/completed');
    expect(await settlement.state(payment)).toBe('paid/completed');
    return;
  }
  if (effect === 'the payment waits')
    await runRoundsUntil(async () => (await cursor()) > cursorBefore + ROUNDS / 2);
  expect((await settlement.read(payment)).status).toBe('unpaid');
  if (effect === 'the payment waits') {
    expect(await cursor()).toBeGreaterThan(cursorBefore + ROUNDS / 2);
    return;
  }
  // A pass may have come as far as the fault.
  expect(await cursor()).toBeLessThan(cursorBefore + 6);
  expect(hosts.seen.doubts.length > 0).toBe(effect.endsWith('endpoints disagree'));
}

interface Row {
  /** The first cell of the row in the document. */
  readonly fault: string;
  /** With one, two and three hosts. */
  readonly effects: readonly [Effect, Effect, Effect];
  readonly begin: (proxy: AlteringProxy, payment: Payment) => Promise<void>;
  /** Whether the faulty endpoint is read again by the second scan. */
  readonly isRescanned?: true;
}

const [waits, disagree] = ['settlement waits', 'settlement waits, and endpoints disagree'] as const;

const rows: readonly Row[] = [
  {
    fault: 'omits a deposit',
    effects: ['the payment waits', 'the payment waits', 'paid'],
    begin: async (proxy, payment) => omitLogsOf(proxy, payment.depositAddress),
    isRescanned: true,
  },
  {
    fault: 'has other blocks (a fork)',
    effects: [waits, disagree, 'paid'],
    begin: async (proxy) => fork(proxy),
  },
  {
    fault: 'reports no new final block',
    effects: [waits, waits, 'paid'],
    async begin(proxy) {
      const frozen = await cursor();
      moveFinality(proxy, () => frozen);
    },
  },
  {
    fault: 'stops',
    effects: [waits, waits, 'paid'],
    begin: async (proxy) => lagAt(proxy, await chain.anvil.blockNumber()),
  },
  { fault: 'hangs or is down', effects: [waits, disagree, 'paid'], begin: async (proxy) => hang(proxy) },
];

describe.each(rows)('an endpoint that $fault', ({ effects, begin, isRescanned }) => {
  it.each([1, 2, 3] as const)('as the first of %i', async (hosts) => {
    const proxy = await readThrough(hosts);
    const payment = await settlement.create();
    const before = await cursor();
    await begin(proxy, payment);
    await settlement.deposit(payment, EXPECTED_UNITS);
    await runRounds();
    if (isRescanned) {
      await settlement.rescan(100).catch(() => {});
      await runRounds();
      await settlement.rescan(100).catch(() => {});
    }
    await expectEffect(effects[hosts - 1] as Effect, payment, before);
  });
});

describe('an endpoint that invents deposits or releases', () => {
  it.each([1, 2, 3] as const)('as the first of %i', async (hosts) => {
    const proxy = await readThrough(hosts);
    const [invented, real] = [await settlement.createDirect(), await settlement.create()];
    const before = await cursor();
    const blockNumber = (await chain.anvil.blockNumber()) + 1;
    fabricate(proxy, {
      deposit: invented.depositAddress,
      units: 100_000_000n,
      blockNumber,
      isReleased: false,
    });
    await settlement.deposit(real, EXPECTED_UNITS);
    await runRounds();
    expect((await settlement.read(invented)).status).toBe(hosts === 1 ? 'paid' : 'unpaid');
    expect(await settlement.balancesOf(invented)).toMatchObject({ merchant: 0n, held: 0n });
    await expectEffect(hosts === 2 ? disagree : 'paid', real, before);
  });
});

describe('an endpoint that reports blocks as final too early', () => {
  it.each([1, 2, 3] as const)('as the first of %i', async (hosts) => {
    const proxy = await readThrough(hosts);
    moveFinality(proxy, (_, latest) => latest);
    const payment = await settlement.createDirect();
    await settlement.deposit(payment, 100_000_000n);
    await runRound();
    expect((await settlement.read(payment)).status).toBe(hosts === 1 ? 'paid' : 'unpaid');
    await runRounds();
    expect((await settlement.read(payment)).status).toBe('paid');
  });
});

describe('an endpoint that lags by some blocks', () => {
  it.each([1, 2, 3] as const)('as the first of %i', async (hosts) => {
    const proxy = await readThrough(hosts);
    const payment = await settlement.create();
    await settlement.deposit(payment, EXPECTED_UNITS);
    const lag = async () => lagAt(proxy, (await chain.anvil.blockNumber()) - LAG_BLOCKS);
    await runRounds(lag);
    const least = async () => (await chain.anvil.blockNumber()) - LAG_BLOCKS - settlement.finalityBlocks;
    const isRead = async () => (await cursor()) >= (await least());
    const isPaid = async () => (await settlement.state(payment)) === 'paid/completed';
    await runRoundsUntil(async () => (await isPaid()) && (await isRead()), lag);
    await expectEffect('paid', payment, 0);
    const leastCursor = await least();
    // Of three hosts, another one may have been read.
    if (hosts < 3) expect(await cursor()).toBe(leastCursor);
    else expect(await cursor()).toBeGreaterThanOrEqual(leastCursor);
  });
});

describe('an endpoint that denies every recorded checkpoint', () => {
  it.each([1, 2, 3] as const)('as the first of %i', async (hosts) => {
    const proxy = await readThrough(hosts);
    const payment = await settlement.create();
    const before = await cursor();
    denyUpTo(proxy, before);
    await settlement.deposit(payment, EXPECTED_UNITS);
    await runRounds();
    expect(settlement.rewinds).toEqual([]);
    // With two hosts the other one is read.
    await expectEffect(hosts === 1 ? waits : 'paid', payment, before);
  });
});

describe('an endpoint that shows a deposit before it is final', () => {
  it.each([1, 2, 3] as const)('as the first of %i', async (hosts) => {
    const proxy = await readThrough(hosts);
    const [early, real] = [await settlement.create(), await settlement.create()];
    const blockNumber = (await chain.anvil.blockNumber()) + 1;
    const lie = { deposit: early.depositAddress, units: EXPECTED_UNITS, isReleased: false };
    fabricate(proxy, { ...lie, blockNumber });
    await settlement.deposit(real, EXPECTED_UNITS);
    for (let round = 1; round < settlement.finalityBlocks; round++) await runRound();
    expect(await settlement.state(early)).not.toBe('unpaid/pending');
    proxy.alter = null;
    await runRounds();
    expect(await settlement.state(early)).toBe('unpaid/pending');
    expect(await settlement.balancesOf(early)).toMatchObject({ merchant: 0n, held: 0n });
    await expectEffect('paid', real, 0);
  });
});
