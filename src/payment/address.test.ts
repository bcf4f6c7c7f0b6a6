import fc from 'fast-check';
import { getAddress } from 'viem/utils';
import { expect, it } from 'vitest';
import { checksumAddress, parsePayoutAddress } from './address.ts';

/** Test vectors from EIP-55. */
const vectors = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

const anyDigits = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString('hex'))
  .filter((digits) => digits !== '0'.repeat(40));

it.each(vectors)('writes and reads the checksum of %s', (address) => {
  expect(checksumAddress(address.slice(2))).toBe(address);
  expect(parsePayoutAddress(address)).toBe(address);
});

it('agrees with viem about every checksum', () => {
  fc.assert(
    fc.property(anyDigits, (digits) => {
      expect(checksumAddress(digits)).toBe(getAddress(`0x${digits}`));
    }),
    { numRuns: 1_000 },
  );
});

it('reads all-lower and all-upper digits, which carry no checksum, to the same address', () => {
  fc.assert(
    fc.property(anyDigits, (digits) => {
      const address = checksumAddress(digits);
      expect(parsePayoutAddress(`0x${digits}`)).toBe(address);
      expect(parsePayoutAddress(`0x${digits.toUpperCase()}`)).toBe(address);
      expect(parsePayoutAddress(address)).toBe(address);
    }),
  );
});

it('refuses mixed case with any one letter in the wrong case', () => {
  const [address] = vectors.slice(4) as [string];
  for (let index = 2; index < address.length; index++) {
    const letter = address[index] as string;
    const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
    if (other === letter) continue;
    expect(parsePayoutAddress(address.slice(0, index) + other + address.slice(index + 1))).toBeNull();
  }
});

it.each([
  `0x${'0'.repeat(40)}`,
  `0X${'1'.repeat(40)}`,
  `0x${'1'.repeat(39)}`,
  `0x${'1'.repeat(41)}`,
  '1'.repeat(40),
  `0x${'g'.repeat(40)}`,
  ` 0x${'1'.repeat(40)}`,
  `0x${'1'.repeat(40)}\n`,
  'vitalik.eth',
  '',
  null,
  undefined,
  5,
  [`0x${'1'.repeat(40)}`],
])('refuses %j', (value) => {
  expect(parsePayoutAddress(value)).toBeNull();
});
