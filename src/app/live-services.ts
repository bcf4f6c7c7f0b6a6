import { webhookUrlOf } from '../api/provider-webhooks.ts';
import {
  type ChainConfig,
  type Config,
  ConfigError,
  type ContractDeploymentConfig,
} from '../config/config.ts';
import type { Address } from '../payment/address.ts';
import { BRIDGED_USDC, type ProviderId } from '../payment/provider-catalog.ts';
import { doubtAbout } from '../payment/unusual-address.ts';
import type { Clock } from '../platform/clock.ts';
import { ProviderSettingError } from '../providers/adapters/define-provider.ts';
import { providers } from '../providers/adapters/providers.ts';
import type { ProviderAdapter } from '../providers/provider.ts';
import { createLiveRates } from '../rates/live-rates.ts';
import { defaultRelayLimits } from '../settlement/batch-and-gas-limits.ts';
import { clockSkew, NOTABLE_SKEW_MS, readNewestBlocksMs } from '../settlement/chain/clock-skew.ts';
import type { FinalityDoubt } from '../settlement/chain/confirm-finality.ts';
import { createChainReader } from '../settlement/chain/create-chain-reader.ts';
import { closeChainEndpoints, createChainEndpoints } from '../settlement/chain/endpoint-rotation.ts';
import { createRelayer } from '../settlement/chain/relayer.ts';
import { openSigner, type RelayerKey } from '../settlement/chain/signer.ts';
import { subscribeToHeads } from '../settlement/chain/subscribe-to-heads.ts';
import { createBalanceSweep, createTokenReader, mistakenTokenOf } from '../settlement/chain/token-reader.ts';
import { knownToken } from '../settlement/chain/verify-deployment.ts';
import { createFixedWindowLimiter } from '../web/rate-windows.ts';
import { publicNetwork } from '../web/well-known.ts';
import { startDeploymentCheck } from './deployment-check.ts';
import { type ExternalServices, liveIntervals } from './external-services.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { factoriesOf, rememberSettlement, requireOneChain } from './settlements.ts';
import type { Store } from './store/store.ts';
import type { UndoSteps } from './undo-steps.ts';

/** Chain id of Polygon, where bridged USDC may arrive by mistake. */
const POLYGON_CHAIN_ID = 137;

/** Maximum age of the stored rates that limit a rate from a single source. */
const RECENT_RATES_MS = 7 * 86_400_000;

const SESSION_TIMEOUT_MS = 8_000;

/** Throws `ConfigError`, `DeploymentMismatchError` or `ChainUnavailableError` if money might not be released. */
export async function openLiveServices(
  config: Config,
  store: Store,
  clock: Clock,
  log: Log,
  metrics: Metrics,
  undoSteps: UndoSteps,
): Promise<ExternalServices> {
  const chain = requireChain(config);
  const token = requireToken(chain);
  const { egressProxy: proxy } = chain;
  const malformed = createRepeatLimiter(clock);
  const endpoints = createChainEndpoints({
    urls: chain.rpcUrls,
    chainId: chain.chainId,
    proxy,
    onCall: (endpoint, outcome) => metrics.endpointCalls.inc({ endpoint, outcome }),
    onMalformed: (endpoint, problem) => {
      if (malformed.takeNow(endpoint) > 0) return;
      log.error({ endpoint }, `An RPC host cannot be used: ${problem}`);
    },
  });
  undoSteps.add(endpoints, closeChainEndpoints);
  metrics.beginEndpoints(endpoints.map(({ rpc }) => rpc.label));
  const { chainId, factory, feeWallet } = chain;
  const network = publicNetwork(chainId);
  const doubt = doubtAbout(feeWallet);
  if (doubt !== null) log.warn(`FEE_WALLET ${feeWallet} ${doubt}`);
  const known = await store.settlements.listSettlements();
  requireOneChain(known, chainId);
  const deployment = undoSteps.add(
    await startDeploymentCheck({ endpoints, known, log, metrics }, { chainId, factory, token }),
    async (check) => check.stop(),
  );
  if (deployment.isVerified) {
    const skew = clockSkew(await readNewestBlocksMs(endpoints), clock.nowMs());
    if (skew !== null && skew.skewMs > NOTABLE_SKEW_MS) log.warn(skew.description);
  }
  const settlement = { chainId, factory, token, feeWallet, ...deployment.verified };
  const settlements = await rememberSettlement(store, settlement, clock.nowMs());
  const [firstKey, ...otherKeys] = chain.relayerKeys;
  const relayerOf = (key: RelayerKey) =>
    createRelayer({ endpoints, chainId, signer: openSigner(key, { proxy }) });
  const multicall = chain.multicall === null ? {} : { multicall: chain.multicall };
  const rates = undoSteps.add(
    createLiveRates({
      clock,
      proxy,
      warn: (message, cause) => log.warn({ err: cause }, message),
      recentRates: async (currency) => {
        const nowMs = clock.nowMs();
        const recent = await store.search.listRates(currency, nowMs - RECENT_RATES_MS, nowMs);
        return recent.map(({ usdRate }) => usdRate);
      },
    }),
    (opened) => opened.stop(),
  );
  return {
    settlements,
    chain: createChainReader({
      endpoints,
      sources: { token, factories: factoriesOf(settlements) },
      onDisagreement: createDisagreementReport(clock, log, metrics),
      onLag: (endpoint, blocks) => metrics.endpointLag.set({ endpoint }, blocks),
    }),
    subscribeToHeads(onHead) {
      undoSteps.add(subscribeToHeads({ urls: chain.headUrls, onHead, proxy }), (opened) => opened.stop());
    },
    token: createTokenReader({ endpoints, token, ...multicall }),
    relayers: [relayerOf(firstKey), ...otherKeys.map(relayerOf)],
    sweepBalances: createBalanceSweep({ endpoints, token, ...multicall }),
    ...(chainId === POLYGON_CHAIN_ID
      ? { mistakenToken: mistakenTokenOf({ endpoints, token: BRIDGED_USDC, ...multicall }) }
      : {}),
    rates,
    adapters: openAdapters(config, clock, token, (message) => log.warn(message)),
    intervals: {
      ...liveIntervals,
      relayLimits: {
        ...defaultRelayLimits,
        maximumTransactionFeeWei: chain.relayMaximumFeeWei,
        gasShare: chain.relayGasShare,
        batchWindowMs: chain.relayBatchWindowMs,
      },
    },
    explorerTransactionUrl: (hash) => network && `${network.blockExplorerUrls[0]}/tx/${hash}`,
    isFactoryVerified: () => deployment.isVerified,
  };
}

