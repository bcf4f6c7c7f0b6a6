import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { amountMismatchOf, isDust } from '../../src/domain/paid-threshold.ts';
import type { Payment } from '../../src/domain/payment.ts';
import { type PaymentState, paymentTransitions, stateOf } from '../../src/domain/payment-states.ts';
import { MINIMUM_SURPLUS_UNITS } from '../../src/domain/settle.ts';
import type { LocalChain } from '../chain/local-chain.ts';
import {
  CrashError,
  ENOUGH_UNITS,
  EXPIRY_MS,
  openSettlement,
  type Settlement,
  startSettlementChain,
} from './harness.ts';

let chain: LocalChain;

const FINALITY_BLOCKS = 6;
const PAYMENTS = 3;
const RUNS = 20;

beforeAll(async () => {
  chain = await startSettlementChain({ slotsInAnEpoch: FINALITY_BLOCKS / 2 });
});
afterAll(() => chain.stop());

type Command =
  | { readonly kind: 'deposit'; readonly payment: number; readonly units: bigint }
  | { readonly kind: 'mine'; readonly blocks: number }
  | { readonly kind: 'reorganize'; readonly depth: number }
  | {
      readonly kind:
        | 'watch'
        | 'relay'
        | 'expire'
        | 'crash'
        | 'drop'
        | 'crashAtBroadcast'
        | 'bump'
        | 'passDeadline';
    }
  | { readonly kind: 'rival' | 'cancel' | 'release' | 'blocklist'; readonly payment: number };

/** Runs that failed once, and one to an end that random commands do not always reach. */
const examples: [Command[]][] = [
  [
    // A canceled payment that receives money, which is released at the end.
    [
      { kind: 'cancel', payment: 0 },
      { kind: 'deposit', payment: 0, units: ENOUGH_UNITS },
      { kind: 'mine', blocks: 4 },
      { kind: 'watch' },
    ],
  ],
  [
    // A payment that is paid, and then paid a second time: it becomes overpaid.
    [
      { kind: 'deposit', payment: 0, units: ENOUGH_UNITS },
      { kind: 'mine', blocks: 1 },
      { kind: 'watch' },
      { kind: 'relay' },
      { kind: 'mine', blocks: 4 },
      { kind: 'mine', blocks: 4 },
      { kind: 'relay' },
      { kind: 'watch' },
      { kind: 'deposit', payment: 0, units: ENOUGH_UNITS },
      { kind: 'mine', blocks: 4 },
      { kind: 'watch' },
    ],
  ],
];

const onePayment = fc.nat(PAYMENTS - 1);

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant('deposit' as const),
      payment: onePayment,
      units: fc.constantFrom(1n, 53_100_000n, 60_000_001n, ENOUGH_UNITS - 1n, ENOUGH_UNITS, 95_000_003n),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reorganize' as const),
      depth: fc.integer({ min: 1, max: FINALITY_BLOCKS - 1 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('watch' as const, 'relay' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('crash' as const, 'crashAtBroadcast' as const, 'drop' as const, 'bump' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('expire' as const, 'passDeadline' as const) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('rival' as const, 'cancel' as const, 'release' as const),
      payment: onePayment,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('blocklist' as const), payment: onePayment }) },
);

/** What a person asks for may be refused because of the payment's state; nothing else may go wrong. */
async function ask(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if ((error as { errorName?: unknown }).errorName !== 'payment_state_conflict') throw error;
  });
}

async function run(settlement: Settlement, payments: readonly Payment[], step: Command): Promise<void> {
  const payment = payments['payment' in step ? step.payment : 0] as Payment;
  switch (step.kind) {
    case 'deposit':
      return void (await settlement.deposit(payment, step.units));
    case 'mine':
      return settlement.mine(step.blocks);
    case 'reorganize':
      return settlement.reorganize(step.depth);
    case 'watch':
      return void (await settlement.watch());
    case 'relay':
      return void (await settlement.relay());
    case 'expire':
      return void (await settlement.expire());
    case 'passDeadline':
      return settlement.advance(EXPIRY_MS);
    case 'bump':
      return bump(settlement);
    case 'drop':
      return settlement.dropWaiting();
    case 'crash':
      return settlement.crash();
    case 'crashAtBroadcast':
      settlement.faults.broadcast = () => Promise.reject(new CrashError());
      await settlement.relay().catch((error: unknown) => {
        if (!(error instanceof CrashError)) throw error;
      });
      settlement.faults.broadcast = null;
      return settlement.crash();
    case 'rival':
      return void (await settlement.releaseAsRival(payment));
    case 'cancel':
      return ask(settlement.cancel(payment));
    case 'release':
      return ask(settlement.release(payment));
    case 'blocklist':
      return void (await chain.callToken({ name: 'blacklist', account: payment.payoutAddress }));
  }
}

/** A relay pass after a while, on a chain that asks for twice as much. */
async function bump(settlement: Settlement): Promise<void> {
  settlement.advance(15_000);
  const { maxFeePerGas, maxPriorityFeePerGas } = await settlement.relayer.quoteFees();
  settlement.faults.fees = {
    maxFeePerGas: maxFeePerGas * 2n,
    maxPriorityFeePerGas: maxPriorityFeePerGas * 2n,
  };
  await settlement.relay().finally(() => {
    settlement.faults.fees = null;
  });
}

