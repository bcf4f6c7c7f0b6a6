import { runOperation } from '../cli/control-socket.ts';
import type { OperationArguments } from '../cli/operations-context.ts';
import type { Config, RpcAccess } from '../config/config.ts';
import { locationOf } from '../payment/callback-url.ts';
import { createPictures } from '../platform/pictures.ts';
import type { OnProgress } from '../platform/progress.ts';
import { isLoopbackHost } from '../platform/public-address.ts';
import { providerDescriptions } from '../providers/adapters/providers.ts';
import { createChainReader } from '../settlement/chain/create-chain-reader.ts';
import { closeChainEndpoints, createChainEndpoints } from '../settlement/chain/endpoint-rotation.ts';
import { createBalanceSweep } from '../settlement/chain/token-reader.ts';
import { createCallbackGuard } from '../webhooks/callback-host.ts';
import { createLog } from './log.ts';
import { openStore, requireDatabase } from './open-store.ts';
import { factoriesOf } from './settlements.ts';
import type { Store } from './store/store.ts';

/** Runs a command's operation on the store itself. Throws if there is no database, and the errors of `openStore`. */
export async function runOnStore(
  config: Config,
  access: RpcAccess | null,
  name: string,
  args: OperationArguments,
  onProgress?: OnProgress,
): Promise<unknown> {
  await requireDatabase(config);
  const { baseUrl, adminBaseUrl, callbackAllowedHosts: allowedHosts } = config;
  const store = await openStore(config, createLog('error'), { mayMigrate: false });
  let chain: Awaited<ReturnType<typeof openStoredChain>> = null;
  try {
    chain = await openStoredChain(store, access);
    const context = {
      ...store,
      callbacks: createCallbackGuard({ allowedHosts, own: locationOf(baseUrl) }),
      pictures: createPictures(),
      checkEndpoint: null,
      chain,
      providerDescriptions,
      directory: { adapters: null, settings: store.providers },
      nowMs: Date.now,
      onProgress,
      // The mode is unknown without a server. A loopback URL suggests test mode.
      isTestMode: isLoopbackHost(new URL(baseUrl).hostname),
      baseUrl,
      adminBaseUrl,
      rescue: null,
      direct: null,
      sandboxOperations: null,
    };
    return await runOperation(context, name, args);
  } finally {
    await chain?.close();
    await store.close();
  }
}

/** Returns the store's chain, not connected yet. Null without RPC URLs, or if no server has used the store yet. */
async function openStoredChain(store: Store, access: RpcAccess | null) {
  const settlements = await store.settlements.listSettlements();
  const [newest] = settlements;
  if (newest === undefined || access === null || access.rpcUrls.length === 0) return null;
  const { chainId, token } = newest;
  const endpoints = createChainEndpoints({ urls: access.rpcUrls, chainId, proxy: access.egressProxy });
  return {
    reader: createChainReader({ endpoints, sources: { token, factories: factoriesOf(settlements) } }),
    sweepBalances: createBalanceSweep({ endpoints, token }),
    close: () => closeChainEndpoints(endpoints),
  };
}
