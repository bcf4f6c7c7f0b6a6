import { bytesToHex } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromHex, isEqualInConstantTime } from './bytes.ts';

const bytes = fc.uint8Array({ maxLength: 300 });

describe('bytes', () => {
  it('come back from their text, and from nothing that is not theirs', () => {
    fc.assert(fc.property(bytes, (some) => void expect(fromHex(bytesToHex(some))).toEqual(some)));
    for (const wrong of ['0', 'zz', '0x0', '0x0g', '00 ']) expect(fromHex(wrong)).toBeNull();
  });

  it('are equal only to the same bytes', () => {
    fc.assert(
      fc.property(
        bytes,
        bytes,
        (a, b) => void expect(isEqualInConstantTime(a, b)).toBe(bytesToHex(a) === bytesToHex(b)),
      ),
    );
    expect(isEqualInConstantTime(new Uint8Array(3), new Uint8Array(3))).toBe(true);
  });
});