/** Whether the table leads from one state to another, in no, one or several rows. */
function isReachable(from: PaymentState, to: PaymentState): boolean {
  const reached = new Set([from]);
  for (const state of reached) {
    for (const row of paymentTransitions) if (row.from === state) reached.add(row.to);
  }
  return reached.has(to);
}

/** Every payment moved along the table, has a webhook exactly when paid, and stays what it was once paid. */
async function checkStep(settlement: Settlement, before: readonly Payment[]): Promise<Payment[]> {
  const after: Payment[] = [];
  for (const earlier of before) {
    const now = await settlement.read(earlier);
    expect(isReachable(stateOf(earlier), stateOf(now))).toBe(true);
    expect(await settlement.webhooks(now)).toHaveLength(now.status === 'paid' ? 1 : 0);
    if (earlier.status === 'paid') {
      const { releaseDueAtMs, releaseRefusals, releaseRefusalReason, relayBatchId } = now;
      const { noOpBatches, releaseRequested, amountMismatch } = now;
      const release = { releaseDueAtMs, releaseRefusals, releaseRefusalReason, noOpBatches };
      // A deposit after it became paid may make it overpaid.
      expect(now).toEqual({ ...earlier, ...release, relayBatchId, releaseRequested, amountMismatch });
    }
    after.push(now);
  }
  return after;
}

async function isBlocklisted({ payoutAddress }: Payment): Promise<boolean> {
  const data = `0xfe575a87${payoutAddress.slice(2).toLowerCase().padStart(64, '0')}`;
  return BigInt((await chain.anvil.rpc('eth_call', [{ to: chain.token, data }, 'latest'])) as string) === 1n;
}

/** Lets everything come to its end: no wallet is refused any more, what was canceled is released, time passes. */
async function finish(settlement: Settlement, payments: readonly Payment[]): Promise<void> {
  // What a reorganization put back to the waiting ones is mined first: among it are calls that block a wallet.
  await settlement.mine();
  for (const payment of payments) {
    await chain.callToken({ name: 'unBlacklist', account: payment.payoutAddress });
  }
  await settlement.mine();
  for (const payment of payments) expect(await isBlocklisted(payment)).toBe(false);
  await settlement.settleDown();
  for (const payment of payments) {
    if ((await settlement.read(payment)).status === 'canceled') await ask(settlement.release(payment));
  }
  for (let round = 0; round < 4; round++) {
    await settlement.settleDown();
    settlement.advance(3_600_000);
  }
  await settlement.settleDown();
}

/** Every unit that was deposited is with the merchant, with the fee wallet or still at its address. */
async function checkConservation(settlement: Settlement, payments: readonly Payment[]): Promise<void> {
  let feeUnits = 0n;
  for (const payment of payments) {
    const { deposits, releases } = await settlement.observations(payment);
    const { merchant, held } = await settlement.balancesOf(payment);
    const deposited = deposits.reduce((sum, { units }) => sum + units, 0n);
    const forwarded = releases.reduce((sum, release) => sum + release.toMerchantUnits, 0n);
    const fees = releases.reduce((sum, release) => sum + release.feeUnits, 0n);
    expect({ merchant, held }).toEqual({ merchant: forwarded, held: deposited - forwarded - fees });
    feeUnits += fees;

    const now = await settlement.read(payment);
    expect(now.amountMismatch).toBe(amountMismatchOf(now, deposits));
    const isEnough = deposited >= ENOUGH_UNITS;
    if (now.status === 'paid') expect(held).toBeLessThan(MINIMUM_SURPLUS_UNITS);
    if (now.status === 'unpaid')
      expect({ state: stateOf(now), isEnough }).toEqual({ state: 'unpaid/pending', isEnough: false });
    if (now.status === 'canceled') {
      expect(stateOf(now)).toBe(isDust(now, deposited) ? 'canceled/canceled' : 'canceled/completed');
      expect(isDust(now, deposited - now.receivedUnits)).toBe(true);
    }
    expect(now.relayBatchId).toBeNull();
  }
  expect(await settlement.balanceOf(settlement.feeWallet)).toBe(feeUnits);
}

it('whatever happens in whatever order: no unit is lost, nothing is paid twice, and every state is legal', async () => {
  const ends = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 8, maxLength: 30 }), async (commands) => {
      const settlement = await openSettlement(chain, { finalityBlocks: FINALITY_BLOCKS });
      try {
        await settlement.mine(FINALITY_BLOCKS);
        await settlement.watch();
        let payments: Payment[] = [];
        for (let index = 0; index < PAYMENTS; index++) payments.push(await settlement.create());
        for (const step of commands) {
          await run(settlement, payments, step);
          payments = await checkStep(settlement, payments);
        }
        await finish(settlement, payments);
        payments = await checkStep(settlement, payments);
        await checkConservation(settlement, payments);
        for (const payment of payments) ends.set(stateOf(payment), (ends.get(stateOf(payment)) ?? 0) + 1);
      } finally {
        await settlement.close();
      }
    }),
    // Shrinking on a real chain takes minutes: take `endOnFailure` away for it, and give the printed seed and path.
    { numRuns: RUNS, endOnFailure: true, examples },
  );
  // The commands are worth their time only if they lead everywhere.
  expect(ends.get('paid/completed')).toBeGreaterThan(PAYMENTS);
  expect(ends.get('unpaid/pending')).toBeGreaterThan(0);
  expect(ends.get('canceled/completed')).toBeGreaterThan(0);
}, 180_000);
