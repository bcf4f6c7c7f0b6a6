import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amountMismatchOf,
  computeMinPaidThreshold,
  computePaidThreshold,
  directThreshold,
  isDust,
  isNearlyAllMissing,
  isPlausibleQuote,
  minDeliveryUnits,
  minUsdCentsForFee,
  minUsdCentsForQuotedFee,
  thresholdAfterSessions,
  thresholdOfWhole,
  thresholdTermsOf,
} from './fees-and-paid-threshold.ts';
import { assumedDeliveryUnits, providerIds } from './provider-catalog.ts';

const charges = fc.bigInt({ min: 10_000n, max: 10_000_000_000n });
const tolerances = fc.integer({ min: 0, max: 5_000 });
const maxFees = fc.integer({ min: 100, max: 5_000 });

/** Session that charges the whole amount of a payment of 100.00. */
const inFull = { chargedCents: 100_00, receivedUnits: 0n };

/** Payment with random terms, and sessions whose quotes are within the maximum provider fee. */
const startedSessions = fc
  .tuple(charges, tolerances, maxFees)
  .chain(([usdUnits, toleranceBasisPoints, maxProviderFeeBasisPoints]) => {
    const least = minDeliveryUnits(usdUnits, maxProviderFeeBasisPoints);
    const session = fc.record({
      provider: fc.constantFrom(...providerIds),
      quotedUnits: fc.bigInt({ min: least, max: (usdUnits * 102n) / 100n }),
      chargedCents: fc.constant(100_00),
      receivedUnits: fc.constant(0n),
    });
    return fc.record({
      payment: fc.constant({
        amountCents: 100_00,
        usdUnits,
        toleranceBasisPoints,
        maxProviderFeeBasisPoints,
        paidThresholdUnits: computePaidThreshold(usdUnits, toleranceBasisPoints),
      }),
      sessions: fc.array(session, { maxLength: 8 }),
    });
  });
type Started = typeof startedSessions extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the threshold after each session, started one after the other. */
function thresholdsOf({ payment, sessions }: Started): bigint[] {
  let { paidThresholdUnits } = payment;
  return sessions.map((_, index) => {
    const started = sessions.slice(0, index + 1);
    paidThresholdUnits = thresholdAfterSessions(
      { ...payment, paidThresholdUnits },
      started,
      payment.toleranceBasisPoints,
    );
    return paidThresholdUnits;
  });
}

describe('the paid threshold', () => {
  it('is what is expected less the tolerance', () => {
    expect(computePaidThreshold(95_000_000n, 200)).toBe(93_100_000n);
  });

  it('is at least one unit, whatever is expected and tolerated', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 12n }),
        fc.integer({ min: 0, max: 10_000 }),
        (units, tolerance) => {
          expect(computePaidThreshold(units, tolerance)).toBeGreaterThanOrEqual(1n);
        },
      ),
    );
  });

  it('never rises, whatever sessions are started', () => {
    fc.assert(
      fc.property(startedSessions, (started) => {
        let before = started.payment.paidThresholdUnits;
        for (const threshold of thresholdsOf(started)) {
          expect(threshold).toBeLessThanOrEqual(before);
          before = threshold;
        }
      }),
    );
  });

  it('is never below what the maximum provider fee and the tolerance leave, also by a quote far below', () => {
    const anyQuote = fc.option(fc.bigInt({ min: 0n, max: 10_000_000_000n }));
    fc.assert(
      fc.property(startedSessions, anyQuote, ({ payment, sessions }, quotedUnits) => {
        const all = [...sessions, { provider: 'moonpay' as const, quotedUnits, ...inFull }];
        const { usdUnits, maxProviderFeeBasisPoints, toleranceBasisPoints } = payment;
        const floor = computeMinPaidThreshold(usdUnits, maxProviderFeeBasisPoints, toleranceBasisPoints);
        expect(thresholdAfterSessions(payment, all, toleranceBasisPoints)).toBeGreaterThanOrEqual(floor);
        const left = BigInt(10_000 - maxProviderFeeBasisPoints) * BigInt(10_000 - toleranceBasisPoints);
        expect(floor * 100_000_000n).toBeGreaterThan(usdUnits * left - 100_000_000n);
      }),
    );
  });

  it('does not depend on the order in which the sessions are started', () => {
    const shuffled = startedSessions.chain((started) =>
      fc.tuple(
        fc.constant(started),
        fc.shuffledSubarray(started.sessions, { minLength: started.sessions.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([started, sessions]) => {
        expect(thresholdsOf({ ...started, sessions }).at(-1)).toBe(thresholdsOf(started).at(-1));
      }),
    );
  });

  it('after sessions is their lowest delivery less the tolerance', () => {
    const payment = {
      amountCents: 100_00,
      usdUnits: 100_000_000n,
      maxProviderFeeBasisPoints: 3_000,
      paidThresholdUnits: 98_000_000n,
    };
    const thresholdAfter = (...quotes: (bigint | null)[]) =>
      thresholdAfterSessions(
        payment,
        quotes.map((quotedUnits) => ({ provider: 'wert', quotedUnits, ...inFull })),
        200,
      );
    expect(thresholdAfter()).toBe(98_000_000n);
    expect(thresholdAfter(97_000_000n)).toBe(95_060_000n);
    expect(thresholdAfter(97_000_000n, null)).toBe(93_100_000n);
    expect(thresholdAfter(102_000_000n)).toBe(98_000_000n);
    expect(thresholdAfter(70_000_000n)).toBe(68_600_000n);
    expect(thresholdAfter(69_999_999n)).toBe(98_000_000n);
  });
});

