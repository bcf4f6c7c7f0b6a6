import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readHexNumber, writeHexBytes, writeHexDigits } from './keccak.ts';

const someBytes = fc.uint8Array({ minLength: 1, maxLength: 40 });
const asWritten = fc.constantFrom(
  (digits: string) => digits,
  (digits: string) => digits.toUpperCase(),
);

it('reads a number of up to thirteen digits exactly, in either case, wherever it stands', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.nat({ max: 0xff_ffff }),
      asWritten,
      fc.string(),
      (low, high, written, before) => {
        const digits = high.toString(16).slice(0, 5) + low.toString(16).padStart(8, '0');
        const text = `${before}${written(digits)}g`;
        const value = readHexNumber(text, before.length, before.length + digits.length);
        expect(BigInt(value)).toBe(BigInt(`0x${digits}`));
      },
    ),
  );
});

it('writes bytes as digits and digits as bytes, and nothing beside them', () => {
  fc.assert(
    fc.property(someBytes, asWritten, (bytes, written) => {
      const digits = Buffer.alloc(2 * bytes.length + 1, 0x7e);
      writeHexDigits(bytes, digits);
      expect(digits.toString('latin1')).toBe(`${Buffer.from(bytes).toString('hex')}~`);
      const read = new Uint8Array(bytes.length);
      writeHexBytes(`0x${written(digits.toString('latin1'))}`, 2, read);
      expect(read).toEqual(bytes);
    }),
  );
});

it.each(['', '0', 'g0', '0g', '0 ', '-1', '0\u0130', '\uff10\uff10'])(
  'refuses %j where two digits should be, instead of taking them for zeros',
  (text) => {
    expect(readHexNumber(text, 0, 2)).toBeNaN();
    expect(() => writeHexBytes(text, 0, new Uint8Array(1))).toThrow(RangeError);
  },
);
