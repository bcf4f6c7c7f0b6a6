import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parsePayoutAddress } from './payout-address.ts';
import { createPayoutAddressParser } from './payout-address-cache.ts';

const hexDigits = fc.stringMatching(/^[0-9a-fA-F]{40}$/);
const addressLike = fc.oneof(
  hexDigits.map((digits) => `0x${digits}`),
  hexDigits.map((digits) => `0x${digits.toLowerCase()}`),
  hexDigits.map((digits) => parsePayoutAddress(`0x${digits.toUpperCase()}`)),
  hexDigits,
  fc.anything(),
);

it('says the same as the parser without a memory, the first time and every later time', () => {
  const parse = createPayoutAddressParser();
  fc.assert(
    fc.property(addressLike, (value) => {
      const expected = parsePayoutAddress(value);
      expect(parse(value)).toBe(expected);
      expect(parse(value)).toBe(expected);
    }),
  );
});

it('goes on judging correctly after more addresses than it remembers', () => {
  const parse = createPayoutAddressParser();
  for (let index = 1; index <= 10_050; index++) {
    const typed = `0x${index.toString(16).padStart(40, '0')}`;
    expect(parse(typed)).toBe(parsePayoutAddress(typed));
  }
  expect(parse('0x0000000000000000000000000000000000000001')).toBe(
    parsePayoutAddress('0x0000000000000000000000000000000000000001'),
  );
});
