import { isIP } from 'node:net';
import { join } from 'node:path';
import { webhookUrlOf } from '../src/api/provider-webhooks.ts';
import type { ExternalServices, Intervals } from '../src/app/external-services.ts';
import type { Log } from '../src/app/log.ts';
import { openStoreToServe } from '../src/app/open-store.ts';
import { factoriesOf, rememberSettlement } from '../src/app/settlements.ts';
import { type Service, startService } from '../src/app/start-service.ts';
import type { Store } from '../src/app/store/store.ts';
import type { UndoSteps } from '../src/app/undo-steps.ts';
import type { Config } from '../src/config/config.ts';
import type { DocsContext } from '../src/pages/docs/register-docs.ts';
import { createIpnTokens, type IpnTokens } from '../src/payment/ipn-token.ts';
import { isPaymentId } from '../src/payment/payment-id.ts';
import { providerIds } from '../src/payment/provider-catalog.ts';
import type { Clock } from '../src/platform/clock.ts';
import { providers } from '../src/providers/adapters/providers.ts';
import { defaultRelayLimits } from '../src/settlement/batch-and-gas-limits.ts';
import { createChainReader } from '../src/settlement/chain/create-chain-reader.ts';
import { closeChainEndpoints, createChainEndpoints } from '../src/settlement/chain/endpoint-rotation.ts';
import { createRelayer } from '../src/settlement/chain/relayer.ts';
import { openSigner } from '../src/settlement/chain/signer.ts';
import {
  createBalanceSweep,
  createTokenReader,
  mistakenTokenOf,
} from '../src/settlement/chain/token-reader.ts';
import { verifyDeployment } from '../src/settlement/chain/verify-deployment.ts';
import { createConsoleMailer } from './console-mailer.ts';
import { openDemoAccount, readOrCreateSecretKey, requireSandboxData } from './demo-account.ts';
import { createEventFeed } from './event-feed.ts';
import { registerStatePages } from './pages/register-state-pages.ts';
import { createSandboxOperations } from './sandbox-operations.ts';
import { readSandboxSettings, writeSandboxSettings } from './sandbox-settings.ts';
import { type Shop, type ShopOptions, startShop } from './shop/start-shop.ts';
import { createTestPayments } from './simulated-customer.ts';
import { type Sandbox, startSandbox } from './start-sandbox.ts';
import { welcome, welcomeJson } from './welcome.ts';

/** Time limit of a call to a simulated on-ramp, shorter than the delay of its `slow` fault. */
const SESSION_TIMEOUT_MS = 3_000;

const HIGHEST_PORT = 65_535;

const CUSTOMER_COUNTRY = 'US';

/** Intervals that are shorter than in live mode, because the local chain is faster. */
const sandboxIntervals: Intervals = {
  watchIntervalMs: 400,
  quietWatchIntervalMs: 400,
  idleWatchIntervalMs: 400,
  finalityIntervalMs: 0,
  relayIntervalMs: 400,
  featureIntervalMs: 400,
  rescanIntervalMs: 60_000,
  rescanDepthBlocks: 200,
  rescanLagBlocks: 0,
  thoroughRescanIntervalMs: 5 * 60_000,
  sweepIntervalMs: 60_000,
  deepRescanBlocks: 5_000,
  relayLimits: { ...defaultRelayLimits, batchWindowMs: 300, nonceGapPatienceMs: 5_000 },
  // Short, so that a provider is called again soon after its fault ends.
  circuitOpenMs: 1_000,
  quoteKeepMs: 0,
};

/** Starts the service with a local chain and simulated providers. Resolves to the welcome text. */
export async function startSandboxParts(
  config: Config,
  clock: Clock,
  log: Log,
  undoSteps: UndoSteps,
  isJson: boolean,
): Promise<string> {
  // Opens the store first, because its lock keeps other processes out of the data folder and the chain.
  const store = undoSteps.add(await openStoreToServe(config, log), (opened) => opened.close());
  await requireSandboxData(store, config.dataDir);
  const ownUrl = ownUrlOf(config);
  const sandbox = undoSteps.add(
    await startSandbox({
      dataDir: config.dataDir,
      log,
      webhookUrl: (provider) => webhookUrlOf(provider, ownUrl),
      ...(config.sandboxChainPort === null ? {} : { chainPort: config.sandboxChainPort }),
      preferredPorts: { onramps: portBeside(config, 4), chain: portBeside(config, 5) },
    }),
    (started) => started.stop(),
  );
  const external = await openSandboxServices(sandbox, config, store, clock, undoSteps);
  const demo = await openDemoAccount(store, config.dataDir, sandbox.merchantWallet);
  const secretKey = config.secretKey ?? readOrCreateSecretKey(config.dataDir);
  const account = { apiUrl: ownUrl, apiKey: demo.apiKey, payoutWallet: sandbox.merchantWallet };
  const tokens = createIpnTokens(secretKey, config.previousSecretKeys);
  const shop = undoSteps.add(await startShopWhereItWas(config, account, tokens, clock, log), (opened) =>
    opened.stop(),
  );
  await returnToShop(store, demo.accountId, shop);
  const feed = undoSteps.add(createEventFeed(clock.nowMs), async (opened) => opened.stop());
  const customer = { baseUrl: config.baseUrl, country: CUSTOMER_COUNTRY };
  const defaults = { accountId: demo.accountId, callbackUrl: shop.idleCallback };
  undoSteps.add(
    await startService({
      // The shop's receiver is on this machine, and only this service trusts its certificate.
      config: {
        ...config,
        callbackAllowedHosts: new Set([...config.callbackAllowedHosts, shop.receiverHost]),
      },
      role: 'all',
      secretKey,
      store,
      external,
      clock,
      log,
      mailer: createConsoleMailer((mail) => log.info({ mail }, 'an email that the sandbox does not send')),
      additions: {
        createTestPayments: (steps) => createTestPayments({ sandbox, feed, defaults, customer, ...steps }),
        createOperations: (testPayments) => createSandboxOperations(testPayments, store),
        registerPages: registerStatePages,
        startLinks: startLinksOf(config, shop),
        onDelivery: feed.record,
        receiverAuthorities: new Map([[shop.receiverHost, shop.receiverCertificate]]),
      },
      drainDelayMs: 0,
    }),
    (started: Service) => started.stop(),
  );
  const facts = { config, demo, sandbox, shop };
  return isJson ? welcomeJson(facts) : welcome(facts);
}

