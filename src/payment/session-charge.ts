import {
  isDust,
  isNearlyAllMissing,
  MAXIMUM_PROVIDER_FEE_BASIS_POINTS,
  minDeliveryUnits,
  type SessionTerms,
  thresholdOfWhole,
} from './fees-and-paid-threshold.ts';
import { BASIS_POINTS } from './money.ts';
import { isDirect, type Payment } from './payment.ts';
import { stateOf } from './payment-states.ts';

/** Charge of a provider session: the whole amount of a payment, or the rest of a partial payment. */
export interface Charge extends ChargeTerms {
  /** Sum of deposits when the rest was computed, in 10⁻⁶ USDC units; zero for the whole amount. */
  readonly receivedUnits: bigint;
}

type ChargeTerms = Pick<
  Payment,
  'accountId' | 'amountCents' | 'currency' | 'usdUnits' | 'maxProviderFeeBasisPoints'
>;

interface Charged<Terms = ChargeTerms & Pick<Payment, 'paidThresholdUnits' | 'toleranceBasisPoints'>> {
  readonly payment: Terms;
  readonly sessions: readonly SessionTerms[];
}

/** Returns a new session's charge: the whole amount if almost nothing or enough has arrived, otherwise the rest. */
export function chargeOf(charged: Charged, seenUnits: bigint): Charge {
  const { payment } = charged;
  const isPart = seenUnits > 0n && seenUnits < payment.paidThresholdUnits;
  if (isPart && !isNearlyAllMissing(payment, seenUnits)) return restOf(charged, seenUnits);
  return { ...termsOf(payment), receivedUnits: 0n };
}

/** Returns the rest of an open payment for which significant deposits were seen; null for other payments. */
export function openRestOf(charged: Charged<Payment>): Charge | null {
  const { payment } = charged;
  const { receivedUnits: seenUnits, paidThresholdUnits } = payment;
  if (stateOf(payment) !== 'unpaid/pending' || seenUnits <= 0n || seenUnits >= paidThresholdUnits)
    return null;
  const isAttempt = isDirect(payment) ? !isDust(payment, seenUnits) : !isNearlyAllMissing(payment, seenUnits);
  return isAttempt ? restOf(charged, seenUnits) : null;
}

/**
 * Returns a charge for the missing share of the threshold, rounded up to a cent. The maximum provider fee applies to
 * the whole payment, so earlier deposits and the new delivery together must reach the payment's minimum delivery.
 */
function restOf({ payment, sessions }: Charged, seenUnits: bigint): Charge {
  const { amountCents, usdUnits, maxProviderFeeBasisPoints } = payment;
  const thresholdUnits = thresholdOfWhole(payment, sessions);
  const restCents = dividedUp(BigInt(amountCents) * (thresholdUnits - seenUnits), thresholdUnits);
  const restUsdUnits = dividedUp(usdUnits * restCents, BigInt(amountCents));
  const minimumDelivery = minDeliveryUnits(usdUnits, maxProviderFeeBasisPoints) - seenUnits;
  const maximumFee = ((restUsdUnits - minimumDelivery) * BigInt(BASIS_POINTS)) / restUsdUnits;
  return {
    ...termsOf(payment),
    amountCents: Number(restCents),
    usdUnits: restUsdUnits,
    // Limits the fee to the highest allowed setting, because no provider may keep more than half of a charge.
    maxProviderFeeBasisPoints: Math.max(0, Math.min(Number(maximumFee), MAXIMUM_PROVIDER_FEE_BASIS_POINTS)),
    receivedUnits: seenUnits,
  };
}

function termsOf(payment: ChargeTerms): ChargeTerms {
  const { accountId, amountCents, currency, usdUnits, maxProviderFeeBasisPoints } = payment;
  return { accountId, amountCents, currency, usdUnits, maxProviderFeeBasisPoints };
}

function dividedUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
