import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { createKeccak } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import { fromHex, isEqualInConstantTime, toBytes, toHex } from './bytes.ts';
import { hmacSha256, sha256 } from './hmac-sha256.ts';
import { keccak256 } from './keccak256.ts';

/** Longer than two blocks of either hash, so that every way of padding occurs. */
const bytes = fc.uint8Array({ maxLength: 300 });

describe('SHA-256', () => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('gives the published value of %j', (text, digest) => {
    expect(toHex(sha256(toBytes(text)))).toBe(digest);
  });

  it('is that of node:crypto for any bytes', () => {
    fc.assert(
      fc.property(bytes, (message) => {
        expect(toHex(sha256(message))).toBe(createHash('sha256').update(message).digest('hex'));
      }),
    );
  });
});

describe('HMAC-SHA256', () => {
  it('gives the published value (RFC 4231, case 2)', () => {
    expect(toHex(hmacSha256(toBytes('Jefe'), toBytes('what do ya want for nothing?')))).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it('is that of node:crypto for any key and message', () => {
    fc.assert(
      fc.property(bytes, bytes, (key, message) => {
        expect(toHex(hmacSha256(key, message))).toBe(createHmac('sha256', key).update(message).digest('hex'));
      }),
    );
  });
});

describe('keccak-256', () => {
  it.each([
    ['', 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
    ['abc', '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
    [
      'The quick brown fox jumps over the lazy dog',
      '4d741b6f1eb29cb2a9b9911c82f56fa8d73b04959d3d9d222895df6c0b28aa15',
    ],
  ])('gives the published value of %j', (text, digest) => {
    expect(toHex(keccak256(toBytes(text)))).toBe(digest);
  });

  it('is that of a well-kept library for any bytes', async () => {
    const library = await createKeccak(256);
    fc.assert(
      fc.property(bytes, (message) => {
        expect(toHex(keccak256(message))).toBe(library.init().update(message).digest('hex'));
      }),
    );
  });
});

describe('bytes', () => {
  it('come back from their text, and from nothing that is not theirs', () => {
    fc.assert(fc.property(bytes, (some) => void expect(fromHex(toHex(some))).toEqual(some)));
    for (const wrong of ['0', 'zz', '0x0', '0x0g', '00 ']) expect(fromHex(wrong)).toBeNull();
  });

  it('are equal only to the same bytes', () => {
    fc.assert(
      fc.property(
        bytes,
        bytes,
        (a, b) => void expect(isEqualInConstantTime(a, b)).toBe(toHex(a) === toHex(b)),
      ),
    );
    expect(isEqualInConstantTime(new Uint8Array(3), new Uint8Array(3))).toBe(true);
  });
});
