import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseLine, parseTypedNumber, readTypedAmount, readTypedNumber } from './typed-input.ts';

const none = (text: string) => [text, null] as const;

it('reads amounts as people type them, and never guesses', () => {
  for (const [typed, cents] of [
    [' 12.5 ', 1250],
    ['7', 700],
    ['007', 700],
    ['$20.00 USD', 2000],
    ['us$ 20', 2000],
    ['20,00 $ US', 2000],
    ['１，２３４．５０', 123_450],
    ['१२.५०', 1250],
    ['۷٫۵', 750],
    ['1’234', 123_400],
    ['1\u202f234,5', 123_450],
    ['\u200f1.234,50\u00a0$', 123_450],
    ...['1.234', '1,234', '12.345', '1.234.567', '$1,000', '１．２３４'].map(
      (text) => [text, 'unclear'] as const,
    ),
    ...['1.23,4.5', '1.234.50', '12,345,6', '', '.5', '5.', '1e3', '9'.repeat(20), '-5', '0.123,45'].map(
      none,
    ),
    ...['€20', '20 EUR', 'CA$20', '20%', '10²', '1½', '①', '12.3456', '0.001', '20 x', '$', '1 23'].map(none),
  ] as const) {
    expect([typed, readTypedAmount(typed, 'USD')]).toEqual([typed, cents]);
  }
  expect(readTypedAmount('Rs. 1,234.50', 'INR')).toBe(123_450);
  expect(readTypedNumber('2,5 %', 'percent', 2)).toBe('2.5');
  for (const [typed, text] of [
    ['0,123', '0.123'],
    ['1.234567 USDC', '1.234567'],
    ['surplus', 'surplus'],
    ...['1.234 567', "1.234'567", '1.000 000'].map((text) => [text, text] as const),
    ['\u{116da}.5', '0.5'],
  ] as const)
    expect(parseTypedNumber('amount', typed, 'USDC')).toBe(text);
  expect(() => parseTypedNumber('amount', '1.234', 'USDC')).toThrow('amount can be read in two ways');
});

it('reads what any locale and numbering system writes as the same amount, or asks again', () => {
  const locales = ['en', 'de', 'fr', 'de-CH', 'hi-IN', 'ar-EG', 'fa', 'pt-BR', 'nl', 'fr-CA', 'ja'];
  const systems = ['latn', 'arab', 'arabext', 'deva', 'fullwide', 'beng', 'thai', 'mathsans'];
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.constantFrom(...locales),
      fc.constantFrom(...systems),
      fc.constantFrom('USD', 'EUR', 'CAD', 'INR'),
      fc.constantFrom(undefined, 'symbol', 'narrowSymbol', 'code'),
      fc.constantFrom(0, 2),
      (cents, locale, numberingSystem, currency, currencyDisplay, minimumFractionDigits) => {
        const style = currencyDisplay === undefined ? {} : { style: 'currency', currency, currencyDisplay };
        const format = { ...style, numberingSystem, minimumFractionDigits, maximumFractionDigits: 2 };
        const typed = new Intl.NumberFormat(locale, format as Intl.NumberFormatOptions).format(cents / 100);
        const read = readTypedAmount(typed, currency);
        const isWhole = minimumFractionDigits === 0 && cents % 100 === 0;
        expect([typed, cents, ...(isWhole && cents >= 100_000 ? ['unclear'] : [])]).toContain(read);
      },
    ),
  );
});

it('takes one line of text, and counts its characters', () => {
  expect(parseLine('order_line', '  Tea 👕 ', 5)).toBe('Tea 👕');
  for (const typed of [
    '',
    '   ',
    '👕'.repeat(6),
    'a\nb',
    'a\u0007',
    '\ud800',
    'a\u2028b',
    'a\u2029b',
    '\u202eab',
    '\u2066ab',
  ]) {
    expect(() => parseLine('order_line', typed, 5)).toThrow('order_line must');
  }
});
