import { ChainUnavailableError } from '../domain/ports/chain.ts';
import type { BlockReference } from '../domain/ports/ledger-store.ts';
import { createJsonRpcClient, type JsonRpcClient, type JsonRpcOptions } from './json-rpc.ts';
import { readBlockReference, readCount, toQuantity } from './rpc-values.ts';

/** The endpoint belongs to another chain; nothing it says may be used. */
export class WrongChainError extends ChainUnavailableError {}

/** One node of the chain, shared by all that ask the chain. */
export interface ChainEndpoint {
  readonly rpc: JsonRpcClient;
  /**
   * Asks for the chain id unless it has been proven since the last failure. Throws `WrongChainError`, or
   * `ChainUnavailableError` when the endpoint does not answer.
   */
  ensureChain(): Promise<void>;
  /** After a failure: what answers next at this address may be something else. */
  suspect(): void;
  /** Null when the endpoint has no such block. */
  readBlock(block: number | 'latest' | 'finalized'): Promise<BlockReference | null>;
}

export interface ChainEndpointsOptions extends Omit<JsonRpcOptions, 'url'> {
  /** In order of preference; at least one. */
  readonly urls: readonly string[];
  readonly chainId: number;
}

/** All endpoints of one chain. Opens no connection yet. Throws `TypeError` for a URL that is none. */
export function createChainEndpoints(options: ChainEndpointsOptions): readonly ChainEndpoint[] {
  const { urls, chainId, ...rpcOptions } = options;
  if (urls.length === 0) throw new TypeError('a chain needs at least one endpoint');
  return urls.map((url) => createChainEndpoint(createJsonRpcClient({ ...rpcOptions, url }), chainId));
}

/** One endpoint behind a client of one's own. */
export function createChainEndpoint(rpc: JsonRpcClient, chainId: number): ChainEndpoint {
  let isProven = false;
  return {
    rpc,
    async ensureChain() {
      if (isProven) return;
      const answered = readCount(await rpc.call('eth_chainId', []), 'chain id');
      if (answered !== chainId) {
        throw new WrongChainError(`${rpc.label} serves chain ${answered}, not ${chainId}`);
      }
      isProven = true;
    },
    suspect() {
      isProven = false;
    },
    async readBlock(block) {
      const tag = typeof block === 'number' ? toQuantity(block) : block;
      return readBlockReference(await rpc.call('eth_getBlockByNumber', [tag, false]));
    },
  };
}

/** Ends the idle connections of all endpoints. */
export async function closeChainEndpoints(endpoints: readonly ChainEndpoint[]): Promise<void> {
  await Promise.all(endpoints.map((endpoint) => endpoint.rpc.close()));
}
