import type { FeeQuote } from '../domain/ports/chain.ts';
import { ChainUnavailableError } from '../domain/ports/chain.ts';
import type { JsonRpcClient } from './json-rpc.ts';
import { readQuantity } from './rpc-values.ts';

export interface FeeBounds {
  /** The network's least tip (25 gwei on Polygon); a lower one is not taken into a block. */
  readonly minimumTipWei: bigint;
  /** No quote exceeds it, whatever an endpoint says: the relayer's gas money would be gone at once. */
  readonly maximumFeePerGasWei: bigint;
}

/** What Polygon's block producers ask for (2026-11). */
export const POLYGON_MINIMUM_TIP_WEI = 25_000_000_000n;

/** A hundred times what is usual on Polygon. */
export const DEFAULT_MAXIMUM_FEE_PER_GAS_WEI = 5_000_000_000_000n;

/** Blocks of history, and the percentile of the tips paid in each of them. */
const HISTORY_BLOCKS = '0xa';
const TIP_PERCENTILE = 50;

/** Twice the next base fee (good for several full blocks in a row) and the median of recent tips. */
export async function quoteFees(rpc: JsonRpcClient, bounds: FeeBounds): Promise<FeeQuote> {
  const history = await rpc.call('eth_feeHistory', [HISTORY_BLOCKS, 'latest', [TIP_PERCENTILE]]);
  const { baseFeePerGas, reward } = (history ?? {}) as { baseFeePerGas?: unknown; reward?: unknown };
  if (!Array.isArray(baseFeePerGas) || baseFeePerGas.length === 0) {
    throw new ChainUnavailableError(`${rpc.label} answered with a malformed fee history`);
  }
  // One more base fee than blocks: the last one is the next block's.
  const nextBaseFee = readQuantity(baseFeePerGas.at(-1), 'base fee');
  const tips = (Array.isArray(reward) ? reward : []).map((row) =>
    readQuantity(Array.isArray(row) ? row[0] : undefined, 'tip'),
  );
  const cap = bounds.maximumFeePerGasWei;
  const maxPriorityFeePerGas = smaller(larger(median(tips), bounds.minimumTipWei), cap);
  return { maxPriorityFeePerGas, maxFeePerGas: smaller(nextBaseFee * 2n + maxPriorityFeePerGas, cap) };
}

function median(values: readonly bigint[]): bigint {
  const sorted = [...values].sort((first, second) => (first < second ? -1 : first > second ? 1 : 0));
  return sorted[Math.floor(sorted.length / 2)] ?? 0n;
}

function larger(first: bigint, second: bigint): bigint {
  return first > second ? first : second;
}

function smaller(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}
