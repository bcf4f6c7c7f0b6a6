import { expect, it } from 'vitest';
import { parseLine, readTypedAmount } from './typed-input.ts';

it('reads amounts as people type them, and never guesses', () => {
  for (const [typed, cents] of [
    ['12,50', 1250],
    [' 12.5 ', 1250],
    ['7', 700],
    ['1.234,50', 123_450],
    ['1,234.50', 123_450],
    ["1'234.50", 123_450],
    ['1 234', 123_400],
    ['1\u202f234,5', 123_450],
    ['१२.५०', 1250],
    ['٧٫٥', 750],
    ['1.234', 'unclear'],
    ['1,234', 'unclear'],
    ['1.234.567', 'unclear'],
    ['1.23,4.5', null],
    ['1.234.50', null],
    ['12,345,6', null],
    ['', null],
    ['.5', null],
    ['1e3', null],
    ['99999999999999999999', null],
  ] as const) {
    expect([typed, readTypedAmount(typed)]).toEqual([typed, cents]);
  }
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
