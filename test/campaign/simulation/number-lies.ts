import type { Draws } from './draws.ts';

/** False answers about the numbers that a relayer signs or stores, or by which it decides. */
export type NumberLie =
  | { readonly about: 'gas'; readonly gas: bigint | 'reverts' }
  /** At each block; null for none at all. */
  | { readonly about: 'transaction count'; readonly added: number | null }
  | { readonly about: 'balance'; readonly wei: bigint }
  | { readonly about: 'fees'; readonly wei: bigint }
  /** Every transaction is mined, or none is. */
  | { readonly about: 'receipts'; readonly isMined: boolean }
  /** The token is paused, or no deposit address holds any of it. */
  | { readonly about: 'releases'; readonly says: 'paused' | 'empty' }
  /** Takes signed transactions, and drops each of them. */
  | { readonly about: 'acceptance' };

const GWEI = 10n ** 9n;

/** Below what any transaction costs, below and above our own figure, and above the network's cap. */
const estimates = [1n, 1n, 21_000n, 80_000n, 400_000n, 2n ** 25n - 1n, 2n ** 26n, 'reverts'] as const;

/** `isOneOfThree`: whether two others can contradict it. */
export function drawNumberLie(draws: Draws, isOneOfThree: boolean): NumberLie {
  const about = draws.oneOf([
    'gas',
    'gas',
    'gas',
    'transaction count',
    'balance',
    'fees',
    'receipts',
    'releases',
    'acceptance',
  ] as const);
  switch (about) {
    case 'gas':
      return { about, gas: draws.oneOf(estimates) };
    case 'transaction count':
      return { about, added: draws.oneOf([null, 1, 3, 1_000_000]) };
    case 'balance':
      return { about, wei: draws.oneOf([0n, 2n ** 100n]) };
    case 'fees':
      return { about, wei: draws.oneOf([0n, 10n ** 6n * GWEI]) };
    case 'receipts':
      // Where nobody contradicts it, gas counts as spent that was not.
      return { about, isMined: isOneOfThree && draws.chance(50) };
    case 'releases':
      return { about, says: draws.oneOf(['paused', 'empty']) };
    case 'acceptance':
      return { about };
  }
}
