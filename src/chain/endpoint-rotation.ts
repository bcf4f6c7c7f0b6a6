import { ChainUnavailableError } from '../domain/ports/chain.ts';
import type { BlockReference } from '../domain/ports/settlement-store.ts';
import { addressIdentity } from '../platform/public-address.ts';
import { withCircuit } from './endpoint-circuit.ts';
import {
  createJsonRpcClient,
  type JsonRpcClient,
  type JsonRpcOptions,
  readBlockReference,
  readCount,
  toQuantity,
} from './json-rpc.ts';

/** Which endpoint a user of the chain asks now. It stays with one until that one fails. */
export interface EndpointRotation {
  /** The endpoint that is asked now; one that is paused is passed over as long as another is not. */
  readonly current: ChainEndpoint;
  /** Asks the current endpoint only; when it fails, the next call uses the next endpoint. */
  useOne<T>(use: (endpoint: ChainEndpoint) => Promise<T>): Promise<T>;
  /** Asks the current endpoint and then the others, until one answers. */
  useAny<T>(use: (endpoint: ChainEndpoint) => Promise<T>): Promise<T>;
  /** Leaves an endpoint without a failure. */
  leave(endpoint: ChainEndpoint): void;
}

/** Only a `ChainUnavailableError` counts as a failure of the endpoint; anything else is the caller's. */
export function createEndpointRotation(endpoints: readonly ChainEndpoint[]): EndpointRotation {
  let current = 0;

  function currentEndpoint(): ChainEndpoint {
    const places = endpoints.map((_, step) => (current + step) % endpoints.length);
    current = places.find((place) => !endpoints[place]?.isPaused) ?? current;
    return endpoints[current] as ChainEndpoint;
  }

  function leave(endpoint: ChainEndpoint): void {
    // Two passes that fail together must not skip an endpoint.
    if (endpoints[current] === endpoint) current = (current + 1) % endpoints.length;
  }

  async function useOne<T>(use: (endpoint: ChainEndpoint) => Promise<T>): Promise<T> {
    const endpoint = currentEndpoint();
    try {
      await endpoint.ensureChain();
      return await use(endpoint);
    } catch (error) {
      if (error instanceof ChainUnavailableError) {
        endpoint.suspect();
        leave(endpoint);
      }
      throw error;
    }
  }

  async function useAny<T>(use: (endpoint: ChainEndpoint) => Promise<T>): Promise<T> {
    const failures: ChainUnavailableError[] = [];
    for (let attempt = 0; attempt < endpoints.length; attempt++) {
      try {
        return await useOne(use);
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error;
        failures.push(error);
      }
    }
    const [only] = failures;
    if (failures.length === 1 && only !== undefined) throw only;
    const messages = failures.map((failure) => failure.message).join('; ');
    throw new ChainUnavailableError(`no endpoint answered: ${messages}`, { cause: failures.at(-1) });
  }

  return {
    get current() {
      return currentEndpoint();
    },
    useOne,
    useAny,
    leave,
  };
}

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
  /** Forgets the checked chain after a failure: another node may answer next at this address. */
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

interface ChainEndpointOptions {
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
 * The host behind a URL, whatever port, path or key it names. Only on loopback do ports distinguish endpoints, because
 * what listens there may be a tunnel to anywhere.
 */
function hostOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const name = hostname.replace(/\.+$/, '');
  const address = addressIdentity(name.replace(/^\[|\]$/g, ''));
  // A listener on all addresses answers at each of them, and nodes of one machine differ by their ports.
  const isOwn = address === null ? ownName.test(name) : ownAddress.test(address);
  if (isOwn) return `localhost:${port || (protocol === 'https:' ? 443 : 80)}`;
  return address ?? name;
}

const ownName = /(?:^|\.)localhost$|^ip6-(?:localhost|loopback)$/;

/** 127.0.0.0/8, ::1, and 0.0.0.0 and ::, which connect to this machine; see `addressIdentity`. */
const ownAddress = /^(?:4:7f[0-9a-f]{6}|4:0|6:[01])$/;

/** The hosts of these endpoints, each once. */
export function distinctHosts(endpoints: readonly ChainEndpoint[]): readonly string[] {
  return [...new Set(endpoints.map(({ host }) => host))];
}

/** Ends the idle connections of all endpoints. */
export async function closeChainEndpoints(endpoints: readonly ChainEndpoint[]): Promise<void> {
  await Promise.all(endpoints.map((endpoint) => endpoint.rpc.close()));
}
