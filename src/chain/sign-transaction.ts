import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { keccak256 } from 'viem/utils';
import type { Address } from '../domain/payout-address.ts';
import type { FeeQuote, SignedTransaction } from '../domain/ports/chain.ts';

/** An EIP-1559 transaction that sends no coins. */
export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: number;
  readonly gasLimit: bigint;
  readonly fees: FeeQuote;
  /** Null deploys `data`. */
  readonly to: Address | null;
  readonly data: `0x${string}`;
}

/** Signs; the same transaction always gives the same bytes. */
export async function signTransaction(
  account: PrivateKeyAccount,
  transaction: UnsignedTransaction,
): Promise<SignedTransaction> {
  const { chainId, nonce, gasLimit, fees, to, data } = transaction;
  const rawTransaction = await account.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    gas: gasLimit,
    maxFeePerGas: fees.maxFeePerGas,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
    data,
    ...(to === null ? {} : { to }),
  });
  return {
    hash: keccak256(rawTransaction),
    rawTransaction,
    maxFeePerGas: fees.maxFeePerGas,
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
  };
}

/** The account of a private key. Throws `TypeError` without the key, which the library would print. */
export function readAccount(privateKey: `0x${string}`): PrivateKeyAccount {
  if (!/^0x[0-9a-fA-F]{64}$/.test(privateKey)) throw new TypeError('a private key is 0x and 64 hex digits');
  try {
    return privateKeyToAccount(privateKey);
  } catch {
    throw new TypeError('the private key is outside the range of the curve');
  }
}