describe('the threshold without the sessions for a rest', () => {
  const payment = {
    amountCents: 100_00,
    usdUnits: 100_000_000n,
    maxProviderFeeBasisPoints: 3_000,
    toleranceBasisPoints: 200,
    paidThresholdUnits: 80_000_000n,
  };
  const whole = {
    provider: 'wert',
    quotedUnits: 95_000_000n,
    chargedCents: 100_00,
    receivedUnits: 0n,
  } as const;
  const rest = {
    provider: 'wert',
    quotedUnits: 40_000_000n,
    chargedCents: 50_00,
    receivedUnits: 50_000_000n,
  } as const;

  it('is what was expected at first, lowered by the sessions for the whole alone', () => {
    expect(thresholdOfWhole(payment, [rest])).toBe(98_000_000n);
    expect(thresholdOfWhole(payment, [whole, rest])).toBe(93_100_000n);
  });

  it('is the present one where no session was for a rest', () => {
    expect(thresholdOfWhole(payment, [whole])).toBe(80_000_000n);
    expect(thresholdOfWhole(payment, [])).toBe(80_000_000n);
  });

  it('is never below the present one', () => {
    expect(thresholdOfWhole({ ...payment, paidThresholdUnits: 97_000_000n }, [whole, rest])).toBe(
      97_000_000n,
    );
  });
});

it('counts what arrived before a session for the rest in full, and the session less the tolerance', () => {
  const payment = {
    amountCents: 100_00,
    usdUnits: 100_000_000n,
    maxProviderFeeBasisPoints: 3_000,
    paidThresholdUnits: 98_000_000n,
  };
  const rest = {
    provider: 'wert',
    quotedUnits: null,
    chargedCents: 50_00,
    receivedUnits: 40_000_000n,
  } as const;
  // Wert delivers an assumed 95 % of 50 USD, less the tolerance of 2 %.
  expect(thresholdAfterSessions(payment, [rest], 200)).toBe(40_000_000n + 46_550_000n);
  const least = { ...rest, quotedUnits: 30_000_000n };
  const floor = 68_600_000n;
  expect(thresholdAfterSessions(payment, [{ ...least, receivedUnits: floor - 29_400_000n }], 200)).toBe(
    floor,
  );
  expect(thresholdAfterSessions(payment, [{ ...least, receivedUnits: floor - 29_400_001n }], 200)).toBe(
    98_000_000n,
  );
});

it('takes the terms of an account, which may lower the maximum provider fee and never raise it', () => {
  const defaults = { toleranceBasisPoints: 200, maxProviderFeeBasisPoints: 3_000 };
  const nothing = { toleranceBasisPoints: null, maxProviderFeeBasisPoints: null };
  expect(thresholdTermsOf(nothing, defaults)).toEqual(defaults);
  const own = { toleranceBasisPoints: 0, maxProviderFeeBasisPoints: 1_000 };
  expect(thresholdTermsOf(own, defaults)).toEqual(own);
  expect(thresholdTermsOf({ ...nothing, maxProviderFeeBasisPoints: 4_000 }, defaults)).toEqual(defaults);
});

