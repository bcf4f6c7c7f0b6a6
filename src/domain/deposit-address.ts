import { keccak256, keccak256Hex, writeHexBytes } from '../platform/keccak.ts';
import type { Payment, PaymentId } from './payment.ts';
import { PAYMENT_ID_CHARACTERS } from './payment-id.ts';
import { type Address, checksumAddressBytes } from './payout-address.ts';

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

const WORD_BYTES = 32;
const ADDRESS_BYTES = 20;

/** Holds the text of a payment id while it is hashed. */
const idText = Buffer.alloc(PAYMENT_ID_CHARACTERS);

/** The reference by which the contract's events name a payment: the hash of its id, which is ASCII. */
export function paymentReference(paymentId: PaymentId): `0x${string}` {
  // Letters of the previous id would remain.
  if (paymentId.length !== PAYMENT_ID_CHARACTERS) throw new RangeError('a payment id has another length');
  idText.write(paymentId, 'latin1');
  return `0x${keccak256Hex(idText)}`;
}

/** keccak-256 of an ERC-1167 minimal proxy's creation code for this implementation. */
export function cloneCodeHash(implementation: Address): string {
  const code = `3d602d80600a3d3981f3363d3d373d3d3d363d73${implementation.slice(2)}5af43d82803e903d91602b57fd5bf3`;
  return keccak256Hex(Buffer.from(code, 'hex'));
}

/**
 * Deposit addresses of one factory, computed without a chain: the CREATE2 address of a clone whose salt is
 * keccak256(abi.encode(chainid, merchant, feeTo, feeBps, ref)).
 *
 * This runs for every checkout, so both preimages are laid out once and only the terms are written in. Nothing is left
 * over from the terms before: each field is overwritten in its full width, or it throws.
 */
export function createDepositAddressCalculator(factory: DepositFactory): (terms: DepositTerms) => Address {
  const salt = new DataView(new ArrayBuffer(5 * WORD_BYTES));
  salt.setBigUint64(WORD_BYTES - 8, BigInt(factory.chainId));
  const saltBytes = new Uint8Array(salt.buffer);
  // An address fills the end of its word.
  const merchant = saltBytes.subarray(2 * WORD_BYTES - ADDRESS_BYTES, 2 * WORD_BYTES);
  const feeWallet = saltBytes.subarray(3 * WORD_BYTES - ADDRESS_BYTES, 3 * WORD_BYTES);
  const reference = saltBytes.subarray(4 * WORD_BYTES);

  // 0xff ‖ factory ‖ salt ‖ code hash
  const preimage = new Uint8Array(1 + ADDRESS_BYTES + 2 * WORD_BYTES);
  preimage[0] = 0xff;
  preimage.set(Buffer.from(factory.factory.slice(2), 'hex'), 1);
  preimage.set(Buffer.from(cloneCodeHash(factory.implementation), 'hex'), 1 + ADDRESS_BYTES + WORD_BYTES);

  return (terms) => {
    writeHexBytes(terms.merchant, 2, merchant);
    writeHexBytes(terms.feeWallet, 2, feeWallet);
    salt.setUint32(4 * WORD_BYTES - 4, terms.feeBasisPoints);
    writeHexBytes(terms.reference, 2, reference);
    preimage.set(keccak256(saltBytes), 1 + ADDRESS_BYTES);
    return checksumAddressBytes(keccak256(preimage).subarray(WORD_BYTES - ADDRESS_BYTES));
  };
}
