import { LRUCache } from 'lru-cache';
import { keccak256, writeHexBytes, writeHexDigits } from '../platform/keccak.ts';

/** A Polygon address in its EIP-55 checksummed form. */
export type Address = `0x${string}`;

const hexAddress = /^0x[0-9a-fA-F]{40}$/;
const zeroDigits = '0'.repeat(40);

/** Stands for POL, the chain's native coin, where a token is named. */
export const POL_ADDRESS: Address = `0x${zeroDigits}`;

/** The form of an address without its checksum, and the zero address, which has no owner. */
export const HEX_ADDRESS_PATTERN = hexAddress.source;
export const ZERO_ADDRESS_PATTERN = `^0x${zeroDigits}$`;

/** Hold an address while its checksum is made: a text built letter by letter takes twice as long. */
const addressBytes = new Uint8Array(20);
const addressText = Buffer.from(`0x${zeroDigits}`);
/** The same memory without the prefix. */
const addressDigits = new Uint8Array(addressText.buffer, addressText.byteOffset + 2, 40);

/** The EIP-55 form of forty hex digits (any case, no prefix). */
export function checksumAddress(digits: string): Address {
  writeHexBytes(digits, 0, addressBytes);
  return checksumAddressBytes(addressBytes);
}

/** The EIP-55 form of the twenty bytes of an address. */
export function checksumAddressBytes(bytes: Uint8Array): Address {
  writeHexDigits(bytes, addressDigits);
  const hash = keccak256(addressDigits);
  for (let index = 0; index < bytes.length; index++) {
    const hashByte = hash[index] as number;
    raise(2 * index, hashByte >> 7);
    raise(2 * index + 1, (hashByte >> 3) & 1);
  }
  return addressText.toString('latin1') as Address;
}

/** The twenty bytes of an address, `0x` and forty hex digits in any case. */
export function bytesOfAddress(address: string): Uint8Array {
  const bytes = new Uint8Array(20);
  writeHexBytes(address, 2, bytes);
  return bytes;
}

/** Makes a letter upper case where the hash's digit is 8 or more, so its highest bit set. Bit 6 of a letter is set. */
function raise(index: number, highestBit: number): void {
  const digit = addressDigits[index] as number;
  addressDigits[index] = digit - (((digit >> 6) & highestBit) << 5);
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

/** Maximum remembered addresses. An address and its text take some 200 bytes. */
const MAXIMUM_REMEMBERED = 10_000;
/** The length of an address: longer texts are not remembered. */
const ADDRESS_CHARACTERS = 42;

/**
 * `parsePayoutAddress` that remembers the addresses it has accepted: merchants have few and send them with each
 * create, and a checksum costs as much as a dozen look-ups.
 */
export function createPayoutAddressParser(): (value: unknown) => Address | null {
  const accepted = new LRUCache<string, Address>({ max: MAXIMUM_REMEMBERED });
  return (value) => {
    if (typeof value !== 'string' || value.length !== ADDRESS_CHARACTERS) return null;
    const known = accepted.get(value);
    if (known !== undefined) return known;
    const address = parsePayoutAddress(value);
    if (address !== null) accepted.set(value, address);
    return address;
  };
}
