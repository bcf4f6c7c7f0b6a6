import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { observations, payment, view } from '../../../test/support/payment-views.ts';
import type { Payment, PaymentId } from '../../payment/payment.ts';
import type { Decide } from '../../payment/payment-store.ts';
import { defaultRelayLimits } from '../batch-and-gas-limits.ts';
import {
  CallRevertedError,
  ChainUnavailableError,
  type FeeQuote,
  type RelayTransaction,
  TransactionRefusedError,
} from '../chain/chain.ts';
import type { RelayAttempt, RelayBatch } from '../settlement-store.ts';
import { createRelayMemory, type RelayContext, type RelayIncident } from './relay-context.ts';
import {
  broadcastOrShrink,
  costOf,
  feeBudgetOf,
  forwardCall,
  ignoreRefusal,
  isAboutFunds,
  isUnderpriced,
  replaceByDearer,
  replaceBySelfTransfer,
  replaceOverdue,
  replaceRefused,
  shrinkToGasLimit,
  transactionOf,
  unaffordableError,
} from './size-batch.ts';

const ADDRESS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const TOKEN = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
const NOW_MS = 1_800_000_000_000;
const idOf = (index: number): PaymentId => `019a9d5a-0000-7000-8000-${String(index).padStart(12, '0')}`;
const due = (index: number, change: Partial<Payment> = {}) =>
  payment('unpaid/ready', { id: idOf(index), ...change });
const many = (count: number) => Array.from({ length: count }, (_, index) => due(index));
const fees: FeeQuote = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n };
/** Our own gas figure for a number of releases, and the gas limit, which is a quarter above. */
const ownGasOf = (count: number) => 55_000n + 95_500n * BigInt(count);
const figureOf = (count: number) => (ownGasOf(count) * 5n) / 4n;

interface World {
  /** The gas that a call needs by its number of releases, or why it would fail. */
  readonly gasOf?: (count: number) => bigint | Error;
  readonly balanceWei?: bigint;
  readonly quote?: FeeQuote;
  /** Refusals of the first broadcasts, in order. Later broadcasts succeed. */
  readonly refusals?: readonly Error[];
  readonly stored?: readonly Payment[];
  readonly batchSize?: number;
}

function createWorld({
  gasOf = figureOf,
  balanceWei = 10n ** 30n,
  quote = fees,
  refusals = [],
  stored = many(8),
  batchSize = 100,
}: World = {}) {
  const time = { nowMs: NOW_MS };
  const incidents: RelayIncident[] = [];
  const signed: { transaction: RelayTransaction; nonce: number; gasLimit: bigint; fees: FeeQuote }[] = [];
  const replaced: { id: number; nowMs: number; decide: Decide }[] = [];
  const sent: string[] = [];
  const left = [...refusals];
  const context = {
    nowMs: () => time.nowMs,
    limits: { ...defaultRelayLimits, maximumTransactionFeeWei: 10n ** 24n, releasesPerBatch: batchSize },
    memory: createRelayMemory(),
    onIncident: (incident: RelayIncident) => void incidents.push(incident),
    payments: {
      findPaymentById: async (id: PaymentId) => stored.find((one) => one.id === id) ?? null,
    },
    relay: {
      async replaceBatch(id: number, batch: Omit<RelayBatch, 'id'>, nowMs: number, decide: Decide) {
        replaced.push({ id, nowMs, decide });
        return { ...batch, id: id + 1 };
      },
    },
    relayer: {
      address: ADDRESS,
      quoteFees: async () => quote,
      readGasBalance: async () => balanceWei,
      async estimateGas({ terms }: { terms: readonly unknown[] }) {
        const gas = gasOf(terms.length);
        if (gas instanceof Error) throw gas;
        return gas;
      },
      async sign(transaction: RelayTransaction, nonce: number, gasLimit: bigint, offered: FeeQuote) {
        signed.push({ transaction, nonce, gasLimit, fees: offered });
        return { ...offered, hash: '0x1', rawTransaction: `signed ${signed.length}` };
      },
      async broadcast(rawTransaction: string) {
        sent.push(rawTransaction);
        const refusal = left.shift();
        if (refusal !== undefined) throw refusal;
      },
    },
  } as unknown as RelayContext;
  return { context, time, incidents, signed, replaced, sent };
}

