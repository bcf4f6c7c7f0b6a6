import { privateKeyToAccount } from 'viem/accounts';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import type { JsonRpcClient } from '../chain/json-rpc.ts';
import type { Address } from '../domain/payout-address.ts';
import { SANDBOX_CHAIN_ID } from './chain-process.ts';
import type { DevelopmentKey } from './development-keys.ts';

const abi = parseAbi(['function transfer(address to, uint256 amount) returns (bool)']);

/** Generous, so that a transfer never waits for a better price. */
const MAXIMUM_FEE_PER_GAS = 10n ** 11n;
const MAXIMUM_PRIORITY_FEE_PER_GAS = 10n ** 9n;
const TRANSFER_GAS = 200_000n;

/** A wallet with test USDC, as a customer has one. */
export interface CustomerWallet {
  /**
   * Sends test USDC and resolves when the node has the transfer. Like that of any wallet it is sent once: a chain that is
   * killed within the second forgets it, and the customer pays again.
   */
  send(to: Address, units: bigint): Promise<{ readonly transactionHash: string }>;
}

/** The wallet of this key; one transfer at a time, because each needs the nonce after the last. */
export function createCustomerWallet(
  rpc: JsonRpcClient,
  usdc: Address,
  { address, privateKey }: DevelopmentKey,
): CustomerWallet {
  let last: Promise<unknown> = Promise.resolve();

  async function transfer(to: Address, units: bigint): Promise<{ transactionHash: string }> {
    const nonce = Number(await rpc.call('eth_getTransactionCount', [address, 'pending']));
    const raw = await privateKeyToAccount(privateKey).signTransaction({
      chainId: SANDBOX_CHAIN_ID,
      type: 'eip1559',
      nonce,
      to: usdc,
      gas: TRANSFER_GAS,
      maxFeePerGas: MAXIMUM_FEE_PER_GAS,
      maxPriorityFeePerGas: MAXIMUM_PRIORITY_FEE_PER_GAS,
      data: encodeFunctionData({ abi, functionName: 'transfer', args: [to, units] }),
    });
    return { transactionHash: String(await rpc.call('eth_sendRawTransaction', [raw])) };
  }

  return {
    send(to, units) {
      const sent = last.then(() => transfer(to, units));
      last = sent.catch(() => undefined);
      return sent;
    },
  };
}
