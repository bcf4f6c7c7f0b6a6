import type { FinalityDoubt } from '../../src/settlement/chain/confirm-finality.ts';
import type { ChainEndpoint } from '../../src/settlement/chain/endpoint-rotation.ts';
import type { AlteringProxy } from '../chain/altering-proxy.ts';
import type { LocalChain } from '../chain/local-chain.ts';
import { useProxies } from '../chain/use-chain.ts';
import type { Settlement } from './harness.ts';

/** For a file of tests: hosts that can be made to lie, through which the watcher reads the chain. */
export function useReadThrough(
  { chain, settlement }: { readonly chain: LocalChain; readonly settlement: Settlement },
  timeoutMs = 1_000,
) {
  const hosts = useProxies(chain, { timeoutMs });
  /** What the present hosts were reported for: contradictions, and answers that no node may give. */
  const seen = {
    endpoints: [] as readonly ChainEndpoint[],
    doubts: [] as FinalityDoubt[],
    malformed: [] as string[],
  };
  return Object.assign(hosts, {
    seen,
    /** Starts so many honest hosts. Returns the first. */
    async readThrough(count: number): Promise<AlteringProxy> {
      const first = await hosts.start(count);
      seen.doubts = [];
      seen.malformed = [];
      const onMalformed = (label: string, problem: string) => seen.malformed.push(`${label} ${problem}`);
      seen.endpoints = hosts.connect(count, { onMalformed });
      settlement.readThrough(seen.endpoints, (doubt) => seen.doubts.push(doubt));
      await settlement.mineAndWatch(3);
      return first;
    },
  });
}