function attempt(maxFeePerGas = 100n): RelayAttempt {
  const hash = '0x0';
  return { hash, rawTransaction: 'first', maxFeePerGas, maxPriorityFeePerGas: 10n, signedAtMs: 0 };
}

function batchOf(count: number, change: Partial<RelayBatch> = {}): RelayBatch {
  return {
    id: 7,
    relayer: ADDRESS,
    nonce: 5,
    kind: 'forward',
    rescueToken: null,
    gasLimit: figureOf(count),
    paymentIds: many(count).map(({ id }) => id),
    attempts: [attempt()],
    createdAtMs: 0,
    ...change,
  };
}

const refusal = (message: string) => new TransactionRefusedError(message);
const tooLarge = refusal('exceeds block gas limit');

describe('what transactions may cost', () => {
  it('is the gas limit of each at the fee of its last attempt', () => {
    expect(costOf([])).toBe(0n);
    const batches = [
      { gasLimit: 3n, attempts: [attempt(1_000n), attempt(10n)] },
      { gasLimit: 5n, attempts: [attempt(100n)] },
    ];
    expect(costOf(batches)).toBe(530n);
  });

  it.each([
    [100n, 30n, 70n],
    [100n, 0n, 80n],
    [100n, 20n, 80n],
    [100n, 100n, 0n],
    [100n, 101n, 0n],
  ])('is, of a balance of %i and %i for others, %i', (balanceWei, othersWei, budgetWei) => {
    expect(feeBudgetOf({ maximumTransactionFeeWei: 80n }, balanceWei, othersWei)).toBe(budgetWei);
  });

  it('names what is too little: the balance, or the operator’s limit', () => {
    const { context } = createWorld();
    const limits = { ...defaultRelayLimits, maximumTransactionFeeWei: 80n };
    const messageAt = (budgetWei: bigint) =>
      unaffordableError({ relayer: context.relayer, limits }, 90n, budgetWei).message;
    const cost = 'and the transaction may cost 90 wei';
    expect(messageAt(79n)).toBe(`insufficient funds for gas: relayer ${ADDRESS} can spend 79 wei, ${cost}`);
    expect(messageAt(80n)).toBe(`RELAY_MAX_FEE_POL allows 80 wei, ${cost}`);
  });
});

