/** The chain's own coin, in wei, with which the relayer pays for its transactions. */

const WEI_PER_POL = 10n ** 18n;
const WEI_PER_MILLIONTH_POL = 10n ** 12n;

/** The most gas that a full batch reserves: a hundred releases to wallets that never held USDC, and a quarter more. */
const FULL_BATCH_GAS = 11_000_000n;

/** Full batches that the relayer's balance should cover at any time. */
const BATCHES_IN_RESERVE = 3n;

/** Below this balance the relayer needs gas money: three full batches at the fee that the chain asks for now. */
export function lowGasWei({ maxFeePerGas }: { readonly maxFeePerGas: bigint }): bigint {
  return BATCHES_IN_RESERVE * FULL_BATCH_GAS * maxFeePerGas;
}

/** An amount in POL for display, truncated after six decimals. */
export function polOf(wei: bigint): number {
  return Number(wei / WEI_PER_MILLIONTH_POL) / 1e6;
}

/** A decimal amount in POL, with at most 18 decimals, in wei; null for anything else. */
export function parsePolWei(text: string): bigint | null {
  const match = /^(\d{1,9})(?:\.(\d{1,18}))?$/.exec(text);
  if (match === null) return null;
  const [, whole = '0', decimals = ''] = match;
  return BigInt(whole) * WEI_PER_POL + BigInt(decimals.padEnd(18, '0'));
}
