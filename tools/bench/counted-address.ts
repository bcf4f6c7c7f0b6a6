import { type Address, checksumAddress } from '../../src/payment/address.ts';

export function countedAddress(number: number): Address {
  return checksumAddress(countedDigits(number, 40));
}

export function countedHash(number: number): `0x${string}` {
  return `0x${countedDigits(number, 16).repeat(4)}`;
}

/** Pseudorandom hex digits, whose first 32 bits are unique for each number. */
export function countedDigits(number: number, length: number): string {
  let digits = '';
  let state = number;
  while (digits.length < length) {
    // A bijection of 32 bits (multiplication by an odd number, shifts by xor), so that no two numbers collide.
    state = Math.imul(state ^ (state >>> 16), 0x45d9f3b) + 0x9e3779b9;
    state = (state ^ (state >>> 15)) >>> 0;
    digits += state.toString(16).padStart(8, '0');
  }
  return digits.slice(0, length);
}
