import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enoughUnitsOf, isNearlyAllMissing, isPlausibleQuote, sessionDeliveryUnits } from './enough.ts';
import { assumedDeliveryUnits, providerIds } from './provider-catalogue.ts';

const charges = fc.bigInt({ min: 1n, max: 10_000_000_000n });

describe('enough', () => {
  it('is what is expected less the tolerance', () => {
    expect(enoughUnitsOf(95_000_000n, 200)).toBe(93_100_000n);
  });

  it('is at least one unit, whatever is expected and tolerated', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 12n }),
        fc.integer({ min: 0, max: 10_000 }),
        (units, tolerance) => {
          expect(enoughUnitsOf(units, tolerance)).toBeGreaterThanOrEqual(1n);
        },
      ),
    );
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

  it('of nothing is never believed, and what the catalogue assumes always is', () => {
    fc.assert(
      fc.property(fc.constantFrom(...providerIds), charges, (provider, charged) => {
        const assumed = assumedDeliveryUnits(provider, charged);
        expect(isPlausibleQuote(provider, 0n, charged)).toBe(false);
        expect(isPlausibleQuote(provider, assumed, charged)).toBe(assumed > 0n);
      }),
    );
  });
});

it('expects of a session its quote, or else what the catalogue assumes of its provider', () => {
  expect(sessionDeliveryUnits({ provider: 'wert', quotedUnits: 97n }, 100_000_000n)).toBe(97n);
  expect(sessionDeliveryUnits({ provider: 'wert', quotedUnits: null }, 100_000_000n)).toBe(95_000_000n);
});

it('takes up to a tenth of enough for a little that does not count as an attempt to pay', () => {
  const payment = { enoughUnits: 93_100_000n };
  expect(isNearlyAllMissing(payment, 0n)).toBe(true);
  expect(isNearlyAllMissing(payment, 1n)).toBe(true);
  expect(isNearlyAllMissing(payment, 9_310_000n)).toBe(true);
  expect(isNearlyAllMissing(payment, 9_310_001n)).toBe(false);
  expect(isNearlyAllMissing(payment, 93_099_999n)).toBe(false);
});
