import { smaller } from '../../../src/payment/money.ts';
import type { Draws } from './draws.ts';
import {
  type Action,
  applyAction,
  type ChainState,
  type Contracts,
  copyState,
  type Event,
  emptyState,
} from './token-state.ts';

export const BLOCK_MS = 2_000;
const GWEI = 10n ** 9n;
const USUAL_BASE_FEE = 30n * GWEI;
export const TIP = 25n * GWEI;

/** A log with its place. */
export interface PlacedLog extends Event {
  readonly blockNumber: number;
  readonly logIndex: number;
  readonly transactionHash: string;
}

export interface Transaction {
  readonly hash: string;
  readonly action: Action;
  /** Of a relayer, whose nonces and fees count; null for everybody else. */
  readonly sender: {
    readonly address: string;
    readonly nonce: number;
    readonly maxFeePerGas: bigint;
    readonly tip: bigint;
  } | null;
}

export interface Block {
  readonly number: number;
  readonly hash: string;
  readonly timestampMs: number;
  readonly transactions: readonly Transaction[];
  readonly logs: readonly PlacedLog[];
  readonly state: ChainState;
}

/** One chain in memory: blocks that can be taken back above the final one, and a pool of waiting transactions. */
export interface SimulatedChain {
  readonly contracts: Contracts;
  readonly blocks: readonly Block[];
  readonly latest: Block;
  readonly finalNumber: number;
  /** The chain was shorter after its last reorganization, and has not grown as high again. */
  readonly isShortened: boolean;
  readonly pool: Map<string, Transaction>;
  baseFee: bigint;
  /** Blocks go on, and none of them becomes final. */
  isFinalityStalled: boolean;
  /** Adds a block to the chain, so long after the one before. Of what waits, each goes in with this chance. */
  mine(inclusionPercent: number, afterMs?: number): void;
  /** Takes back so many blocks and puts others in their place; of their transactions, some go back to the pool. */
  reorganize(depth: number, keptPercent: number): void;
  submit(action: Action): void;
  newHash(): string;
}

export function createSimulatedChain(
  draws: Draws,
  contracts: Contracts,
  options: { readonly finalityBlocks: number; readonly startMs: number },
): SimulatedChain {
  let hashes = 0;
  const newHash = () => `0x${(++hashes).toString(16).padStart(8, '0')}${draws.hex(8).padEnd(56, '5')}`;
  const genesis = { number: 0, hash: newHash(), timestampMs: options.startMs, transactions: [], logs: [] };
  const blocks: Block[] = [{ ...genesis, state: emptyState() }];
  const pool = new Map<string, Transaction>();
  let finalNumber = 0;
  let highestNumber = 0;

  const chain: SimulatedChain = {
    contracts,
    blocks,
    pool,
    baseFee: USUAL_BASE_FEE,
    isFinalityStalled: false,
    newHash,
    get latest() {
      return blocks.at(-1) as Block;
    },
    get finalNumber() {
      return finalNumber;
    },
    get isShortened() {
      return chain.latest.number < highestNumber;
    },
    mine(inclusionPercent, afterMs = BLOCK_MS) {
      const parent = chain.latest;
      const state = copyState(parent.state);
      const chosen = takeFromPool(chain, state, () => draws.chance(inclusionPercent));
      blocks.push(buildBlock(chain, parent, state, chosen, parent.timestampMs + afterMs));
      const newest = chain.isFinalityStalled ? 0 : chain.latest.number - options.finalityBlocks;
      finalNumber = Math.max(finalNumber, newest);
      highestNumber = Math.max(highestNumber, chain.latest.number);
    },
    reorganize(depth, keptPercent) {
      const timestampMs = chain.latest.timestampMs;
      const removed = blocks.splice(blocks.length - depth);
      for (const { transactions } of removed) {
        for (const transaction of transactions) {
          const isKept = transaction.action.kind !== 'mint' || draws.chance(keptPercent);
          if (isKept && draws.chance(keptPercent)) pool.set(transaction.hash, transaction);
        }
      }
      // The branch that wins may be shorter for a moment: nodes that show it fall back.
      const replacements = draws.between(1, depth + 1);
      const gapMs = Math.max(1, Math.floor((timestampMs - chain.latest.timestampMs) / (replacements + 1)));
      for (let block = 0; block < replacements; block++) chain.mine(50, Math.ceil(gapMs / 1000) * 1000);
    },
    submit(action) {
      const hash = newHash();
      pool.set(hash, { hash, action, sender: null });
    },
  };
  return chain;
}

/** What goes into the next block: what can pay for it, relayers' transactions in the order of their nonces. */
function takeFromPool(chain: SimulatedChain, state: ChainState, isIncluded: () => boolean): Transaction[] {
  const chosen: Transaction[] = [];
  for (const transaction of [...chain.pool.values()].sort(byNonce)) {
    const { sender, hash } = transaction;
    if (sender !== null) {
      const nonce = state.nonces.get(sender.address) ?? 0;
      if (sender.nonce < nonce) chain.pool.delete(hash);
      if (sender.nonce !== nonce || paidTip(sender, chain.baseFee) < TIP) continue;
    }
    if (!isIncluded()) continue;
    if (sender !== null) state.nonces.set(sender.address, sender.nonce + 1);
    chain.pool.delete(hash);
    chosen.push(transaction);
  }
  return chosen;
}

/** What a block's producer gets: the offered tip, or what the fee leaves of it above the base fee (EIP-1559). */
function paidTip({ maxFeePerGas, tip }: NonNullable<Transaction['sender']>, baseFee: bigint): bigint {
  return smaller(tip, maxFeePerGas - baseFee);
}

function byNonce(one: Transaction, other: Transaction): number {
  return (one.sender?.nonce ?? -1) - (other.sender?.nonce ?? -1);
}

function buildBlock(
  chain: SimulatedChain,
  parent: Block,
  state: ChainState,
  transactions: readonly Transaction[],
  timestampMs: number,
): Block {
  const number = parent.number + 1;
  const logs: PlacedLog[] = [];
  for (const { hash, action } of transactions) {
    for (const event of applyAction(state, chain.contracts, action)) {
      logs.push({ ...event, blockNumber: number, logIndex: logs.length, transactionHash: hash });
    }
  }
  return { number, hash: chain.newHash(), timestampMs, transactions, logs, state };
}
