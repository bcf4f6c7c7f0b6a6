import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plainDecimal } from './request-input.ts';

it.each([
  ['1e2', '100'],
  ['1E+2', '100'],
  ['1.0e1', '10'],
  ['1.005e1', '10.05'],
  ['1.00e0', '1.00'],
  ['1e-2', '0.01'],
  ['100e-3', '0.100'],
  ['0.0e2', '0'],
  ['-1e2', '-100'],
  ['10.10', '10.10'],
  ['-0', '-0'],
  ['1e21', '1e21'],
  ['1e999999999999', '1e999999999999'],
])('writes the number %s as %s', (number, plain) => {
  expect(plainDecimal(number)).toBe(plain);
});

it('writes any number with all of its digits, and of the same value', () => {
  const digits = fc.stringMatching(/^(0|[1-9]\d{0,8})$/);
  fc.assert(
    fc.property(
      digits,
      fc.stringMatching(/^\d{0,6}$/),
      fc.integer({ min: -20, max: 20 }),
      (whole, fraction, exponent) => {
        const written = `${whole}${fraction === '' ? '' : `.${fraction}`}`;
        const plain = plainDecimal(`${written}e${exponent}`);
        expect(plain).toMatch(/^(0|[1-9]\d*)(\.\d+)?$/);
        expect(plain.split('.')[1]?.length ?? 0).toBe(Math.max(0, fraction.length - exponent));
        // Compares scaled integers, which are not rounded.
        const scaled = BigInt(plain.replace('.', ''));
        expect(scaled).toBe(
          BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, exponent - fraction.length)),
        );
      },
    ),
  );
});
