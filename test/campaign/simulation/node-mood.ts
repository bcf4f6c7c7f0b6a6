import type { Payment } from '../../../src/payment/payment.ts';
import { answers, type NodeMethod } from '../../../src/settlement/chain/node-answers.ts';
import type { Draws } from './draws.ts';
import { drawNumberLie, type NumberLie } from './number-lies.ts';
import type { SimulatedChain } from './simulated-chain.ts';

/** How an endpoint behaves for a while. */
export type Mood =
  | { readonly kind: 'honest' }
  | { readonly kind: 'down' }
  /** Does what it is asked, and answers too late. */
  | { readonly kind: 'slow' }
  /** Takes every request and answers none. */
  | { readonly kind: 'hung' }
  /** Its newest block is so many below the chain's. */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** Several nodes behind one address, of which some are so many blocks behind: each answer is of another one. */
  | { readonly kind: 'load balancer'; readonly blocks: number }
  /** Shows the newest blocks, but has no logs of the last ones yet: an empty list, not an error. */
  | { readonly kind: 'delayed logs'; readonly blocks: number }
  | { readonly kind: 'dropped logs' }
  /** Leaves the same half of all transactions out, whatever and however often it is asked. */
  | { readonly kind: 'omitted logs'; readonly parity: 0 | 1 }
  | { readonly kind: 'duplicated logs' }
  | { readonly kind: 'reordered logs' }
  /** On a fork of its own from this block on: other hashes, and deposits of twice the amount. */
  | { readonly kind: 'lying hashes'; readonly fromBlock: number }
  | { readonly kind: 'lying chain' }
  /** Calls its newest block final. */
  | { readonly kind: 'early finality' }
  /** The chain's own blocks and hashes, with a deposit and its release that nobody made. */
  | {
      readonly kind: 'fabricated logs';
      readonly deposit: string;
      readonly units: bigint;
      readonly blockNumber: number;
      readonly transactionHash: string;
    }
  /** Of its answers to this method, or to any, so many in a hundred are none of use. */
  | { readonly kind: 'malformed'; readonly method: NodeMethod | null; readonly percent: number }
  /** Takes signed transactions, and drops three of ten without a word. */
  | { readonly kind: 'swallowing' }
  /** Counts transactions of the relayer that are nowhere: what is signed for the next nonce cannot be mined. */
  | { readonly kind: 'nonce gap'; readonly transactions: number }
  /** Its latest count lacks the newest transactions of the relayer, while everything else it says is fresh. */
  | { readonly kind: 'lagging nonce'; readonly transactions: number }
  | { readonly kind: 'lying numbers'; readonly lie: NumberLie };

export const honest: Mood = { kind: 'honest' };

const kinds = [
  'down',
  'slow',
  'behind',
  'delayed logs',
  'dropped logs',
  'duplicated logs',
  'reordered logs',
  'lying hashes',
  'lying chain',
  'swallowing',
  'nonce gap',
  'lagging nonce',
  'hung',
  'omitted logs',
  'load balancer',
  'fabricated logs',
  'early finality',
  'lying numbers',
  'lying numbers',
  'lying numbers',
] as const satisfies readonly [Mood['kind'], ...Mood['kind'][]];

/** What a mood is drawn from. */
export interface MoodSubject {
  readonly chain: SimulatedChain;
  /** Whose payment a lie is about; undefined where there is none yet. */
  readonly payment: Payment | undefined;
  readonly nodes: number;
  /** Whether all others tell the truth. */
  readonly isOnlyLiar: boolean;
}

const lies: readonly Mood['kind'][] = [
  'lying hashes',
  'lying chain',
  'fabricated logs',
  'early finality',
  'lying numbers',
];

export function isLie({ kind }: Mood): boolean {
  return lies.includes(kind);
}

/**
 * Another mood. Only where there is a second endpoint does one lie about blocks and payments: the service promises
 * nothing where no other contradicts it. What a single one says about gas and the like must not outlive the lie.
 */
export function drawMood(draws: Draws, { chain, payment, nodes, isOnlyLiar }: MoodSubject): Mood {
  const mayLie = nodes > 1 && isOnlyLiar;
  // Of many methods each, and so more often than the others.
  const kind = draws.chance(20) ? 'malformed' : draws.oneOf(kinds);
  const latestBlock = chain.latest.number;
  switch (kind) {
    case 'behind':
      return { kind, blocks: draws.between(1, 40) };
    case 'delayed logs':
      return { kind, blocks: draws.between(1, 6) };
    case 'load balancer':
      return { kind, blocks: draws.between(1, 3) };
    case 'omitted logs':
      return { kind, parity: draws.oneOf([0, 1]) };
    case 'lying hashes':
      return mayLie ? { kind, fromBlock: Math.max(1, latestBlock - draws.between(0, 30)) } : { kind: 'down' };
    case 'lying chain':
    case 'early finality':
      return mayLie ? { kind } : { kind: 'down' };
    case 'fabricated logs': {
      if (!mayLie || payment === undefined) return { kind: 'down' };
      const { depositAddress: deposit, paidThresholdUnits: units } = payment;
      const blockNumber = Math.max(1, latestBlock + draws.between(-2, 2));
      return { kind, deposit, units, blockNumber, transactionHash: chain.newHash() };
    }
    case 'malformed':
      return {
        kind,
        method: draws.oneOf([null, ...(Object.keys(answers) as NodeMethod[])]),
        percent: draws.oneOf([30, 100]),
      };
    case 'lying numbers':
      return isOnlyLiar ? { kind, lie: drawNumberLie(draws, nodes > 2) } : { kind: 'down' };
    case 'nonce gap':
    case 'lagging nonce':
      return { kind, transactions: draws.between(1, 2) };
    default:
      return { kind };
  }
}
