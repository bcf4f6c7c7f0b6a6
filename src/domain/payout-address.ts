import { keccak256 } from './keccak.ts';

/** A Polygon address in its EIP-55 checksummed form. */
export type Address = `0x${string}`;

const hexAddress = /^0x[0-9a-fA-F]{40}$/;
const zeroDigits = '0'.repeat(40);

/** The form of an address without its checksum, and the one address of that form that is nobody's. */
export const HEX_ADDRESS_PATTERN = hexAddress.source;
export const ZERO_ADDRESS_PATTERN = `^0x${zeroDigits}$`;

/** Holds an address while its checksum is made: a text built letter by letter takes twice as long. */
const addressText = Buffer.from(`0x${zeroDigits}`);
/** The same memory without the prefix. */
const digitBytes = new Uint8Array(addressText.buffer, addressText.byteOffset + 2, 40);

/** The EIP-55 form of forty hex digits (any case, no prefix). */
export function checksumAddress(digits: string): Address {
  addressText.write(digits.toLowerCase(), 2, 40, 'latin1');
  const hash = keccak256(digitBytes);
  for (let index = 0; index < 40; index++) {
    const digit = digitBytes[index] as number;
    const hashByte = hash[index >> 1] as number;
    const hashDigit = index % 2 === 0 ? hashByte >> 4 : hashByte & 0xf;
    // A letter is upper case where the hash's digit is 8 or more.
    if (digit > 0x60 && hashDigit >= 8) digitBytes[index] = digit - 32;
  }
  return addressText.toString('latin1') as Address;
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
  if (value === checksummed) return checksummed;
  const carriesChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return carriesChecksum ? null : checksummed;
}
