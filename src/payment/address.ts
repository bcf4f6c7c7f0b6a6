import { createKeccak } from 'hash-wasm';

/** Polygon address in EIP-55 checksummed form. */
export type Address = `0x${string}`;

const hexAddress = /^0x[0-9a-fA-F]{40}$/;
const zeroDigits = '0'.repeat(40);

/** Placeholder for POL, the chain's native coin, where a token address is expected. */
export const POL_ADDRESS: Address = `0x${zeroDigits}`;

/** Regular expression for an address in any letter case. It cannot verify the checksum. */
export const HEX_ADDRESS_PATTERN = hexAddress.source;
export const ZERO_ADDRESS_PATTERN = `^0x${zeroDigits}$`;

/** Returns the EIP-55 form of forty hex digits (any case, no prefix). */
export function checksumAddress(digits: string): Address {
  const [lower, upper] = [digits.toLowerCase(), digits.toUpperCase()];
  const hash = keccak256Hex(Buffer.from(lower));
  let address = '0x';
  for (let at = 0; at < lower.length; at++) address += ((hash[at] as string) >= '8' ? upper : lower)[at];
  return address as Address;
}

export function checksumAddressBytes(bytes: Uint8Array): Address {
  return checksumAddress(Buffer.from(bytes).toString('hex'));
}

/** Returns the 20 bytes of an address in any letter case. Throws `RangeError` for other text. */
export function bytesOfAddress(address: string): Uint8Array {
  if (!hexAddress.test(address)) throw new RangeError('an address is 0x and forty hex digits');
  return Buffer.from(address.slice(2), 'hex');
}

/**
 * Parses a payout address; null if it is invalid or zero. Digits in a single case carry no checksum, but mixed-case
 * digits must match EIP-55. viem is no alternative: its `getAddress` repairs wrong checksums, and its `isAddress`
 * rejects all-uppercase digits.
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

/** Terms that determine a deposit address. Payments store them, because funds cannot be released without them. */
export interface DepositTerms {
  readonly merchant: Address;
  readonly feeBasisPoints: number;
  readonly feeWallet: Address;
  /** keccak-256 of the payment id, as `0x` and 64 hex digits. */
  readonly reference: `0x${string}`;
}

interface PayoutTerms extends Pick<DepositTerms, 'feeBasisPoints' | 'feeWallet'> {
  readonly id: string;
  readonly payoutAddress: Address;
}

export function termsOf({ id, payoutAddress, feeBasisPoints, feeWallet }: PayoutTerms): DepositTerms {
  return { merchant: payoutAddress, feeBasisPoints, feeWallet, reference: paymentReference(id) };
}

export interface DepositFactory {
  readonly chainId: number;
  readonly factory: Address;
  readonly implementation: Address;
}

/** Returns the reference that identifies a payment in the contract's events: the keccak-256 hash of the payment id. */
function paymentReference(paymentId: string): `0x${string}` {
  return `0x${keccak256Hex(Buffer.from(paymentId))}`;
}

/** Returns the keccak-256 hash of the creation code of an ERC-1167 proxy for this implementation, without a prefix. */
export function cloneCodeHash(implementation: Address): string {
  const code = `3d602d80600a3d3981f3363d3d373d3d3d363d73${implementation.slice(2)}5af43d82803e903d91602b57fd5bf3`;
  return keccak256Hex(Buffer.from(code, 'hex'));
}

/** Size of the salt's preimage: one 32-byte word each for chain id, merchant, fee wallet, fee and reference. */
const SALT_BYTES = 5 * 32;

/** Computes CREATE2 addresses with the salt `keccak256(abi.encode(chainid, merchant, feeTo, feeBps, ref))`. */
export function createDepositAddressCalculator(factory: DepositFactory): (terms: DepositTerms) => Address {
  const codeHash = cloneCodeHash(factory.implementation);
  return ({ merchant, feeWallet, feeBasisPoints, reference }) => {
    const numbers = [factory.chainId, feeBasisPoints].map((number) => number.toString(16));
    const [chainId, fee] = numbers as [string, string];
    const words = [chainId, merchant.slice(2), feeWallet.slice(2), fee, reference.slice(2)];
    const salt = keccak256Hex(bytesOf(words.map((word) => word.padStart(64, '0')).join(''), SALT_BYTES));
    const preimage = `ff${factory.factory.slice(2)}${salt}${codeHash}`;
    return checksumAddress(keccak256Hex(bytesOf(preimage, 85)).slice(24));
  };
}

/** Decodes hex. Throws `RangeError` for any other character, at which `Buffer.from` would silently truncate. */
function bytesOf(digits: string, length: number): Buffer {
  const bytes = Buffer.from(digits, 'hex');
  if (bytes.length !== length || digits.length !== 2 * length)
    throw new RangeError('the terms of a deposit address are no hex digits');
  return bytes;
}

// One WebAssembly instance serves the whole process, because creating an instance takes milliseconds, but hashing only
// a microsecond. Sharing is safe: each call runs init, update and digest synchronously.
const hasher = await createKeccak(256);

/** Returns the keccak-256 hash of bytes as 64 lower-case hex digits without a prefix. */
export function keccak256Hex(data: Uint8Array): string {
  return hasher.init().update(data).digest('hex');
}
