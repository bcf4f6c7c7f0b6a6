import { decodeFunctionData, encodeFunctionResult } from 'viem/utils';
import { type ChainEndpoint, createChainEndpoint } from '../../../src/settlement/chain/endpoint-rotation.ts';
import type { JsonRpcCall } from '../../../src/settlement/chain/json-rpc.ts';
import { toQuantity } from '../../../src/settlement/chain/node-answers.ts';
import { multicallAbi } from '../../../src/settlement/chain/token-reader.ts';
import { countedHash } from '../counted-address.ts';

export const [BLOCK_MS, CHAIN_ID] = [1_750, 137];
const [GENESIS_MS, FINAL_AFTER_BLOCKS, HOST_LAG_MS] = [1_700_000_000_000, 2, 300];
const ZERO_WORD = `0x${'0'.repeat(64)}` as const;

export interface StubNodeOptions {
  readonly hosts?: number;
  readonly nowMs?: () => number;
  readonly onCall?: (method: string, host: number) => void;
}

/** Nodes without a network, each slightly behind the previous one. Their blocks are empty. */
export function createStubEndpoints(options: StubNodeOptions): readonly ChainEndpoint[] {
  const { hosts = 1, nowMs = Date.now, onCall } = options;
  return Array.from({ length: hosts }, (_, host) => {
    async function call(method: string, [first]: readonly unknown[]) {
      onCall?.(method, host);
      return answer(method, first, newestBlock(nowMs() - HOST_LAG_MS * host));
    }
    const callBatch = (calls: readonly JsonRpcCall[]) =>
      Promise.all(calls.map(({ method, params }) => call(method, params)));
    const client = { label: `host ${host + 1}`, call, callBatch, close: async () => {} };
    return createChainEndpoint(client, CHAIN_ID, { isOneOfSeveral: hosts > 1, monotonicMs: nowMs });
  });
}

export function newestBlock(nowMs: number): number {
  return Math.floor((nowMs - GENESIS_MS) / BLOCK_MS);
}

export function blockOf(number: number) {
  return {
    number: toQuantity(number),
    hash: countedHash(number),
    parentHash: countedHash(number - 1),
    timestamp: toQuantity(Math.floor((GENESIS_MS + number * BLOCK_MS) / 1000)),
  };
}

function answer(method: string, first: unknown, latest: number): unknown {
  switch (method) {
    case 'eth_getBlockByNumber': {
      const number = { latest, finalized: latest - FINAL_AFTER_BLOCKS }[String(first)] ?? Number(first);
      return number > latest ? null : blockOf(number);
    }
    case 'eth_call':
      return answerCall(first as { data: `0x${string}` });
    case 'eth_getLogs':
      return [];
    case 'eth_feeHistory':
      return { baseFeePerGas: ['0x6fc23ac00'], reward: [['0x5d21dba00']] };
    default:
      return { eth_chainId: toQuantity(CHAIN_ID), eth_getBalance: '0x8ac7230489e80000', eth_getCode: '0x00' }[
        method
      ];
  }
}

/** Answers zero to every call, direct or through Multicall3. */
function answerCall({ data }: { readonly data: `0x${string}` }): string {
  if (!data.startsWith('0x82ad56cb')) return ZERO_WORD;
  const [calls] = decodeFunctionData({ abi: multicallAbi, data }).args;
  const result = calls.map(() => ({ success: true, returnData: ZERO_WORD }));
  return encodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', result });
}
