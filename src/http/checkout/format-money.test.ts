import fc from 'fast-check';
import { expect, it } from 'vitest';
import { currencies } from '../../domain/money.ts';
import { formatMoney, pageLocale } from './format-money.ts';

it('writes every amount as the language does', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...currencies),
      fc.integer({ min: 0, max: 200_000_000 }),
      (currency, cents) => {
        const options = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const;
        expect(formatMoney(cents, currency)).toBe(
          new Intl.NumberFormat(pageLocale, options).format(cents / 100),
        );
      },
    ),
  );
});

it('groups thousands', () => {
  expect(formatMoney(99_999, 'USD')).toBe('$999.99');
  expect(formatMoney(100_000, 'USD')).toBe('$1,000.00');
  expect(formatMoney(123_456_789, 'EUR')).toBe('€1,234,567.89');
});
