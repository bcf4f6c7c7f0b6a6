import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem/utils';
import type { Address } from '../domain/payout-address.ts';
import { ChainUnavailableError, type SweepBalances } from '../domain/ports/chain.ts';
import { type ChainEndpoint, createEndpointRotation } from './endpoint-rotation.ts';
import { type JsonRpcClient, readData, readWord, toQuantity } from './json-rpc.ts';
import { tokenAbi } from './token-reader.ts';

/** Multicall3 is at this address on Polygon, Amoy and most chains. */
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';

const multicallAbi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] returnData)',
]);

/** A balance costs about 10,000 gas, and nodes bound the gas of a call at ten million and more. */
const ADDRESSES_PER_CALL = 500;

/** The block must be one that the endpoints still keep the state of: of the last hundred, say. */
export function createBalanceSweep(options: {
  readonly endpoints: readonly ChainEndpoint[];
  readonly token: Address;
}): SweepBalances {
  const { endpoints, token } = options;
  const rotation = createEndpointRotation(endpoints);
  /** Whether the chain has Multicall3; what was not there may be deployed later, so only a yes is remembered. */
  let hasMulticall = false;

  async function findMulticall(rpc: JsonRpcClient, block: string): Promise<boolean> {
    hasMulticall ||= readData(await rpc.call('eth_getCode', [MULTICALL3, block]), 'code') !== '0x';
    return hasMulticall;
  }

  return (addresses, blockNumber) =>
    rotation.useAny(async ({ rpc }) => {
      const block = toQuantity(blockNumber);
      const read = (await findMulticall(rpc, block)) ? readByMulticall : readByBatch;
      const balances: bigint[] = [];
      for (let start = 0; start < addresses.length; start += ADDRESSES_PER_CALL) {
        balances.push(...(await read(rpc, token, addresses.slice(start, start + ADDRESSES_PER_CALL), block)));
      }
      return balances;
    });
}

function encodeBalanceOf(address: Address): `0x${string}` {
  return encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [address] });
}

async function readByBatch(rpc: JsonRpcClient, token: Address, addresses: readonly Address[], block: string) {
  const answers = await rpc.callBatch(
    addresses.map((address) => ({
      method: 'eth_call',
      params: [{ to: token, data: encodeBalanceOf(address) }, block],
    })),
  );
  return answers.map((answer) => readWord(rpc.label, answer));
}

async function readByMulticall(
  rpc: JsonRpcClient,
  token: Address,
  addresses: readonly Address[],
  block: string,
) {
  const calls = addresses.map((address) => ({
    target: token,
    allowFailure: false,
    callData: encodeBalanceOf(address),
  }));
  const data = encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args: [calls] });
  const answer = readData(await rpc.call('eth_call', [{ to: MULTICALL3, data }, block]), 'call result');
  const results = decodeResults(rpc.label, answer);
  if (results.length !== addresses.length) {
    throw new ChainUnavailableError(
      `${rpc.label} answered ${results.length} of ${addresses.length} balances`,
    );
  }
  return results.map(({ returnData }) => readWord(rpc.label, returnData));
}

function decodeResults(label: string, data: `0x${string}`) {
  try {
    return decodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', data });
  } catch (cause) {
    throw new ChainUnavailableError(`${label} answered a multicall with something else`, { cause });
  }
}
