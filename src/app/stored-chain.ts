import { closeChainEndpoints, createChainEndpoints } from '../chain/chain-endpoint.ts';
import { createChainReader } from '../chain/create-chain-reader.ts';
import { createBalanceSweep } from '../chain/sweep-balances.ts';
import type { VerifiedChain } from '../payments/verify/verify-context.ts';
import type { Store } from '../store/store.ts';

/** The chain that a store's payments are on, for a command that works without a server. */
export interface StoredChain extends VerifiedChain {
  close(): Promise<void>;
}

/** Opens no connection yet. Null where no endpoint is given, or where the store was never served and has no chain. */
export async function openStoredChain(store: Store, rpcUrls: readonly string[]): Promise<StoredChain | null> {
  const settlements = await store.settlements.listSettlements();
  const [newest] = settlements;
  if (newest === undefined || rpcUrls.length === 0) return null;
  const { chainId, token } = newest;
  const factories = [...new Set(settlements.map(({ factory }) => factory))];
  const endpoints = createChainEndpoints({ urls: rpcUrls, chainId });
  return {
    reader: createChainReader({ endpoints, sources: { token, factories } }),
    sweepBalances: createBalanceSweep({ endpoints, token }),
    close: () => closeChainEndpoints(endpoints),
  };
}
