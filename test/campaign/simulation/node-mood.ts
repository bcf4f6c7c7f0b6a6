import type { Draws } from './draws.ts';

/** How an endpoint behaves for a while. */
export type Mood =
  | { readonly kind: 'honest' }
  | { readonly kind: 'down' }
  /** Does what it is asked, and answers too late. */
  | { readonly kind: 'slow' }
  /** Its newest block is so many below the chain's. */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** Shows the newest blocks, but has no logs of the last ones yet: an empty list, not an error. */
  | { readonly kind: 'delayed logs'; readonly blocks: number }
  | { readonly kind: 'dropped logs' }
  | { readonly kind: 'duplicated logs' }
  | { readonly kind: 'reordered logs' }
  /** On a fork of its own from this block on: other hashes, and deposits of twice the amount. */
  | { readonly kind: 'lying hashes'; readonly fromBlock: number }
  | { readonly kind: 'lying chain' }
  /** Counts transactions of the relayer that are nowhere: what is signed for the next nonce cannot be mined. */
  | { readonly kind: 'nonce gap'; readonly transactions: number }
  /** Its latest count lacks the newest transactions of the relayer, while everything else it says is fresh. */
  | { readonly kind: 'lagging nonce'; readonly transactions: number };

export const honest: Mood = { kind: 'honest' };

const kinds = [
  ...(['down', 'slow', 'behind', 'delayed logs', 'dropped logs'] as const),
  ...(['duplicated logs', 'reordered logs', 'lying hashes', 'lying chain'] as const),
  ...(['nonce gap', 'lagging nonce'] as const),
] as const satisfies readonly [Mood['kind'], ...Mood['kind'][]];

/**
 * Another mood. Only where there is a second endpoint does one lie: whoever asks a single one has nobody to contradict
 * it, and the service promises nothing there.
 */
export function drawMood(draws: Draws, latestBlock: number, mayLie: boolean): Mood {
  const kind = draws.oneOf(kinds);
  switch (kind) {
    case 'behind':
      return { kind, blocks: draws.between(1, 40) };
    case 'delayed logs':
      return { kind, blocks: draws.between(1, 6) };
    case 'lying hashes':
      return mayLie ? { kind, fromBlock: Math.max(1, latestBlock - draws.between(0, 30)) } : { kind: 'down' };
    case 'lying chain':
      return mayLie ? { kind } : { kind: 'down' };
    case 'nonce gap':
    case 'lagging nonce':
      return { kind, transactions: draws.between(1, 2) };

    default:
      return { kind };
  }
}