describe('the amount from which a fee fits', () => {
  it('is the least in whole cents for the fee that the catalog assumes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...providerIds), maxFees, charges, (provider, maxFee, usdUnits) => {
        const minimum = minUsdCentsForFee(provider, maxFee);
        const fits = (units: bigint) =>
          assumedDeliveryUnits(provider, units) >= minDeliveryUnits(units, maxFee);
        if (minimum === null) {
          // Ignores charges of a few cents, whose fee rounds to zero.
          if (usdUnits >= 1_000_000n) expect(fits(usdUnits)).toBe(false);
          return;
        }
        const minimumUnits = BigInt(minimum) * 10_000n;
        expect(fits(minimumUnits)).toBe(true);
        if (usdUnits >= minimumUnits) expect(fits(usdUnits)).toBe(true);
        if (minimum > 0) expect(fits(minimumUnits - 10_000n)).toBe(false);
      }),
    );
  });

  it('of MoonPay is 13.30 USD at the default maximum of 30 %, and no amount helps a rate above the maximum', () => {
    expect(minUsdCentsForFee('moonpay', 3_000)).toBe(13_30);
    expect(minUsdCentsForFee('wert', 500)).toBe(0);
    expect(minUsdCentsForFee('wert', 499)).toBeNull();
  });

  it('is always above the amount whose quoted fee does not fit', () => {
    fc.assert(
      fc.property(charges, maxFees, fc.bigInt({ min: 1n, max: 10_000n }), (usdUnits, maxFee, share) => {
        const least = minDeliveryUnits(usdUnits, maxFee);
        const delivery = least - (least * share) / 10_000n - 1n;
        const minimumUnits = BigInt(minUsdCentsForQuotedFee(usdUnits, delivery, maxFee)) * 10_000n;
        expect(minimumUnits).toBeGreaterThanOrEqual(usdUnits);
      }),
    );
    expect(minUsdCentsForQuotedFee(10_000_000n, 6_500_000n, 3_000)).toBe(11_67);
    expect(minUsdCentsForQuotedFee(10_000_000n, 6_400_000n, 3_000)).toBe(12_00);
  });
});

describe('a quote', () => {
  it.each([
    [1n, false],
    [75_999_999n, false],
    [76_000_000n, true],
    [95_000_000n, true],
    [102_000_000n, true],
    [102_000_001n, false],
    [10n ** 15n, false],
  ])('of %d units for 100 USD at Wert is believed: %s', (quotedUnits, isBelieved) => {
    expect(isPlausibleQuote('wert', quotedUnits, 100_000_000n)).toBe(isBelieved);
  });

  it('of nothing is never believed, and what the catalog assumes always is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...providerIds), charges, (provider, charged) => {
        const assumed = assumedDeliveryUnits(provider, charged);
        expect(isPlausibleQuote(provider, 0n, charged)).toBe(false);
        expect(isPlausibleQuote(provider, assumed, charged)).toBe(assumed > 0n);
      }),
    );
  });
});

it('asks a direct payment for its whole value, or where a missing cent is tolerated, for at most a cent and a hundredth less', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10_000_000_000n }), (usdUnits) => {
      expect(directThreshold(usdUnits, false)).toBe(usdUnits);
      const missing = usdUnits - directThreshold(usdUnits, true);
      expect(missing).toBeGreaterThanOrEqual(0n);
      expect(missing).toBeLessThanOrEqual(10_000n);
      expect(missing * 100n).toBeLessThanOrEqual(usdUnits + 99n);
      expect(missing).toBeLessThan(usdUnits);
    }),
  );
  expect(directThreshold(25_000_000n, true)).toBe(24_990_000n);
  expect(directThreshold(10_000n, true)).toBe(9_900n);
});

