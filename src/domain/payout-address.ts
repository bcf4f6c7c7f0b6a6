import { keccak256Hex } from './keccak.ts';

/** A Polygon address in its EIP-55 checksummed form. */
export type Address = `0x${string}`;

const hexAddress = /^0x[0-9a-fA-F]{40}$/;
const zeroDigits = '0'.repeat(40);

/** The EIP-55 form of forty hex digits (any case, no prefix). */
export function checksumAddress(digits: string): Address {
  const lower = digits.toLowerCase();
  const hash = keccak256Hex(lower);
  let checksummed = '0x';
  for (let index = 0; index < 40; index++) {
    const digit = lower.charCodeAt(index);
    // A letter is upper case where the hash's digit is 8 or more: '8' to '9' and 'a' to 'f' are all ≥ 0x38.
    const isUpper = digit > 0x60 && hash.charCodeAt(index) >= 0x38;
    checksummed += String.fromCharCode(isUpper ? digit - 32 : digit);
  }
  return checksummed as Address;
}

/**
 * The checksummed form of a payout address as a merchant typed it, or null. All-lower and all-upper digits carry
 * no checksum and are taken; mixed case must be exactly EIP-55; the zero address is refused. (viem's `getAddress`
 * repairs a wrong checksum and its `isAddress` refuses all-upper digits: neither is a validator for us.)
 */
export function parsePayoutAddress(value: unknown): Address | null {
  if (typeof value !== 'string' || !hexAddress.test(value)) return null;
  const digits = value.slice(2);
  if (digits === zeroDigits) return null;
  const checksummed = checksumAddress(digits);
  const carriesChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return carriesChecksum && value !== checksummed ? null : checksummed;
}
