import { BASIS_POINTS, parseDecimal, smaller, type UsdRate } from '../payment/money.ts';
import type { Payment } from '../payment/payment.ts';
import type { FeeQuote } from './chain/chain.ts';

/** The chain's own coin, in wei, with which the relayer pays for its transactions. */

const WEI_PER_POL = 10n ** 18n;
const WEI_PER_MILLIONTH_POL = 10n ** 12n;

/**
 * Gas that the releases of a transaction share, and gas of each: measured, to wallets that never held USDC, and with
 * what Polygon charges for cold storage since PIP-88: 3,360 more for a read, 840 for a write.
 */
const SHARED_GAS = 55_000n;
const RELEASE_GAS = 95_500n;

/** Our own estimate of the gas for this number of releases in one transaction. None needs less than half of it. */
export function releaseGas(count: number): bigint {
  return SHARED_GAS + RELEASE_GAS * BigInt(count);
}

/** A gas limit below this can hardly suffice for what our own figure is given for. */
export function leastPlausibleGas(figure: bigint): bigint {
  return figure / 2n;
}

/** Polygon takes no transaction with more gas (EIP-7825). */
export const MAXIMUM_TRANSACTION_GAS = 2n ** 25n;

/** The gas limit for a need: a quarter more, as the state may change before the block, and within the network's cap. */
export function gasLimitFor(gas: bigint): bigint {
  return smaller((gas * 5n) / 4n, MAXIMUM_TRANSACTION_GAS);
}

/** The most gas that a full batch reserves: a hundred releases to wallets that never held USDC, and a quarter more. */
const FULL_BATCH_GAS = 11_000_000n;
const RELEASES_OF_FULL_BATCH = 100n;

/** Full batches that the relayer's balance should cover at any time. */
const BATCHES_IN_RESERVE = 3n;

/** Below this balance the relayer needs POL for gas: three full batches at the fee that the chain asks for now. */
export function lowGasWei({ maxFeePerGas }: Pick<FeeQuote, 'maxFeePerGas'>): bigint {
  return BATCHES_IN_RESERVE * FULL_BATCH_GAS * maxFeePerGas;
}

/** About how many payments a balance releases at the present fee, in full batches. */
export function releasesPaidBy(balanceWei: bigint, { maxFeePerGas }: Pick<FeeQuote, 'maxFeePerGas'>): number {
  return Number((balanceWei * RELEASES_OF_FULL_BATCH) / (FULL_BATCH_GAS * maxFeePerGas));
}

/** An amount in POL for display, truncated after six decimals. */
export function polOf(wei: bigint): number {
  return Number(wei / WEI_PER_MILLIONTH_POL) / 1e6;
}

/** A decimal amount in POL, with at most 18 decimals, in wei; null for anything else. */
export function parsePolWei(text: string): bigint | null {
  return parseDecimal(text, 18);
}

/** The operator's maximum for the gas cost of a release, as a share of what its payment received. */
export interface GasShareLimit {
  readonly basisPoints: number;
  /** The value of one POL. */
  readonly polRate: UsdRate;
}

/** No release waits for lower fees once its payment is as old as this. */
export const LONGEST_GAS_DEFERRAL_MS = 24 * 3_600_000;

/** USDC units in one USD, times `USD_RATE_ONE`, in wei: the divisor of wei times rate that leaves units. */
const WEI_RATE_PER_UNIT = WEI_PER_POL * 100n;

/**
 * The payments that one transaction releases now: as many as possible, so that each one's share of the gas is within
 * the limit. A release that was requested, or whose payment is a day old, is never left out. A clock that was set back
 * leaves none out either.
 */
export function releasesWithinGasShare<
  Releasable extends Pick<Payment, 'receivedUnits' | 'createdAtMs' | 'paidAtMs' | 'releaseRequested'>,
>(
  payments: readonly Releasable[],
  fees: FeeQuote,
  limit: GasShareLimit,
  nowMs: number,
): readonly Releasable[] {
  // A quote offers two base fees and a tip; one base fee and the tip are spent.
  const weiPerGas = (fees.maxFeePerGas + fees.maxPriorityFeePerGas) / 2n;
  let kept = payments;
  for (;;) {
    const gas = RELEASE_GAS + SHARED_GAS / BigInt(Math.max(kept.length, 1));
    const costUnits = (gas * weiPerGas * limit.polRate) / WEI_RATE_PER_UNIT;
    const within = kept.filter(({ receivedUnits, createdAtMs, paidAtMs, releaseRequested }) => {
      const ageMs = nowMs - (paidAtMs ?? createdAtMs);
      const isUrgent = releaseRequested || ageMs < 0 || ageMs >= LONGEST_GAS_DEFERRAL_MS;
      return isUrgent || costUnits * BigInt(BASIS_POINTS) <= receivedUnits * BigInt(limit.basisPoints);
    });
    // Fewer releases share the transaction's own gas, which may be too much for another one.
    if (within.length === kept.length) return kept;
    kept = within;
  }
}
