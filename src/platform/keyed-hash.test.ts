import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMac } from './keyed-hash.ts';

it('is HMAC-SHA-256 for keys of every length that fits a block, whatever was hashed before', () => {
  const key = fc.uint8Array({ maxLength: 64 });
  const ascii = fc.string({ unit: 'grapheme-ascii', minLength: 36, maxLength: 36 });
  fc.assert(
    fc.property(key, fc.array(ascii, { minLength: 1, maxLength: 5 }), (bytes, texts) => {
      const macOf = createMac(bytes, 36);
      for (const text of texts) {
        expect(macOf(text)).toBe(createHmac('sha256', bytes).update(text).digest('base64url'));
      }
    }),
  );
});

it('takes no text of another length, of which the text before would fill the rest', () => {
  const macOf = createMac(new Uint8Array(32), 36);
  for (const length of [0, 35, 37]) expect(() => macOf('x'.repeat(length))).toThrow(RangeError);
});

it('takes no key that HMAC would have to hash first', () => {
  expect(() => createMac(new Uint8Array(65), 36)).toThrow(RangeError);
});