it('takes less than 0.01 USDC for dust, unless it pays the payment', () => {
  const payment = { paidThresholdUnits: 93_100_000n };
  expect(isDust(payment, 0n)).toBe(true);
  expect(isDust(payment, 9_999n)).toBe(true);
  expect(isDust(payment, 10_000n)).toBe(false);
  const tiny = { paidThresholdUnits: 6_860n };
  expect(isDust(tiny, 6_859n)).toBe(true);
  expect(isDust(tiny, 6_860n)).toBe(false);
  expect(isDust({ paidThresholdUnits: 1n }, 0n)).toBe(true);
});

it('takes up to a tenth of the threshold for a little that does not count as an attempt to pay', () => {
  const payment = { paidThresholdUnits: 93_100_000n };
  expect(isNearlyAllMissing(payment, 0n)).toBe(true);
  expect(isNearlyAllMissing(payment, 1n)).toBe(true);
  expect(isNearlyAllMissing(payment, 9_310_000n)).toBe(true);
  expect(isNearlyAllMissing(payment, 9_310_001n)).toBe(false);
  expect(isNearlyAllMissing(payment, 93_099_999n)).toBe(false);
});

describe('what was received', () => {
  const unpaid = {
    status: 'unpaid',
    usdUnits: 25_000_000n,
    paidThresholdUnits: 24_500_000n,
    toleranceBasisPoints: 200,
    maxProviderFeeBasisPoints: 3_000,
  } as const;
  const paid = { ...unpaid, status: 'paid', paidThresholdUnits: 18_000_000n } as const;
  const accepted = { ...paid, paidThresholdUnits: 10_000_000n } as const;
  const atHalf = {
    ...paid,
    paidThresholdUnits: 12_500_000n,
    toleranceBasisPoints: 0,
    maxProviderFeeBasisPoints: 5_000,
  } as const;

  it.each([
    ['nothing', unpaid, [], null],
    ['dust', unpaid, [99_999n], null],
    ['the least part', unpaid, [100_000n], 'partially_paid'],
    ['two parts', unpaid, [5_000_000n, 19_499_999n], 'partially_paid'],
    ['the threshold', unpaid, [24_500_000n], null],
    ['the whole amount', paid, [25_000_000n], null],
    ['what a reorganization leaves of it', paid, [5_000_000n], null],
    ['a little more', paid, [26_249_999n], null],
    ['a twentieth more', paid, [26_250_000n], 'overpaid'],
    ['two deliveries', paid, [22_380_000n, 22_380_000n], 'overpaid'],
    ['a part and the rest', paid, [5_000_000n, 20_000_000n], null],
    ['an accepted part', accepted, [10_000_000n], null],
    ['an accepted part and the rest', accepted, [10_000_000n, 15_000_000n], null],
    ['an accepted part and the whole amount', accepted, [10_000_000n, 25_000_000n], 'overpaid'],
    ['two deliveries at half the price', atHalf, [12_500_000n, 12_500_000n], 'overpaid'],
    ['the whole amount before it is paid', unpaid, [24_500_000n, 24_500_000n], 'overpaid'],
    ['anything after cancellation', { ...unpaid, status: 'canceled' as const }, [50_000_000n], null],
  ])('is told where it is clearly less or more than asked for: %s', (_, payment, units, expected) => {
    const deposits = units.map((each) => ({ units: each }));
    expect(amountMismatchOf(payment, deposits)).toBe(expected);
  });

  it('of a payment of cents is told by its share, as parts below 0.10 USDC would be all of it', () => {
    const small = { ...unpaid, usdUnits: 50_000n, paidThresholdUnits: 49_000n } as const;
    expect(amountMismatchOf(small, [{ units: 9_999n }])).toBeNull();
    expect(amountMismatchOf(small, [{ units: 9_999n }, { units: 1n }])).toBe('partially_paid');
    const smallPaid = { ...small, status: 'paid' } as const;
    expect(amountMismatchOf(smallPaid, [{ units: 60_000n }])).toBeNull();
    expect(amountMismatchOf(smallPaid, [{ units: 150_000n }])).toBe('overpaid');
    const ofOneCent = { ...smallPaid, usdUnits: 10_000n, paidThresholdUnits: 6_860n };
    expect(amountMismatchOf(ofOneCent, [{ units: 9_800n }, { units: 9_999n }])).toBeNull();
    expect(amountMismatchOf(ofOneCent, [{ units: 10_000n }, { units: 10_000n }])).toBe('overpaid');
  });
});
