import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leastUnits } from './money.ts';
import { assumedDeliveryUnits, leastDeliveryUnits, providerIds } from './provider-catalogue.ts';

const charges = fc.bigInt({ min: 0n, max: 10_000_000_000n });

describe('the least that one of several providers is assumed to deliver', () => {
  it('is the least of what each of them is, to the unit', () => {
    fc.assert(
      fc.property(fc.subarray([...providerIds], { minLength: 1 }), charges, (providers, charged) => {
        const each = providers.map((provider) => assumedDeliveryUnits(provider, charged));
        expect(leastDeliveryUnits(providers, charged)).toBe(leastUnits(each));
      }),
    );
  });

  it('is the whole value where there is none to deliver', () => {
    fc.assert(
      fc.property(charges, (charged) => {
        expect(leastDeliveryUnits([], charged)).toBe(charged);
      }),
    );
  });
});