/** Sets the shop's return URL and host in the demo account, unless its owner has set another URL. */
async function returnToShop({ accounts }: Store, accountId: string, { url, returnUrl }: Shop): Promise<void> {
  const account = await accounts.findAccount(accountId);
  const known = account?.returnUrl ?? null;
  const others = account?.returnHosts.filter((host) => !host.startsWith('127.0.0.1:')) ?? [];
  const withoutPort = (url: string) => url.replace(/:\d+/, '');
  if (known === null || withoutPort(known) === withoutPort(returnUrl))
    await accounts.updateAccount(accountId, { returnUrl, returnHosts: [new URL(url).host, ...others] });
}

function startLinksOf({ adminHost, adminPort }: Config, shop: Shop): DocsContext['links'] {
  const consoleUrl = `http://${adminHost}:${adminPort}/operator`;
  return [
    { href: shop.url, title: 'Shop', summary: 'Buy, and watch each call of its server' },
    {
      href: '/sandbox/pages',
      title: 'Every state',
      summary: 'The checkout page in each of them',
      phone: '/sandbox/pages/choose?framed',
    },
    { href: consoleUrl, title: 'Operator', summary: 'Incidents, settlement, providers, accounts' },
  ];
}

/**
 * Returns the port at this offset from `PORT`, so that URLs stay the same. Returns 0 (any free port) if `PORT` is 0, or
 * if the port is the admin server's or out of range.
 */
function portBeside({ port, adminPort }: Config, distance: number): number {
  const beside = port + distance;
  return port === 0 || beside === adminPort || beside > HIGHEST_PORT ? 0 : beside;
}

/**
 * Starts the shop on the ports of the last run, so that the webhooks of open payments arrive. The first run uses ports
 * beside `PORT`. If a port is taken, a free one replaces it.
 */
async function startShopWhereItWas(
  config: Config,
  account: ShopOptions['account'],
  tokens: IpnTokens,
  clock: Clock,
  log: Log,
): Promise<Shop> {
  const directory = join(config.dataDir, 'sandbox');
  const settings = await readSandboxSettings(directory);
  const shop = await startShop({
    account,
    ipnTokenOf: (id) => (isPaymentId(id) ? tokens.create(id) : null),
    nowMs: clock.nowMs,
    ports: {
      shop: settings.shopPorts.shop || portBeside(config, 2),
      receiver: settings.shopPorts.receiver || portBeside(config, 3),
    },
    log,
  });
  await writeSandboxSettings(directory, { ...settings, shopPorts: shop.ports });
  return shop;
}

async function openSandboxServices(
  sandbox: Sandbox,
  config: Config,
  store: Store,
  clock: Clock,
  undoSteps: UndoSteps,
): Promise<ExternalServices> {
  const { chainId, factory, usdc: token, feeWallet } = sandbox;
  const endpoints = createChainEndpoints({ urls: [sandbox.rpcUrl], chainId });
  undoSteps.add(endpoints, closeChainEndpoints);
  const verified = await verifyDeployment(endpoints, { chainId, factory, token });
  const settlement = { chainId, factory, token, feeWallet, ...verified };
  const settlements = await rememberSettlement(store, settlement, clock.nowMs());
  return {
    settlements,
    chain: createChainReader({
      endpoints,
      sources: { token, factories: factoriesOf(settlements) },
      isOwnNode: true,
    }),
    token: createTokenReader({ endpoints, token }),
    relayers: [createRelayer({ endpoints, chainId, signer: openSigner(sandbox.relayerPrivateKey) })],
    sweepBalances: createBalanceSweep({ endpoints, token }),
    mistakenToken: mistakenTokenOf({ endpoints, token: sandbox.otherToken }),
    rates: sandbox.rates,
    adapters: openAdapters(sandbox, config, clock),
    intervals: sandboxIntervals,
    explorerTransactionUrl: () => null,
  };
}

/** Opens the adapters of live mode, connected to the simulated on-ramps. */
function openAdapters(sandbox: Sandbox, config: Config, clock: Clock): ExternalServices['adapters'] {
  return new Map(
    providerIds.map((id) => [
      id,
      providers[id].open(sandbox.providerValues[id], {
        ...clock,
        timeoutMs: SESSION_TIMEOUT_MS,
        baseUrl: config.baseUrl,
        usdc: sandbox.usdc,
        webhookUrl: webhookUrlOf(id, ownUrlOf(config)),
      }),
    ]),
  );
}

/**
 * Returns the URL at which the simulated on-ramps reach this service directly, because they run on the same machine.
 * With TLS, returns the public URL, because the certificate is issued for it.
 */
function ownUrlOf(config: Config): string {
  if (config.tls !== null) return config.baseUrl;
  const { host, port } = config;
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
