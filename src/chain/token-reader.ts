import { encodeFunctionData, parseAbi, toEventSelector } from 'viem/utils';
import type { Address } from '../domain/payout-address.ts';
import type { TokenReader } from '../domain/ports/chain.ts';
import { type ChainEndpoint, createEndpointRotation } from './endpoint-rotation.ts';
import { readWord } from './json-rpc.ts';
import { revertReasonOf } from './revert-reason.ts';

interface TokenReaderOptions {
  readonly endpoints: readonly ChainEndpoint[];
  readonly token: Address;
}

/** Asks the token at the newest block; each question goes to the endpoints in turn until one answers. */
export function createTokenReader({ endpoints, token }: TokenReaderOptions): TokenReader {
  const rotation = createEndpointRotation(endpoints);

  async function ask(data: `0x${string}`): Promise<bigint> {
    return rotation.useAny(async ({ rpc }) =>
      readWord(rpc.label, await rpc.call('eth_call', [{ to: token, data }, 'latest'])),
    );
  }

  return {
    async isBlocklisted(address) {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'isBlacklisted', args: [address] });
      return (await ask(data)) !== 0n;
    },
    async readBalance(address) {
      return ask(encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [address] }));
    },
    async simulateRelease(deposit, merchant, units) {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [merchant, units] });
      const transaction = { from: deposit, to: token, data };
      // A revert is the chain's answer, not a failure of the endpoint, so it must not move on to the next one.
      return rotation.useAny(async ({ rpc }) => {
        try {
          const moved = readWord(rpc.label, await rpc.call('eth_call', [transaction, 'latest']));
          return moved === 0n ? 'the token refused the transfer' : null;
        } catch (error) {
          const reason = revertReasonOf(error);
          if (reason === null) throw error;
          return reason;
        }
      });
    },
  };
}

/** The part of Circle's token that we use. */
export const tokenAbi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function isBlacklisted(address account) view returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
]);

/** topics[0] of `Transfer(from, to, value)`; topics[2] is the recipient. */
export const TRANSFER_TOPIC = toEventSelector('Transfer(address,address,uint256)');