/** Limits a repeated log line to once a minute, because every pass compares all endpoints. */
const createRepeatLimiter = ({ monotonicMs }: Clock) => createFixedWindowLimiter(1, monotonicMs);

/** Counts each disagreement between endpoints. Logs each kind for each endpoint at most once a minute. */
export function createDisagreementReport(
  clock: Clock,
  log: Log,
  metrics: Metrics,
): (doubt: FinalityDoubt) => void {
  const repeats = createRepeatLimiter(clock);
  return (doubt) => {
    const { kind, endpoint, message } = doubt;
    metrics.endpointDisagreements.inc({ endpoint, kind });
    if (repeats.takeNow(`${kind} ${endpoint}`) > 0) return;
    log.error({ doubt }, `RPC endpoints do not agree (${kind}): ${message}`);
  };
}

export function requireChain(config: Config): ChainConfig {
  if (config.chain === null) throw new ConfigError(['The chain is not configured.']);
  return config.chain;
}

/** Returns the chain's well-known or configured token. Throws `ConfigError` if there is none, or if both differ. */
export function requireToken(chain: ContractDeploymentConfig): Address {
  const known = knownToken(chain.chainId);
  if (known !== null && chain.token !== null && chain.token !== known) {
    throw new ConfigError([
      `SETTLEMENT_TOKEN_ADDRESS must be empty: USDC of chain ${chain.chainId} is ${known}.`,
    ]);
  }
  const token = known ?? chain.token;
  if (token === null) {
    throw new ConfigError([
      `SETTLEMENT_TOKEN_ADDRESS is missing: chain ${chain.chainId} has no well-known USDC.`,
    ]);
  }
  return token;
}

/** Creates an adapter for each provider with credentials. Throws `ConfigError` for an unusable setting. */
function openAdapters(
  config: Config,
  clock: Clock,
  usdc: Address,
  warn: (message: string) => void,
): ReadonlyMap<ProviderId, ProviderAdapter> {
  const adapters = new Map<ProviderId, ProviderAdapter>();
  const warnings = createRepeatLimiter(clock);
  for (const [id, values] of config.providers) {
    try {
      const { baseUrl } = config;
      const settings = {
        ...clock,
        timeoutMs: SESSION_TIMEOUT_MS,
        baseUrl,
        usdc,
        proxy: config.chain?.egressProxy ?? null,
        warn: (message: string) => void (warnings.takeNow(id) === 0 && warn(message)),
        webhookUrl: webhookUrlOf(id, baseUrl),
      };
      adapters.set(id, providers[id].open(values, settings));
    } catch (error) {
      if (error instanceof ProviderSettingError) throw new ConfigError([error.message]);
      throw error;
    }
  }
  return adapters;
}
