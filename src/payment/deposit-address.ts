import { keccak256Hex } from '../platform/keccak.ts';
import type { Payment, PaymentId } from './payment.ts';
import { type Address, checksumAddress } from './payout-address.ts';

/** Terms that a deposit address is bound to on chain. Lost terms would mean stuck funds, so a payment keeps them. */
export interface DepositTerms {
  readonly merchant: Address;
  readonly feeBasisPoints: number;
  readonly feeWallet: Address;
  /** keccak-256 of the payment id, `0x` and 64 hex digits. */
  readonly reference: `0x${string}`;
}

/** The terms its deposit address commits to. */
export function termsOf(payment: Payment, reference: `0x${string}`): DepositTerms {
  return {
    merchant: payment.payoutAddress,
    feeBasisPoints: payment.feeBasisPoints,
    feeWallet: payment.feeWallet,
    reference,
  };
}

/** A deployed deposit factory and what its addresses depend on. */
export interface DepositFactory {
  readonly chainId: number;
  readonly factory: Address;
  readonly implementation: Address;
}

/** The reference by which the contract's events name a payment: the hash of its id. */
export function paymentReference(paymentId: PaymentId): `0x${string}` {
  return `0x${keccak256Hex(Buffer.from(paymentId))}`;
}

/** keccak-256 of an ERC-1167 minimal proxy's creation code for this implementation. */
export function cloneCodeHash(implementation: Address): string {
  const code = `3d602d80600a3d3981f3363d3d373d3d3d363d73${implementation.slice(2)}5af43d82803e903d91602b57fd5bf3`;
  return keccak256Hex(Buffer.from(code, 'hex'));
}

/** Words of the salt: chain id, merchant, fee wallet, fee and reference. */
const SALT_BYTES = 5 * 32;

/**
 * Deposit addresses of one factory, computed without a chain: the CREATE2 address of a clone whose salt is
 * keccak256(abi.encode(chainid, merchant, feeTo, feeBps, ref)).
 */
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

/** Throws `RangeError` for terms that are not hex digits; `Buffer` would silently truncate them. */
function bytesOf(digits: string, length: number): Buffer {
  const bytes = Buffer.from(digits, 'hex');
  if (bytes.length !== length || digits.length !== 2 * length)
    throw new RangeError('the terms of a deposit address are no hex digits');
  return bytes;
}
