import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js';
import { fromHex, toBytes } from './bytes.ts';
import { DepositAddressError } from './errors.ts';
import type { Payment, SettlementPublication } from './wire.ts';

const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
/** Maximum number of combinations to try, more than any service has, to limit the computation. */
const MAXIMUM_CANDIDATES = 256;

/** Required fields of a payment, whether created as a checkout, created as a direct payment, or read. */
export type DepositPayment = Pick<Payment, 'payment_id' | 'fee_percent'> &
  (
    | Pick<Payment, 'polygon_address_in'>
    | (Pick<Payment, 'address_in'> & { readonly polygon_address_in?: never })
  );

export interface DepositTerms {
  /** Payout address that was passed to the creation. */
  readonly payoutAddress: string;
  /** Publication of the service, preferably a reviewed copy that is kept with the shop's code. */
  readonly publication: Omit<SettlementPublication, 'recompute_deposit_address'>;
  /**
   * Maximum agreed fee in percent. Default: 10, the service's maximum. The contract allows any fee up to 100, so a
   * higher value could accept an address that takes everything.
   */
  readonly maximumFeePercent?: number;
}

/** Maximum fee of an account, in percent. */
const HIGHEST_FEE_PERCENT = 10;

/** Inputs that determine the deposit address. */
export interface DepositProof {
  readonly factory: string;
  readonly feeWallet: string;
  readonly feeBasisPoints: number;
}

/**
 * Proves offline that USDC at this payment's deposit address can only go to the payout address, less the fee. It
 * recomputes the deposit address. Call it after creating the payment and before redirecting the customer.
 *
 * The proof assumes that the factory is the published contract, which never changes. Check this once on the chain.
 *
 * @throws DepositAddressError if the address differs, the fee is above the maximum, or the data is malformed; do not
 *   use the payment
 */
export function verifyDepositAddress(payment: DepositPayment, terms: DepositTerms): DepositProof {
  const { publication, maximumFeePercent = HIGHEST_FEE_PERCENT } = terms;
  const { factories, fee_wallets: feeWallets } = publication;
  if (factories.length * feeWallets.length > MAXIMUM_CANDIDATES) {
    throw new DepositAddressError('more factories and fee wallets are published than can be right');
  }
  if (!(payment.fee_percent <= maximumFeePercent)) {
    throw new DepositAddressError(`the fee is ${payment.fee_percent} %, more than ${maximumFeePercent} %`);
  }
  const feeBasisPoints = toBasisPoints(payment.fee_percent);
  const merchant = readAddress(terms.payoutAddress, 'payoutAddress');
  const depositAddress = payment.polygon_address_in ?? payment.address_in;
  const given = bytesToHex(readAddress(depositAddress, 'address_in'));
  const reference = keccak_256(toBytes(payment.payment_id));

  for (const { address, implementation } of factories) {
    const factory = readAddress(address, 'a factory');
    const clone = readAddress(implementation, 'an implementation');
    if (bytesToHex(clone) !== bytesToHex(firstContractOf(factory))) {
      throw new DepositAddressError(`${implementation} is not what the factory ${address} deployed first`);
    }
    const codeHash = cloneCodeHash(clone);
    for (const feeWallet of feeWallets) {
      const salt = keccak_256(
        concatBytes(
          word(publication.chain_id),
          word(merchant),
          word(readAddress(feeWallet, 'a fee wallet')),
          word(feeBasisPoints),
          reference,
        ),
      );
      const hash = keccak_256(concatBytes(Uint8Array.of(0xff), factory, salt, codeHash));
      if (bytesToHex(hash.subarray(-ADDRESS_BYTES)) === given)
        return { factory: address, feeWallet, feeBasisPoints };
    }
  }
  throw new DepositAddressError(
    `${depositAddress} is not the deposit address of payment ${payment.payment_id} to ${terms.payoutAddress}`,
  );
}

/** Encodes a number, or right-aligned bytes, as an argument in the contract's ABI. */
function word(value: number | Uint8Array): Uint8Array {
  const bytes = new Uint8Array(WORD_BYTES);
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || value < 0) throw new DepositAddressError(`${value} is no chain id`);
    new DataView(bytes.buffer).setBigUint64(WORD_BYTES - 8, BigInt(value));
  } else {
    bytes.set(value, WORD_BYTES - value.length);
  }
  return bytes;
}

function readAddress(text: string, what: string): Uint8Array {
  const bytes = /^0x/.test(text) ? fromHex(text) : null;
  if (bytes?.length !== ADDRESS_BYTES) throw new DepositAddressError(`${what} is no address: ${text}`);
  return bytes;
}

/** Converts a percentage of at most two decimals. Rounds, because 2.3 × 100 is not exactly 230 in floating point. */
function toBasisPoints(percent: number): number {
  const basisPoints = Math.round(percent * 100);
  if (!(basisPoints >= 0 && basisPoints <= 10_000) || Math.abs(basisPoints - percent * 100) > 1e-6) {
    throw new DepositAddressError(`${percent} is no fee`);
  }
  return basisPoints;
}

/** Returns the address of the first contract that `creator` creates: keccak256(rlp([creator, 1])). */
function firstContractOf(creator: Uint8Array): Uint8Array {
  return keccak_256(concatBytes(Uint8Array.of(0xd6, 0x94), creator, Uint8Array.of(0x01))).subarray(
    -ADDRESS_BYTES,
  );
}

/** Returns the keccak-256 of the creation code of an ERC-1167 clone. */
function cloneCodeHash(implementation: Uint8Array): Uint8Array {
  const before = fromHex('3d602d80600a3d3981f3363d3d373d3d3d363d73') as Uint8Array;
  const after = fromHex('5af43d82803e903d91602b57fd5bf3') as Uint8Array;
  return keccak_256(concatBytes(before, implementation, after));
}
