import { ChainUnavailableError } from '../domain/ports/chain.ts';
import type { BlockReference } from '../domain/ports/ledger-store.ts';
import { withCircuit } from './endpoint-circuit.ts';
import { createJsonRpcClient, type JsonRpcClient, type JsonRpcOptions } from './json-rpc.ts';
import { readBlockReference, readCount, toQuantity } from './rpc-values.ts';

/** The endpoint belongs to another chain; nothing it says may be used. */
export class WrongChainError extends ChainUnavailableError {}

/** One node of the chain, shared by all that ask the chain. */
export interface ChainEndpoint {
  readonly rpc: JsonRpcClient;
  /** Only endpoints of different hosts can confirm each other. */
  readonly host: string;
  /** Whether its circuit is open: it did not answer in time, and every call fails at once for a while. */
  readonly isPaused: boolean;
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
  readonly monotonicMs?: () => number;
}

/**
 * All endpoints of one chain. Opens no connection yet. Where there are several, one that hangs is paused for all that
 * share it. Throws `TypeError` for a URL that is none.
 */
export function createChainEndpoints(options: ChainEndpointsOptions): readonly ChainEndpoint[] {
  const { urls, chainId, monotonicMs = () => performance.now(), ...rpcOptions } = options;
  if (urls.length === 0) throw new TypeError('a chain needs at least one endpoint');
  return urls.map((url) =>
    createChainEndpoint(createJsonRpcClient({ ...rpcOptions, url }), chainId, {
      host: hostOf(url),
      isOneOfSeveral: urls.length > 1,
      monotonicMs,
    }),
  );
}

export interface ChainEndpointOptions {
  /** By default the client's label. */
  readonly host?: string;
  /** Whether others can be asked while this one is paused. Default false. */
  readonly isOneOfSeveral?: boolean;
  readonly monotonicMs?: () => number;
}

/** One endpoint behind a client of one's own. */
export function createChainEndpoint(
  client: JsonRpcClient,
  chainId: number,
  options: ChainEndpointOptions = {},
): ChainEndpoint {
  const { host = client.label, isOneOfSeveral = false, monotonicMs = () => performance.now() } = options;
  const circuit = isOneOfSeveral ? withCircuit(client, monotonicMs) : null;
  const rpc = circuit ?? client;
  let isProven = false;
  return {
    rpc,
    host,
    get isPaused() {
      return circuit?.isOpen ?? false;
    },
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

/**
 * The host behind a URL, whatever port, path or key it names. Only on loopback do ports tell endpoints apart, because
 * what listens there may be a tunnel to anywhere.
 */
function hostOf(url: string): string {
  const { hostname, port } = new URL(url);
  const name = hostname.replace(/\.$/, '');
  if (name === 'localhost' || name === '127.0.0.1' || name === '[::1]') return `localhost:${port}`;
  return name.startsWith('127.') ? `${name}:${port}` : name;
}

/** The hosts of these endpoints, each once. */
export function distinctHosts(endpoints: readonly ChainEndpoint[]): readonly string[] {
  return [...new Set(endpoints.map(({ host }) => host))];
}

/** Ends the idle connections of all endpoints. */
export async function closeChainEndpoints(endpoints: readonly ChainEndpoint[]): Promise<void> {
  await Promise.all(endpoints.map((endpoint) => endpoint.rpc.close()));
}
