import { afterAll, afterEach, beforeAll } from 'vitest';
import type { ChainView } from '../../src/settlement/chain/chain.ts';
import type { FinalityDoubt } from '../../src/settlement/chain/confirm-finality.ts';
import { createChainReader } from '../../src/settlement/chain/create-chain-reader.ts';
import {
  type ChainEndpoint,
  type ChainEndpointsOptions,
  closeChainEndpoints,
  createChainEndpoints,
} from '../../src/settlement/chain/endpoint-rotation.ts';
import type { AnvilOptions } from '../support/anvil.ts';
import { type AlteringProxy, startAlteringProxy } from './altering-proxy.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';

/** For a file of tests: a chain that runs from its first test to its last. */
export function useLocalChain(options: AnvilOptions = {}): LocalChain {
  let chain: LocalChain | undefined;
  beforeAll(async () => {
    chain = await startLocalChain(options);
  });
  afterAll(() => chain?.stop());
  return new Proxy({} as LocalChain, { get: (_, name) => Reflect.get(chain as LocalChain, name) });
}

type Options = Partial<Omit<ChainEndpointsOptions, 'urls' | 'chainId'>>;

/** For a file of tests: hosts in front of the chain's node that can be made to lie. They end after each test. */
export function useProxies(chain: LocalChain, defaults: Options = {}) {
  const opened: (readonly ChainEndpoint[])[] = [];
  let proxies: readonly AlteringProxy[] = [];
  const proxy = (place: number) => proxies[place] as AlteringProxy;

  /** So many honest hosts, in the place of those before. Returns the first. */
  async function start(count: number): Promise<AlteringProxy> {
    await stop();
    const starting = Array.from({ length: count }, () => startAlteringProxy(chain.anvil.url));
    proxies = await Promise.all(starting);
    return proxy(0);
  }

  function closeLater(endpoints: readonly ChainEndpoint[]): readonly ChainEndpoint[] {
    opened.push(endpoints);
    return endpoints;
  }

  /** Endpoints at so many of the hosts, or at these URLs. */
  function connect(at: number | readonly string[] = proxies.length, options: Options = {}) {
    const urls = typeof at === 'number' ? proxies.slice(0, at).map(({ url }) => url) : at;
    const { chainId } = chain.anvil;
    return closeLater(createChainEndpoints({ urls, chainId, ...defaults, ...options }));
  }

  /** A reader of the chain through such endpoints, and what it doubts. */
  function createReader(...at: Parameters<typeof connect>) {
    const doubts: FinalityDoubt[] = [];
    const reader = createChainReader({
      endpoints: connect(...at),
      sources: { token: chain.token, factories: [chain.factory] },
      onDisagreement: (doubt) => doubts.push(doubt),
    });
    return { reader, doubts };
  }

  async function stop(): Promise<void> {
    for (const endpoints of opened.splice(0)) await closeChainEndpoints(endpoints);
    for (const each of proxies) await each.stop();
    proxies = [];
  }

  afterEach(stop);
  return {
    get proxies() {
      return proxies;
    },
    proxy,
    start,
    connect,
    closeLater,
    createReader,
  };
}

/** Both heads of the chain, read in the order of a pass. */
export async function headsOf(view: ChainView) {
  return { latest: await view.readLatest(), final: await view.readFinal() };
}
