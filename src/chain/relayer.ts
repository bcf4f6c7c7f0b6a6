import { ChainUnavailableError, type Relayer } from '../domain/ports/chain.ts';
import { broadcast } from './broadcast.ts';
import type { ChainEndpoint } from './chain-endpoint.ts';
import { encodeRelayCall } from './deposit-factory-abi.ts';
import { createEndpointRotation } from './endpoint-rotation.ts';
import { estimateGas } from './estimate-gas.ts';
import { DEFAULT_MAXIMUM_FEE_PER_GAS_WEI, POLYGON_MINIMUM_TIP_WEI, quoteFees } from './quote-fees.ts';
import { readCount, readQuantity, toQuantity } from './rpc-values.ts';
import { readAccount, signTransaction } from './sign-transaction.ts';

export interface RelayerOptions {
  readonly endpoints: readonly ChainEndpoint[];
  readonly chainId: number;
  /** `0x` and 64 hex digits. Never printed. */
  readonly privateKey: `0x${string}`;
  /** Default 25 gwei, as on Polygon. */
  readonly minimumTipWei?: bigint;
  /** The most that a quote says. Default 5,000 gwei. */
  readonly maximumFeePerGasWei?: bigint;
}

/** Sends for one key. Throws `TypeError` for a key that is none; the message does not repeat it. */
export function createRelayer(options: RelayerOptions): Relayer {
  const { endpoints, chainId } = options;
  const account = readAccount(options.privateKey);
  const rotation = createEndpointRotation(endpoints);
  const feeBounds = {
    minimumTipWei: options.minimumTipWei ?? POLYGON_MINIMUM_TIP_WEI,
    maximumFeePerGasWei: options.maximumFeePerGasWei ?? DEFAULT_MAXIMUM_FEE_PER_GAS_WEI,
  };

  async function readTransactionCount(endpoint: ChainEndpoint, of: string, block: string): Promise<number> {
    const answer = await endpoint.rpc.call('eth_getTransactionCount', [of, block]);
    return readCount(answer, 'transaction count');
  }

  async function isAnyMinedAt(endpoint: ChainEndpoint, hashes: readonly string[]): Promise<boolean> {
    await endpoint.ensureChain();
    const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
    return (await endpoint.rpc.callBatch(calls)).some((receipt) => receipt !== null);
  }

  return {
    address: account.address,
    readLatestTransactionCount: (of = account.address) =>
      rotation.useAny((endpoint) => readTransactionCount(endpoint, of, 'latest')),
    readFinalTransactionCount: (of = account.address) =>
      rotation.useAny(async (endpoint) => {
        const block = await endpoint.readBlock('finalized');
        if (block === null) throw new ChainUnavailableError(`${endpoint.rpc.label} has no finalized block`);
        // By number, not by the tag, which may stand for a newer block by now.
        return {
          count: await readTransactionCount(endpoint, of, toQuantity(block.number)),
          blockNumber: block.number,
        };
      }),
    async isAnyMined(hashes) {
      const outcomes = await Promise.allSettled(endpoints.map((endpoint) => isAnyMinedAt(endpoint, hashes)));
      const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      if (answers.length > 0) return answers.includes(true);
      throw new ChainUnavailableError('no endpoint told whether a transaction was mined', {
        cause: (outcomes[0] as PromiseRejectedResult | undefined)?.reason,
      });
    },
    estimateGas: (call) =>
      rotation.useAny(({ rpc }) =>
        estimateGas(rpc, { from: account.address, to: call.factory, data: encodeRelayCall(call) }),
      ),
    quoteFees: () => rotation.useAny(({ rpc }) => quoteFees(rpc, feeBounds)),
    sign: (call, nonce, gasLimit, fees) =>
      signTransaction(account, {
        chainId,
        nonce,
        gasLimit,
        fees,
        to: call.factory,
        data: encodeRelayCall(call),
      }),
    broadcast: (rawTransaction) => broadcast(endpoints, rawTransaction),
    readGasBalance: () =>
      rotation.useAny(async ({ rpc }) =>
        readQuantity(await rpc.call('eth_getBalance', [account.address, 'latest']), 'balance'),
      ),
  };
}