describe('the payments that share a transaction', () => {
  const shrink = (world: ReturnType<typeof createWorld>, count: number, budgetWei = 10n ** 30n) =>
    shrinkToGasLimit(world.context, many(count), { fees, budgetWei });
  const reverted = new CallRevertedError('the call would fail: blocklisted');

  it('are all of them where they can be released together, with the gas of the estimate', async () => {
    const world = createWorld({ gasOf: (count) => 1_000n * BigInt(count) });
    expect(await shrink(world, 5)).toEqual({ payments: many(5), gasLimit: 5_000n });
    expect(world.incidents).toEqual([]);
    expect(world.context.memory.largestBatch).toBeNull();
  });

  it.each([
    [7, 3, 2],
    [8, 4, 4],
    [8, 1, 1],
    [5, 4, 3],
  ])('are of %i, where at most %i do not fail, the first %i, and it is told', async (count, most, kept) => {
    const world = createWorld({ gasOf: (size) => (size > most ? reverted : 1_000n) });
    expect((await shrink(world, count)).payments).toEqual(many(kept));
    expect(world.incidents).toEqual([{ kind: 'halved_batch', fromPayments: count, toPayments: kept }]);
    expect(world.context.memory.largestBatch).toBe(kept);
  });

  it('are none where the first fails alone', async () => {
    const world = createWorld({ gasOf: () => reverted });
    await expect(shrink(world, 3)).rejects.toBe(reverted);
  });

  it('make the next transaction half as large where nodes cannot be asked', async () => {
    const down = new ChainUnavailableError('timeout');
    const world = createWorld({ gasOf: () => down });
    await expect(shrink(world, 7)).rejects.toBe(down);
    expect(world.context.memory.largestBatch).toBe(4);
    const mistaken = createWorld({ gasOf: () => new Error('a mistake of our own') });
    await expect(shrink(mistaken, 7)).rejects.toThrow('a mistake of our own');
    expect(mistaken.context.memory.largestBatch).toBeNull();
  });

  it('are as many as the budget pays for, without being remembered as a failure', async () => {
    const gasOf = (count: number) => 100n + 1_000n * BigInt(count);
    const costWei = (count: number) => gasOf(count) * fees.maxFeePerGas;
    const world = createWorld({ gasOf });
    expect((await shrink(world, 8, costWei(8))).payments).toHaveLength(8);
    expect((await shrink(world, 8, costWei(8) - 1n)).payments).toHaveLength(7);
    expect((await shrink(world, 8, costWei(3))).payments).toHaveLength(3);
    expect((await shrink(world, 8, costWei(1))).payments).toHaveLength(1);
    expect(world.incidents).toEqual([]);
    await expect(shrink(world, 8, costWei(1) - 1n)).rejects.toThrow(
      unaffordableError(world.context, costWei(1), costWei(1) - 1n),
    );
  });

  it('keep within any budget, and to what can be released together', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        fc.bigInt(0n, 6_000_000n),
        async (count, most, budgetWei) => {
          const gasOf = (size: number) => (size > most ? reverted : 100n + 1_000n * BigInt(size));
          const { payments, gasLimit } = await shrink(createWorld({ gasOf }), count, budgetWei).catch(
            (error: unknown) => {
              expect(error).toBeInstanceOf(TransactionRefusedError);
              expect(budgetWei < 110_000n).toBe(true);
              return { payments: many(1), gasLimit: 0n };
            },
          );
          expect(payments).toEqual(many(payments.length));
          expect(payments.length).toBeLessThanOrEqual(Math.min(count, most));
          expect(gasLimit * fees.maxFeePerGas <= budgetWei).toBe(true);
        },
      ),
    );
  });

  it('get our own figure in place of an estimate, where it is asked for and after every other failure', async () => {
    const limitOf = async (noOpBatches: number, bounds: { readonly isOwnGas?: boolean } = {}) => {
      const { context } = createWorld({ gasOf: () => 1_000n });
      const payments = [due(0), due(1, { noOpBatches })];
      return (await shrinkToGasLimit(context, payments, { fees, budgetWei: 10n ** 30n, ...bounds })).gasLimit;
    };
    expect([await limitOf(0), await limitOf(2), await limitOf(4)]).toEqual([1_000n, 1_000n, 1_000n]);
    expect([await limitOf(1), await limitOf(3)]).toEqual([ownGasOf(2), ownGasOf(2)]);
    expect(await limitOf(0, { isOwnGas: true })).toBe(ownGasOf(2));
    expect(await limitOf(0, { isOwnGas: false })).toBe(1_000n);
  });

  it('double with each success up to the limit, once ten minutes have passed since a refusal', async () => {
    const world = createWorld({ gasOf: () => 1_000n, batchSize: 16 });
    const { memory } = world.context;
    const next = async () => {
      await shrink(world, 1);
      return memory.largestBatch;
    };
    memory.largestBatch = 2;
    expect([await next(), await next(), await next(), await next()]).toEqual([4, 8, null, null]);
    memory.largestBatch = 2;
    memory.refusedAtMs = NOW_MS - 599_999;
    expect(await next()).toBe(2);
    memory.refusedAtMs = NOW_MS - 600_000;
    expect(await next()).toBe(4);
  });
});

describe('a refusal of nodes', () => {
  it.each([
    'transaction underpriced',
    'max fee per gas less than block base fee',
    'tip too low: minimum 25 gwei',
    'Gas price below the minimum',
  ])('%j asks for another price', (message) => {
    expect(isUnderpriced(refusal(message))).toBe(true);
    expect(isAboutFunds(refusal(message))).toBe(true);
  });

  it.each([
    'insufficient funds for gas * price + value',
    'insufficient balance',
    'transaction would cause overdraft: overshot 5',
    'nonce too high',
    'nonce is too high',
    'gapped-nonce tx from delegated accounts',
    'txpool is full',
    'pool is full',
    'pool overflow',
    'queue is full',
    'queued limit exceeded',
    'queue limit',
    'tx fee (2.10 ether) exceeds the configured cap (1.00 ether)',
  ])('%j says nothing against the release, and asks for no other price', (message) => {
    expect(isUnderpriced(refusal(message))).toBe(false);
    expect(isAboutFunds(refusal(message))).toBe(true);
  });

  it.each(['exceeds block gas limit', 'multiple inputs', 'nonce too low', 'oversized data'])(
    '%j may be about the release',
    (message) => {
      expect(isUnderpriced(refusal(message))).toBe(false);
      expect(isAboutFunds(refusal(message))).toBe(false);
    },
  );

  it('is passed over where the transaction is sent again later, and nothing else is', () => {
    expect(() => ignoreRefusal(tooLarge)).not.toThrow();
    const down = new ChainUnavailableError('timeout');
    expect(() => ignoreRefusal(down)).toThrow(down);
  });
});

