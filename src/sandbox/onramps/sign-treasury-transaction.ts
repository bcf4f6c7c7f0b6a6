import { privateKeyToAccount } from 'viem/accounts';
import { encodeFunctionData, keccak256, parseAbi } from 'viem/utils';
import type { Address } from '../../domain/payout-address.ts';
import { SANDBOX_CHAIN_ID } from '../chain-process.ts';

const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);

/** Generous and the same for all, so that a transfer never waits for a better price. */
const MAXIMUM_FEE_PER_GAS = 10n ** 11n;
const MAXIMUM_PRIORITY_FEE_PER_GAS = 10n ** 9n;
const MINT_GAS = 200_000n;
const EMPTY_GAS = 21_000n;

/** The treasury that all simulated on-ramps deliver from. */
export interface Treasury {
  readonly privateKey: `0x${string}`;
  readonly usdc: Address;
  /** What is delivered by mistake. */
  readonly otherToken: Address;
}

export interface SignedTransaction {
  readonly hash: string;
  readonly rawTransaction: string;
}

/** Signs the minting of a token to a deposit address, or, without one, a transaction that moves nothing. */
export async function signTreasuryTransaction(
  treasury: Treasury,
  nonce: number,
  mint: { readonly token: Address; readonly to: Address; readonly units: bigint } | null,
): Promise<SignedTransaction> {
  const account = privateKeyToAccount(treasury.privateKey);
  const action =
    mint === null
      ? { to: account.address, gas: EMPTY_GAS }
      : {
          to: mint.token,
          gas: MINT_GAS,
          data: encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [mint.to, mint.units] }),
        };
  const rawTransaction = await account.signTransaction({
    chainId: SANDBOX_CHAIN_ID,
    type: 'eip1559',
    nonce,
    maxFeePerGas: MAXIMUM_FEE_PER_GAS,
    maxPriorityFeePerGas: MAXIMUM_PRIORITY_FEE_PER_GAS,
    ...action,
  });
  return { hash: keccak256(rawTransaction), rawTransaction };
}
