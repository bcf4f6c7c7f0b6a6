import { keccak256Hex } from './keccak.ts';
import { type Address, checksumAddress } from './payout-address.ts';

/** What a deposit address is bound to on chain; lost terms would mean stuck funds, so a payment keeps them. */
export interface DepositTerms {
  readonly merchant: Address;
  readonly feeBasisPoints: number;
  readonly feeWallet: Address;
  /** keccak-256 of the payment id, `0x` and 64 hex digits. */
  readonly reference: `0x${string}`;
}

/** A deployed deposit factory and what its addresses depend on. */
export interface DepositFactory {
  readonly chainId: number;
  readonly factory: Address;
  readonly implementation: Address;
}

/** The reference by which the contract's events name a payment. */
export function paymentReference(paymentId: string): `0x${string}` {
  return `0x${keccak256Hex(paymentId)}`;
}

function word(hexDigits: string): string {
  return hexDigits.padStart(64, '0');
}

/** keccak-256 of an ERC-1167 minimal proxy's creation code for this implementation. */
export function cloneCodeHash(implementation: Address): string {
  const code = `3d602d80600a3d3981f3363d3d373d3d3d363d73${implementation.slice(2)}5af43d82803e903d91602b57fd5bf3`;
  return keccak256Hex(Buffer.from(code, 'hex'));
}

/**
 * Deposit addresses of one factory, computed without a chain: the CREATE2 address of a clone whose salt is
 * keccak256(abi.encode(chainid, merchant, feeTo, feeBps, ref)). What depends on the factory alone is computed once:
 * this runs for every checkout.
 */
export function createDepositAddressCalculator(factory: DepositFactory): (terms: DepositTerms) => Address {
  const chainWord = word(factory.chainId.toString(16));
  // 0xff ‖ factory ‖ salt ‖ code hash, with the salt written in for each payment.
  const preimage = Buffer.from(
    `ff${factory.factory.slice(2)}${word('')}${cloneCodeHash(factory.implementation)}`,
    'hex',
  );
  const saltOffset = 21;
  return (terms) => {
    const salt = keccak256Hex(
      Buffer.from(
        chainWord +
          word(terms.merchant.slice(2)) +
          word(terms.feeWallet.slice(2)) +
          word(terms.feeBasisPoints.toString(16)) +
          terms.reference.slice(2),
        'hex',
      ),
    );
    preimage.write(salt, saltOffset, 'hex');
    return checksumAddress(keccak256Hex(preimage).slice(24));
  };
}