describe('a batch that every node refuses', () => {
  it('is replaced at its nonce by half of its payments, and the others are due at once', async () => {
    const world = createWorld({ refusals: [tooLarge] });
    world.context.memory.firstSeenMs.set(7, 1);
    const standing = await broadcastOrShrink(world.context, batchOf(5), 0n);
    const kept = many(3).map(({ id }) => id);
    expect(standing).toMatchObject({
      id: 8,
      nonce: 5,
      kind: 'forward',
      paymentIds: kept,
      gasLimit: figureOf(3),
      createdAtMs: NOW_MS,
      attempts: [{ rawTransaction: 'signed 1', signedAtMs: NOW_MS }],
    });
    expect(standing.attempts).toHaveLength(1);
    expect(world.sent).toEqual(['first', 'signed 1']);
    expect(world.signed).toEqual([
      { transaction: forwardCall(many(3)), nonce: 5, gasLimit: figureOf(3), fees },
    ]);
    expect(world.incidents).toEqual([{ kind: 'replaced_batch', batchId: 7, fromPayments: 5, toPayments: 3 }]);
    expect(world.context.memory).toMatchObject({ largestBatch: 3, refusedAtMs: NOW_MS });
    expect(world.context.memory.firstSeenMs.size).toBe(0);
    const [{ id, nowMs, decide }] = world.replaced as [(typeof world.replaced)[number]];
    expect([id, nowMs]).toEqual([7, NOW_MS]);
    const held = observations([{ units: 100n, blockNumber: 11, logIndex: 0, transactionHash: 'in' }]);
    const decided = (index: number) => decide(view(due(index), held))?.change.releaseDueAtMs;
    expect([decided(0), decided(4)]).toEqual([NOW_MS, NOW_MS]);
    const later = (index: number) =>
      decide(view(due(index, { releaseDueAtMs: 5 }), held))?.change.releaseDueAtMs;
    expect([later(0), later(4)]).toEqual([undefined, NOW_MS]);
  });

  it('ends with the last refusal where even one payment is refused at the same price', async () => {
    const world = createWorld({ refusals: [tooLarge, tooLarge, refusal('the last one')] });
    await expect(broadcastOrShrink(world.context, batchOf(4), 0n)).rejects.toThrow('the last one');
    expect(world.sent).toHaveLength(3);
  });

  it('ends where a node estimates 1 gas and also refuses our own figure', async () => {
    const refusals = Array.from(
      { length: 50 },
      () => new TransactionRefusedError('exceeds the configured cap'),
    );
    const world = createWorld({ gasOf: () => 1n, refusals });
    await expect(broadcastOrShrink(world.context, batchOf(4), 0n)).rejects.toThrow('configured cap');
    expect(world.sent.length).toBeLessThan(10);
  });

  it.each(['nonce too high', 'txpool is full'])(
    'stays as it is while it waits for its turn: %s',
    async (message) => {
      const world = createWorld({ refusals: [refusal(message)] });
      const batch = batchOf(4);
      expect(await broadcastOrShrink(world.context, batch, 0n)).toBe(batch);
      expect(world.replaced).toEqual([]);
      expect(await replaceRefused(world.context, batch, refusal(message), 0n)).toBeNull();
    },
  );

  it('is not made smaller for its price, nor where nodes cannot be asked', async () => {
    const underpriced = createWorld({ refusals: [refusal('underpriced')] });
    await expect(broadcastOrShrink(underpriced.context, batchOf(4), 0n)).rejects.toThrow('underpriced');
    const down = createWorld({ refusals: [new ChainUnavailableError('timeout')] });
    await expect(broadcastOrShrink(down.context, batchOf(4), 0n)).rejects.toThrow('timeout');
    expect([...underpriced.replaced, ...down.replaced]).toEqual([]);
  });

  it('is signed anew for all of its payments, with our own figure, where its gas is odd', async () => {
    const replacedAt = async (gasLimit: bigint) => {
      const { context } = createWorld({ gasOf: () => 1_000n });
      const replacement = await replaceRefused(context, batchOf(4, { gasLimit }), tooLarge, 0n);
      return [replacement?.paymentIds.length, replacement?.gasLimit, context.memory.largestBatch];
    };
    const least = ownGasOf(4) / 2n;
    expect(await replacedAt(least - 1n)).toEqual([4, ownGasOf(4), null]);
    expect(await replacedAt(figureOf(4) + 1n)).toEqual([4, ownGasOf(4), null]);
    for (const gasLimit of [least, figureOf(4)]) expect(await replacedAt(gasLimit)).toEqual([2, 1_000n, 2]);
  });

  it('costs at most seven eighths of what it cost, and what the balance leaves beside others', async () => {
    const single = batchOf(1);
    const costWei = single.gasLimit * 100n;
    const replacedWith = async (maxFeePerGas: bigint, balanceWei = 10n ** 30n, othersWei = 0n) => {
      const world = createWorld({ quote: { maxFeePerGas, maxPriorityFeePerGas: 1n }, balanceWei });
      return replaceRefused(world.context, single, tooLarge, othersWei);
    };
    expect((await replacedWith(87n))?.paymentIds).toEqual(single.paymentIds);
    expect(await replacedWith(88n)).toBeNull();
    expect(await replacedWith(87n, costWei + 5n, 5n)).not.toBeNull();
    expect(await replacedWith(87n, costWei, costWei)).toBeNull();
  });

  it('that is no release is signed anew only when gas has become cheaper', async () => {
    const rescue = batchOf(1, { kind: 'rescue', rescueToken: TOKEN });
    const replacedAt = async (batch: RelayBatch, maxFeePerGas: bigint) => {
      const world = createWorld({ quote: { maxFeePerGas, maxPriorityFeePerGas: 1n } });
      const replacement = await replaceRefused(world.context, batch, tooLarge, 0n);
      return { replacement, ...world };
    };
    // The maximum is seven eighths of 100, which is 87.5.
    const cheaper = await replacedAt({ ...rescue, gasLimit: 80_000n }, 87n);
    expect(cheaper.replacement).toMatchObject({
      kind: 'rescue',
      nonce: 5,
      gasLimit: 80_000n,
      attempts: [{ rawTransaction: 'signed 1', maxFeePerGas: 87n }],
    });
    expect(cheaper.replacement?.paymentIds).toEqual(rescue.paymentIds);
    expect(cheaper.signed[0]?.transaction).toMatchObject({ kind: 'rescue', token: TOKEN });
    expect(cheaper.replaced[0]?.decide(view(due(0)))).toBeNull();
    expect((await replacedAt({ ...rescue, gasLimit: 80_000n }, 88n)).replacement).toBeNull();
    const exact = { ...rescue, gasLimit: 80_000n, attempts: [attempt(800n)] };
    expect((await replacedAt(exact, 700n)).replacement).not.toBeNull();
  });

  it('stays where a release fails alone, and where its own mistake is seen it is thrown', async () => {
    const failing = createWorld({ gasOf: () => new CallRevertedError('would fail') });
    expect(await replaceRefused(failing.context, batchOf(2), tooLarge, 0n)).toBeNull();
    expect(failing.context.memory.largestBatch).toBeNull();
    const mistaken = createWorld({ gasOf: () => new Error('a mistake') });
    await expect(replaceRefused(mistaken.context, batchOf(2), tooLarge, 0n)).rejects.toThrow('a mistake');
  });
});

