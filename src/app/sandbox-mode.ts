import { isIP } from 'node:net';
import { join } from 'node:path';
import { closeChainEndpoints, createChainEndpoints } from '../chain/chain-endpoint.ts';
import { createChainReader } from '../chain/create-chain-reader.ts';
import { createRelayer } from '../chain/relayer.ts';
import { createBalanceSweep } from '../chain/sweep-balances.ts';
import { createTokenReader } from '../chain/token-reader.ts';
import { verifyDeployment } from '../chain/verify-deployment.ts';
import type { Config, Role } from '../config.ts';
import { createIpnTokens, type IpnTokens } from '../domain/ipn-token.ts';
import { isPaymentId } from '../domain/payment-id.ts';
import type { Clock } from '../domain/ports/clock.ts';
import { providerIds } from '../domain/provider-catalogue.ts';
import type { DocsContext } from '../http/docs/register-docs.ts';
import { defaultRelayLimits } from '../payments/relay/relay-context.ts';
import { createProviderAdapter } from '../providers/create-provider-adapter.ts';
import type { Shop, ShopOptions } from '../sandbox/shop/start-shop.ts';
import type { Sandbox } from '../sandbox/start-sandbox.ts';
import type { Store } from '../store/store.ts';
import type { CleanUp } from './clean-up.ts';
import { openDemoAccount, requireSandboxData } from './demo-account.ts';
import type { Log } from './log.ts';
import { openStoreToServe } from './open-store.ts';
import { createPlayOutcome } from './play-outcome.ts';
import { noticesUrlOf } from './provider-addresses.ts';
import { createSandboxControls } from './sandbox-controls.ts';
import type { WelcomeFacts } from './sandbox-welcome.ts';
import { readOrCreateSecretKey } from './secret-key.ts';
import { factoriesOf, rememberSettlement } from './settlement-history.ts';
import { type Service, startService } from './start-service.ts';
import type { Pace, World } from './world.ts';

/** How long a simulated on-ramp may take; shorter than its `slow` fault. */
const SESSION_TIMEOUT_MS = 3_000;

/** Where the customer lives who is played. */
const CUSTOMER_COUNTRY = 'DE';

/** Quicker than live, because the local chain is. */
const sandboxPace: Pace = {
  watchIntervalMs: 400,
  relayIntervalMs: 400,
  rescanIntervalMs: 60_000,
  rescanDepthBlocks: 200,
  sweepIntervalMs: 60_000,
  deepRescanBlocks: 5_000,
  relayLimits: { ...defaultRelayLimits, batchWindowMs: 300, nonceGapPatienceMs: 5_000 },
  // A fault that is ended must be over at once.
  providerRestMs: 1_000,
  quoteKeepMs: 0,
};

/** Starts the sandbox: the same service, with a world of its own around it. Returns what a newcomer is told. */
export async function startSandboxParts(
  config: Config,
  role: Role,
  clock: Clock,
  log: Log,
  cleanUp: CleanUp,
): Promise<WelcomeFacts> {
  const { startSandbox } = await import('../sandbox/start-sandbox.ts');
  const { registerStatePages } = await import('../sandbox/pages/register-state-pages.ts');
  // The store's lock is taken first: it says that no other process uses this data folder, chain included.
  const store = cleanUp.add(await openStoreToServe(config, log), (opened) => opened.close());
  await requireSandboxData(store, config.dataDir);
  const ownUrl = ownUrlOf(config);
  const sandbox = cleanUp.add(
    await startSandbox({
      dataDir: config.dataDir,
      log,
      noticesUrl: (provider) => noticesUrlOf(provider, ownUrl),
      ...(config.sandboxChainPort === null ? {} : { chainPort: config.sandboxChainPort }),
    }),
    (started) => started.stop(),
  );
  const world = cleanUp.add(await openSandboxWorld(sandbox, config, store, clock), (opened) => opened.stop());
  const demo = await openDemoAccount(store, config.dataDir, sandbox.merchantWallet);
  const secretKey = config.secretKey ?? readOrCreateSecretKey(config.dataDir);
  const account = { apiUrl: ownUrl, apiKey: demo.apiKey, payoutWallet: sandbox.merchantWallet };
  const tokens = createIpnTokens(secretKey, config.previousSecretKeys);
  const shop = cleanUp.add(await startShopWhereItWas(config, account, tokens, clock, log), (opened) =>
    opened.stop(),
  );
  const { createEventFeed } = await import('../sandbox/event-feed.ts');
  const feed = cleanUp.add(createEventFeed(clock.nowMs), async (opened) => opened.stop());
  const customer = { baseUrl: config.baseUrl, country: CUSTOMER_COUNTRY };
  cleanUp.add(
    await startService({
      // The shop's receiver is on this machine, with a certificate that nobody else trusts.
      config: {
        ...config,
        callbackAllowedHosts: new Set([...config.callbackAllowedHosts, shop.receiverHost]),
      },
      startLinks: startLinksOf(config, shop),
      receiverAuthorities: new Map([[shop.receiverHost, shop.receiverCertificate]]),
      role,
      secretKey,
      store,
      world,
      clock,
      log,
      onDelivery: feed.record,
      sandboxControls: (tools) => {
        const defaults = { accountId: demo.accountId, callbackUrl: shop.idleCallback };
        return createSandboxControls({ sandbox, feed, defaults, ...customer }, tools);
      },
      createPlay: (startSession) => createPlayOutcome(sandbox, customer, startSession),
      registerSandboxPages: registerStatePages,
      noticeMs: 0,
    }),
    (started: Service) => started.stop(),
  );
  return { config, demo, sandbox, shop };
}

