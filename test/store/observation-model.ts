import fc from 'fast-check';
import { expect, it } from 'vitest';
import { entriesOf, type JournalEntry, netEntries } from '../../src/domain/journal.ts';
import type { Payment } from '../../src/domain/payment.ts';
import type { BlockReference, ScanRecord } from '../../src/domain/ports/settlement-store.ts';
import { givePayments, leave, recordingDecide, type StoreContext } from './fixtures.ts';

/** A transaction of the simulated chain: one log, of one payment. */
interface Transaction {
  readonly hash: string;
  readonly payment: number;
  readonly kind: 'deposit' | 'release';
}

interface SimulatedBlock {
  readonly hash: string;
  readonly transactions: readonly Transaction[];
}

type Command =
  | { readonly kind: 'mine'; readonly transactions: readonly Omit<Transaction, 'hash'>[] }
  | { readonly kind: 'reorganize'; readonly depth: number; readonly shift: number; readonly drop: number }
  | { readonly kind: 'finalize'; readonly blocks: number }
  | { readonly kind: 'scan'; readonly blocks: number }
  | { readonly kind: 'rewind'; readonly checkpoints: number };

const PAYMENTS = 3;

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('mine' as const),
      transactions: fc.array(
        fc.record({
          payment: fc.nat(PAYMENTS - 1),
          kind: fc.constantFrom('deposit' as const, 'release' as const),
        }),
        { maxLength: 3 },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reorganize' as const),
      depth: fc.integer({ min: 1, max: 6 }),
      shift: fc.nat(5),
      drop: fc.integer({ min: 2, max: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('finalize' as const), blocks: fc.nat(4) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('scan' as const), blocks: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rewind' as const), checkpoints: fc.nat(3) }) },
);

/** A chain that mines, reorganizes and finalizes, and knows at each time what is really on it. */
class SimulatedChain {
  blocks: SimulatedBlock[] = [{ hash: 'genesis', transactions: [] }];
  final = 0;
  #last = 0;

  get head(): number {
    return this.blocks.length - 1;
  }

  reference(number: number): BlockReference {
    return { number, hash: this.blocks[number]?.hash as string, timestampMs: number };
  }

  mine(transactions: readonly Omit<Transaction, 'hash'>[]): void {
    this.append(transactions.map((transaction) => ({ ...transaction, hash: `transaction ${++this.#last}` })));
  }

  append(transactions: readonly Transaction[]): void {
    this.blocks.push({ hash: `block ${++this.#last}`, transactions });
  }

  /** Mines the blocks above `keep` anew: some transactions drop out, the others move to other blocks and places. */
  rewrite(keep: number, shift: number, drop: number): void {
    const removed = this.blocks.splice(keep + 1);
    const kept = removed.flatMap((block) => block.transactions).filter((_, index) => index % drop !== 0);
    const length = Math.max(0, removed.length + 2 - shift);
    for (let index = 0; index < length; index++) {
      this.append(kept.filter((_, position) => (position * 3 + shift) % length === index).toReversed());
    }
  }

  /** The logs in blocks (above, upTo]. */
  rows(above: number, upTo: number, payments: readonly Payment[]): Pick<ScanRecord, 'deposits' | 'releases'> {
    const deposits: ScanRecord['deposits'][number][] = [];
    const releases: ScanRecord['releases'][number][] = [];
    for (let blockNumber = above + 1; blockNumber <= upTo; blockNumber++) {
      for (const [logIndex, { hash, payment, kind }] of (
        this.blocks[blockNumber]?.transactions ?? []
      ).entries()) {
        const position = { blockNumber, logIndex, transactionHash: hash };
        const owner = ownerOf(payments[payment] as Payment);
        if (kind === 'deposit') deposits.push({ ...position, ...owner, units: 5n });
        else releases.push({ ...position, ...owner, toMerchantUnits: 4n, feeUnits: 1n });
      }
    }
    return { deposits, releases };
  }
}

/** What the store says is on the chain, in the form in which `rows` says what really is. */
async function readRows({ store }: StoreContext, payments: readonly Payment[]) {
  const deposits: ScanRecord['deposits'][number][] = [];
  const releases: ScanRecord['releases'][number][] = [];
  const views = await Promise.all(payments.map((payment) => store.payments.viewPayment(payment)));
  for (const [index, view] of views.entries()) {
    const payment = payments[index] as Payment;
    for (const deposit of view?.observations.deposits ?? [])
      deposits.push({ ...deposit, ...ownerOf(payment) });
    for (const release of view?.observations.releases ?? [])
      releases.push({ ...release, ...ownerOf(payment) });
  }
  return { deposits: deposits.sort(inChainOrder), releases: releases.sort(inChainOrder) };
}

function ownerOf({ id: paymentId, accountId }: Payment) {
  return { paymentId, accountId };
}

type Row = { readonly blockNumber: number; readonly logIndex: number };
function inChainOrder(one: Row, other: Row): number {
  return one.blockNumber - other.blockNumber || one.logIndex - other.logIndex;
}

type Found = Awaited<ReturnType<typeof readRows>>;
function paymentsAbove(
  { deposits, releases }: Pick<ScanRecord, 'deposits' | 'releases'>,
  number: number,
): string[] {
  return [...deposits, ...releases].filter((row) => row.blockNumber > number).map((row) => row.paymentId);
}

function upTo<T extends Row>(rows: readonly T[], number: number): T[] {
  return rows.filter((row) => row.blockNumber <= number);
}

async function scan(
  context: StoreContext,
  chain: SimulatedChain,
  payments: readonly Payment[],
  blocks: number,
) {
  const from = (await context.store.observations.readCursor()) as BlockReference;
  const scannedTo = Math.min(chain.head, from.number + blocks);
  const final = chain.reference(Math.min(chain.final, scannedTo));
  const found = chain.rows(from.number, scannedTo, payments);
  const before: Found = await readRows(context, payments);
  const decide = recordingDecide();
  await context.store.observations.recordScan({ from, final, scannedTo, ...found }, decide);

  const after = await readRows(context, payments);
  const truth = chain.rows(0, scannedTo, payments);
  expect(upTo(after.deposits, scannedTo)).toEqual(truth.deposits);
  expect(upTo(after.releases, scannedTo)).toEqual(truth.releases);
  const concerned = new Set([...paymentsAbove(before, from.number), ...paymentsAbove(found, from.number)]);
  expect(decide.ids).toEqual([...concerned].sort());
  return scannedTo;
}

async function run(context: StoreContext, payments: readonly Payment[], commands: readonly Command[]) {
  const { observations } = context.store;
  const chain = new SimulatedChain();
  let highestScanned = 0;
  // The database is used again: an earlier run is forgotten.
  await observations.rewindTo(chain.reference(0), leave);
  for (const step of commands) {
    if (step.kind === 'mine') chain.mine(step.transactions);
    else if (step.kind === 'finalize') chain.final = Math.min(chain.head, chain.final + step.blocks);
    else if (step.kind === 'reorganize') {
      chain.rewrite(Math.max(chain.final, chain.head - step.depth), step.shift, step.drop);
    } else if (step.kind === 'scan') {
      highestScanned = Math.max(highestScanned, await scan(context, chain, payments, step.blocks));
    } else {
      const checkpoints = await observations.listCheckpoints(step.checkpoints + 1);
      const { number } = checkpoints.at(-1) as BlockReference;
      chain.rewrite(number, 1, 3);
      chain.final = number;
      await observations.rewindTo(chain.reference(number), leave);
    }
  }
  while (chain.head < highestScanned) chain.mine([]);
  await scan(context, chain, payments, Number.MAX_SAFE_INTEGER);
  expect(await readRows(context, payments)).toEqual(chain.rows(0, chain.head, payments));
  await expectBookAgrees(context, payments);
}

/** What the journal comes to is what is final on the chain, whatever was taken back on the way. */
async function expectBookAgrees({ store }: StoreContext, payments: readonly Payment[]) {
  for (const { id: paymentId } of payments) {
    const { deposits, releases, finalBlock } = (await store.payments.viewPayment(paymentId))
      ?.observations ?? {
      deposits: [],
      releases: [],
      finalBlock: -1,
    };
    const final = entriesOf({
      deposits: upTo(deposits, finalBlock).map((deposit) => ({ ...deposit, paymentId })),
      releases: upTo(releases, finalBlock).map((release) => ({ ...release, paymentId })),
    });
    const facts = netEntries(await store.observations.listEntriesOf(paymentId)).map((entry) => {
      const { number: _, hash: __, previousHash: ___, recordedAtMs: ____, ...rest } = entry as JournalEntry;
      return rest;
    });
    expect(facts).toHaveLength(final.length);
    expect(facts).toEqual(expect.arrayContaining(final));
  }
}

export function observationModelPromises(context: StoreContext): void {
  it('says up to the last scanned block what the chain says, decides everyone a scan concerns, and keeps a book of it', async () => {
    const payments = await givePayments(context.store, PAYMENTS);
    const sequences = fc.array(command, { minLength: 5, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(sequences, (commands) => run(context, payments, commands)),
      { numRuns: 80 },
    );
  });
}