describe('a batch that is not mined in time', () => {
  const overdue = async (batch: RelayBatch, budgetWei = 10n ** 30n) => {
    const world = createWorld({ gasOf: () => 1_000n });
    const replacement = await replaceOverdue(world.context, batch, { fees, budgetWei });
    return { replacement, ...world };
  };

  it('is replaced by half of its payments, with our own figure for the gas', async () => {
    const { replacement, context } = await overdue(batchOf(5));
    expect(replacement).toMatchObject({ nonce: 5, gasLimit: ownGasOf(2) });
    expect(replacement?.paymentIds).toEqual(many(2).map(({ id }) => id));
    expect(context.memory.refusedAtMs).toBeNull();
  });

  it('keeps all of its payments where its gas is odd', async () => {
    expect((await overdue(batchOf(5, { gasLimit: 1_000n }))).replacement?.paymentIds).toHaveLength(5);
    expect((await overdue(batchOf(1, { gasLimit: figureOf(1) + 1n }))).replacement?.paymentIds).toHaveLength(
      1,
    );
  });

  it('stays where it has a single payment, is no release, or the budget covers none', async () => {
    expect((await overdue(batchOf(1))).replacement).toBeNull();
    const rescue = batchOf(4, { kind: 'rescue', rescueToken: TOKEN, gasLimit: 1_000n });
    expect((await overdue(rescue)).replacement).toBeNull();
    expect((await overdue(batchOf(4), 1n)).replacement).toBeNull();
  });
});