/** What `npm start` prints, for those who open the service's own address. */
function startLinksOf({ adminHost, adminPort }: Config, shop: Shop): DocsContext['links'] {
  const consoleUrl = `http://${adminHost}:${adminPort}/operator`;
  return [
    { href: shop.url, title: 'Shop', summary: 'buy something, and watch what its server does' },
    { href: shop.inbox.pageUrl, title: 'Webhooks', summary: 'of checkouts that you create by hand' },
    { href: '/sandbox/pages', title: 'Pages', summary: 'the checkout in every state' },
    { href: consoleUrl, title: "Operator's console", summary: 'settlement, providers, accounts' },
  ];
}

/** On the ports of the last run where they are free, so that the webhooks of open payments arrive. */
async function startShopWhereItWas(
  config: Config,
  account: ShopOptions['account'],
  tokens: IpnTokens,
  clock: Clock,
  log: Log,
): Promise<Shop> {
  const { startShop } = await import('../sandbox/shop/start-shop.ts');
  const { readSandboxSettings, writeSandboxSettings } = await import('../sandbox/sandbox-settings.ts');
  const directory = join(config.dataDir, 'sandbox');
  const settings = await readSandboxSettings(directory);
  const shop = await startShop({
    account,
    ipnTokenOf: (id) => (isPaymentId(id) ? tokens.create(id) : null),
    nowMs: clock.nowMs,
    ports: settings.shopPorts,
    log,
  });
  await writeSandboxSettings(directory, { ...settings, shopPorts: shop.ports });
  return shop;
}

async function openSandboxWorld(
  sandbox: Sandbox,
  config: Config,
  store: Store,
  clock: Clock,
): Promise<World> {
  const { chainId, factory, usdc: token, feeWallet } = sandbox;
  const endpoints = createChainEndpoints({ urls: [sandbox.rpcUrl], chainId });
  const verified = await verifyDeployment(endpoints, { chainId, factory, token });
  const settlement = { chainId, factory, token, feeWallet, ...verified };
  const settlements = await rememberSettlement(store, settlement, clock.nowMs());
  return {
    chainId,
    settlements,
    chain: createChainReader({ endpoints, sources: { token, factories: factoriesOf(settlements) } }),
    token: createTokenReader({ endpoints, token }),
    relayer: createRelayer({ endpoints, chainId, privateKey: sandbox.relayerPrivateKey }),
    sweepBalances: createBalanceSweep({ endpoints, token }),
    rates: sandbox.rates,
    adapters: openAdapters(sandbox, config, clock),
    pace: sandboxPace,
    explorerTransactionUrl: () => null,
    stop: () => closeChainEndpoints(endpoints),
  };
}

/** The same adapters as in live mode, all eleven, each with the simulated on-ramp as its provider. */
function openAdapters(sandbox: Sandbox, config: Config, clock: Clock): World['adapters'] {
  return new Map(
    providerIds.map((id) => [
      id,
      createProviderAdapter(id, sandbox.providerValues[id], {
        ...clock,
        timeoutMs: SESSION_TIMEOUT_MS,
        // A fault that is brought about must show at once.
        quoteCacheMs: 0,
        baseUrl: config.baseUrl,
        noticesUrl: noticesUrlOf(id, ownUrlOf(config)),
      }),
    ]),
  );
}

/**
 * Where the simulated on-ramps reach this service: past any proxy, because they run on the same machine. With a
 * certificate of its own it is its public address, for which the certificate was made.
 */
function ownUrlOf(config: Config): string {
  if (config.tls !== null) return config.baseUrl;
  const { host, port } = config;
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
