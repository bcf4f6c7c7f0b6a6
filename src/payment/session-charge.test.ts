import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeMinPaidThreshold,
  computePaidThreshold,
  isDust,
  minDeliveryUnits,
  type SessionTerms,
  thresholdAfterSessions,
} from './fees-and-paid-threshold.ts';
import { larger } from './money.ts';
import { chargeOf } from './session-charge.ts';

const hundred = {
  accountId: 'account',
  amountCents: 100_00,
  currency: 'USD' as const,
  usdUnits: 100_000_000n,
  maxProviderFeeBasisPoints: 3_000,
  paidThresholdUnits: 98_000_000n,
  toleranceBasisPoints: 200,
};
const untouched = (payment: typeof hundred) => ({ payment, sessions: [] });

/** Payment with random terms, and deposits of 11 % to 99 % of its paid threshold. */
const partialPayments = fc
  .record({
    amountCents: fc.integer({ min: 100, max: 1_000_000 }),
    rateCents: fc.bigInt({ min: 1n, max: 200n }),
    toleranceBasisPoints: fc.integer({ min: 0, max: 5_000 }),
    maxProviderFeeBasisPoints: fc.integer({ min: 100, max: 5_000 }),
    share: fc.bigInt({ min: 11n, max: 99n }),
  })
  .map(({ amountCents, rateCents, toleranceBasisPoints, maxProviderFeeBasisPoints, share }) => {
    const usdUnits = BigInt(amountCents) * 100n * rateCents;
    const paidThresholdUnits = computePaidThreshold(usdUnits, toleranceBasisPoints);
    return {
      payment: {
        ...hundred,
        amountCents,
        usdUnits,
        maxProviderFeeBasisPoints,
        toleranceBasisPoints,
        paidThresholdUnits,
      },
      seenUnits: (paidThresholdUnits * share) / 100n + 1n,
    };
  });

describe('what a session charges', () => {
  it('is the whole amount where nothing, next to nothing, enough or more arrived', () => {
    for (const seenUnits of [0n, 1n, 9_800_000n, 98_000_000n, 98_000_001n, 10n ** 12n]) {
      expect(chargeOf(untouched(hundred), seenUnits)).toMatchObject({
        amountCents: 100_00,
        usdUnits: 100_000_000n,
        maxProviderFeeBasisPoints: 3_000,
        receivedUnits: 0n,
      });
    }
  });

  it('is the missing share of the amount after a partial payment', () => {
    expect(chargeOf(untouched(hundred), 49_000_000n)).toMatchObject({
      amountCents: 50_00,
      usdUnits: 50_000_000n,
      receivedUnits: 49_000_000n,
    });
    expect(chargeOf(untouched(hundred), 97_999_999n)).toMatchObject({ amountCents: 1, usdUnits: 10_000n });
  });

  it('lets a provider keep what the maximum leaves of the whole payment, and at most half of the rest', () => {
    // At least 70.00 of 100.00 must arrive. After 40.00, a charge of 59.19 must still deliver 30.00.
    expect(chargeOf(untouched(hundred), 40_000_000n)).toMatchObject({
      amountCents: 59_19,
      maxProviderFeeBasisPoints: 4_931,
    });
    expect(chargeOf(untouched(hundred), 69_000_000n).maxProviderFeeBasisPoints).toBe(5_000);
  });

  it('asks together with what arrived for at most a cent more than the amount', () => {
    fc.assert(
      fc.property(partialPayments, ({ payment, seenUnits }) => {
        fc.pre(!isDust(payment, seenUnits));
        const { amountCents } = chargeOf(untouched(payment), seenUnits);
        const paidCents = (BigInt(payment.amountCents) * seenUnits) / payment.paidThresholdUnits;
        expect(amountCents).toBeGreaterThanOrEqual(1);
        expect(BigInt(amountCents) + paidCents).toBeLessThanOrEqual(BigInt(payment.amountCents) + 1n);
      }),
    );
  });

  it('completes the payment where the provider delivers what it quoted within the maximum', () => {
    fc.assert(
      fc.property(partialPayments, fc.bigInt({ min: 0n, max: 100n }), ({ payment, seenUnits }, percent) => {
        const charge = chargeOf(untouched(payment), seenUnits);
        fc.pre(charge.receivedUnits > 0n);
        const least = minDeliveryUnits(charge.usdUnits, charge.maxProviderFeeBasisPoints);
        const quotedUnits = least + ((charge.usdUnits - least) * percent) / 100n;
        const session = {
          provider: 'moonpay' as const,
          quotedUnits,
          chargedCents: charge.amountCents,
          receivedUnits: charge.receivedUnits,
        };
        const threshold = thresholdAfterSessions(payment, [session], payment.toleranceBasisPoints);
        expect(seenUnits + quotedUnits).toBeGreaterThanOrEqual(threshold);
        // Starting a session alone must not make the payment paid.
        expect(threshold).toBeGreaterThan(seenUnits);
        const { usdUnits, maxProviderFeeBasisPoints, toleranceBasisPoints } = payment;
        expect(threshold).toBeGreaterThanOrEqual(
          computeMinPaidThreshold(usdUnits, maxProviderFeeBasisPoints, toleranceBasisPoints),
        );
      }),
    );
  });

  it('takes off one provider fee, however many sessions are started and not paid', () => {
    const feeOf = (chargedUnits: bigint, { percent, leastUnits }: { percent: bigint; leastUnits: bigint }) =>
      larger((chargedUnits * percent) / 100n, leastUnits);
    const fees = fc.record({
      percent: fc.bigInt({ min: 0n, max: 10n }),
      leastUnits: fc.bigInt({ min: 0n, max: 4_000_000n }),
    });
    const clicks = fc.array(fc.record({ fee: fees, sentUnits: fc.bigInt({ min: 0n, max: 2n }) }), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(fc.bigInt({ min: 11_000_000n, max: 97_000_000n }), clicks, (firstUnits, started) => {
        let payment = hundred;
        const sessions: SessionTerms[] = [];
        let seenUnits = firstUnits;
        for (const { fee, sentUnits } of started) {
          seenUnits += sentUnits;
          const charge = chargeOf({ payment, sessions }, seenUnits);
          const quotedUnits = charge.usdUnits - feeOf(charge.usdUnits, fee);
          const mostUnits = (charge.usdUnits * BigInt(charge.maxProviderFeeBasisPoints)) / 10_000n;
          if (charge.receivedUnits === 0n || charge.usdUnits - quotedUnits > mostUnits) continue;
          sessions.push({
            provider: 'rampnetwork',
            quotedUnits,
            chargedCents: charge.amountCents,
            receivedUnits: charge.receivedUnits,
          });
          const paidThresholdUnits = thresholdAfterSessions(payment, sessions, 200);
          payment = { ...payment, paidThresholdUnits };
          expect(seenUnits).toBeLessThan(paidThresholdUnits);
        }
        const dearest = started.map(({ fee }) => feeOf(100_000_000n, fee)).reduce(larger);
        expect(payment.paidThresholdUnits).toBeGreaterThanOrEqual(hundred.paidThresholdUnits - dearest);
      }),
    );
  });
});
