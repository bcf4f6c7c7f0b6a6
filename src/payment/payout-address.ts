import { LRUCache } from 'lru-cache';
import { keccak256Hex } from '../platform/keccak.ts';

/** A Polygon address in its EIP-55 checksummed form. */
export type Address = `0x${string}`;

const hexAddress = /^0x[0-9a-fA-F]{40}$/;
const zeroDigits = '0'.repeat(40);

/** Stands for POL, the chain's native coin, where a token is named. */
export const POL_ADDRESS: Address = `0x${zeroDigits}`;

/** The form of an address without its checksum, and the zero address, which has no owner. */
export const HEX_ADDRESS_PATTERN = hexAddress.source;
export const ZERO_ADDRESS_PATTERN = `^0x${zeroDigits}$`;

/** The EIP-55 form of forty hex digits (any case, no prefix). */
export function checksumAddress(digits: string): Address {
  const lower = digits.toLowerCase();
  const hash = keccak256Hex(Buffer.from(lower));
  let address = '0x';
  for (const [index, digit] of [...lower].entries())
    address += (hash[index] as string) >= '8' ? digit.toUpperCase() : digit;
  return address as Address;
}

/** The EIP-55 form of the twenty bytes of an address. */
export function checksumAddressBytes(bytes: Uint8Array): Address {
  return checksumAddress(Buffer.from(bytes).toString('hex'));
}

/** The twenty bytes of an address, `0x` and forty hex digits in any case. */
export function bytesOfAddress(address: string): Uint8Array {
  if (!hexAddress.test(address)) throw new RangeError('an address is 0x and forty hex digits');
  return Buffer.from(address.slice(2), 'hex');
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
