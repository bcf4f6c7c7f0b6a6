import { BASIS_POINTS } from '../../payment/money.ts';
import type { Payment } from '../../payment/payment.ts';
import type { GasShareLimit } from '../batch-and-gas-limits.ts';
import type { FeeQuote } from '../chain/chain.ts';
import { RELEASE_GAS, SHARED_GAS, WEI_PER_POL } from '../chain/gas.ts';

/** Maximum age of a payment whose release waits for lower fees. */
export const LONGEST_GAS_DEFERRAL_MS = 24 * 3_600_000;

/** Divisor that converts wei times the POL rate into USDC units. */
const WEI_RATE_PER_UNIT = WEI_PER_POL * 100n;

/** Returns payments within the limit, plus requested releases and those over `LONGEST_GAS_DEFERRAL_MS` old. */
export function releasesWithinGasShare<
  Releasable extends Pick<Payment, 'receivedUnits' | 'createdAtMs' | 'paidAtMs' | 'releaseRequested'>,
>(
  payments: readonly Releasable[],
  fees: FeeQuote,
  limit: GasShareLimit,
  nowMs: number,
): readonly Releasable[] {
  // A quote offers two base fees plus the tip, but only one base fee plus the tip is spent.
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
    // Fewer releases now share the transaction's fixed gas, so another one may exceed the limit.
    if (within.length === kept.length) return kept;
    kept = within;
  }
}