describe('a batch whose fees must rise', () => {
  const dearer = async (batch: RelayBatch, balanceWei: bigint, othersWei: bigint) => {
    const world = createWorld({ balanceWei });
    const quote = { maxFeePerGas: 200n, maxPriorityFeePerGas: 20n };
    const replacement = await replaceByDearer(world.context, batch, quote, othersWei);
    return { replacement, ...world };
  };

  it('keeps as many payments as the balance covers beside the other transactions', async () => {
    const { replacement, signed } = await dearer(batchOf(4), figureOf(3) * 200n + 9n, 9n);
    expect(replacement?.paymentIds).toEqual(many(3).map(({ id }) => id));
    expect(signed[0]?.fees.maxFeePerGas).toBe(200n);
  });

  it('stays where not even one is covered, or it is no release', async () => {
    expect((await dearer(batchOf(4), 1n, 0n)).replacement).toBeNull();
    const rescue = batchOf(1, { kind: 'rescue', rescueToken: TOKEN });
    expect((await dearer(rescue, 10n ** 30n, 0n)).replacement).toBeNull();
  });
});

describe('a nonce that is spent without its payments', () => {
  it('carries a transfer to the key itself, and the caller says what becomes of releases', async () => {
    const world = createWorld();
    const decision = { change: { releaseRefusals: 1 } };
    const replacement = await replaceBySelfTransfer(world.context, batchOf(2), fees, () => decision);
    expect(replacement).toMatchObject({
      kind: 'self_transfer',
      nonce: 5,
      gasLimit: 21_000n,
      paymentIds: [],
      rescueToken: null,
      attempts: [{ rawTransaction: 'signed 1', signedAtMs: NOW_MS }],
    });
    expect(world.signed).toEqual([
      { transaction: { kind: 'self_transfer' }, nonce: 5, gasLimit: 21_000n, fees },
    ]);
    expect(world.replaced[0]?.decide(view(due(0)))).toBe(decision);
    expect(world.incidents).toMatchObject([{ fromPayments: 2, toPayments: 0 }]);
  });

  it('leaves the payment of a rescue as its observations say', async () => {
    const world = createWorld();
    const rescue = batchOf(1, { kind: 'rescue', rescueToken: TOKEN });
    await replaceBySelfTransfer(world.context, rescue, fees, () => ({ change: { releaseRefusals: 1 } }));
    expect(world.replaced[0]?.decide(view(payment('unpaid/pending')))).toBeNull();
  });
});

describe('what a stored batch does', () => {
  it('is read again from its payments, in its order', async () => {
    const { context } = createWorld();
    const batch = batchOf(2, { paymentIds: [idOf(3), idOf(1)] });
    const call = forwardCall([due(3), due(1)]);
    expect(call).toMatchObject({ kind: 'forward', factory: due(3).factory });
    expect(call.terms).toHaveLength(2);
    expect(call.terms[0]).not.toEqual(call.terms[1]);
    expect(await transactionOf(context, batch)).toEqual(call);
    const rescue = { ...batch, kind: 'rescue', rescueToken: TOKEN } as const;
    expect(await transactionOf(context, rescue)).toEqual({ ...call, kind: 'rescue', token: TOKEN });
    const transfer = { ...batch, kind: 'self_transfer', paymentIds: [] } as const;
    expect(await transactionOf(context, transfer)).toEqual({ kind: 'self_transfer' });
  });

  it('cannot be told where a payment is unknown', async () => {
    const { context } = createWorld({ stored: [] });
    await expect(transactionOf(context, batchOf(1))).rejects.toThrow(
      `relay batch 7 carries the unknown payment ${idOf(0)}`,
    );
  });
});
