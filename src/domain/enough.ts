import { lessBasisPoints } from './money.ts';
import type { Payment } from './payment.ts';
import { assumedDeliveryUnits, type ProviderId } from './provider-catalogue.ts';
import type { ProviderSession } from './provider-session.ts';

/** From what sum of deposits a payment counts as paid; at least one unit, so that nothing is never enough. */
export function enoughUnitsOf(expected: bigint, toleranceBasisPoints: number): bigint {
  const enough = lessBasisPoints(expected, toleranceBasisPoints);
  return enough > 0n ? enough : 1n;
}

/**
 * A quote is believed from this share of the delivery that the catalogue lets us assume. Its fees are unverified, so
 * there is room for a provider that takes a fifth more than assumed; what is far below is a defect (cents taken for
 * dollars, an amount of another coin) and would let a fraction of the price count as paid.
 */
const LEAST_SHARE_OF_ASSUMED_PERCENT = 80n;
/**
 * Nobody delivers more than was charged: above this share of the charge's value at creation a quote could never be
 * met and would make the payment unpayable. The two percent are for a rate that has moved since.
 */
const GREATEST_SHARE_OF_CHARGE_PERCENT = 102n;

/** Whether a provider's quote may decide what is enough for a charge of this USD value; all in 10⁻⁶ units. */
export function isPlausibleQuote(
  provider: ProviderId,
  quotedUnits: bigint,
  chargedUsdUnits: bigint,
): boolean {
  if (quotedUnits <= 0n) return false;
  const least = assumedDeliveryUnits(provider, chargedUsdUnits) * LEAST_SHARE_OF_ASSUMED_PERCENT;
  const greatest = chargedUsdUnits * GREATEST_SHARE_OF_CHARGE_PERCENT;
  return quotedUnits * 100n >= least && quotedUnits * 100n <= greatest;
}

/** What a started session is expected to deliver: its quote, or else what the catalogue lets us assume. */
export function sessionDeliveryUnits(
  session: Pick<ProviderSession, 'provider' | 'quotedUnits'>,
  chargedUsdUnits: bigint,
): bigint {
  return session.quotedUnits ?? assumedDeliveryUnits(session.provider, chargedUsdUnits);
}

/** While at least this share of enough is missing, what has arrived does not count as an attempt to pay. */
const NEARLY_ALL_MISSING_PERCENT = 90n;

/**
 * Whether nearly everything is still missing. Anybody can send a unit to anybody's deposit address, and a checkout
 * must not be blocked by it: customers may still be sent to pay. Above that it is a customer's money, and a visit at a
 * provider, which always charges the whole amount, would charge them twice.
 */
export function isNearlyAllMissing(
  { enoughUnits }: Pick<Payment, 'enoughUnits'>,
  seenUnits: bigint,
): boolean {
  return (enoughUnits - seenUnits) * 100n >= enoughUnits * NEARLY_ALL_MISSING_PERCENT;
}
