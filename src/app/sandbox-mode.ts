import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { EventFeed } from '../../simulators/event-feed.ts';
import type { Shop, ShopOptions } from '../../simulators/shop/start-shop.ts';
import type { Sandbox } from '../../simulators/start-sandbox.ts';
import { createChainReader } from '../chain/create-chain-reader.ts';
import { closeChainEndpoints, createChainEndpoints } from '../chain/endpoint-rotation.ts';
import { createRelayer } from '../chain/relayer.ts';
import { createBalanceSweep, createTokenReader, mistakenTokenOf } from '../chain/token-reader.ts';
import { verifyDeployment } from '../chain/verify-deployment.ts';
import type { Config, Role } from '../config.ts';
import { ServiceError } from '../domain/errors.ts';
import { createIpnTokens, type IpnTokens } from '../domain/ipn-token.ts';
import { isDirect, type Payment } from '../domain/payment.ts';
import { isPaymentId } from '../domain/payment-id.ts';
import type { Clock } from '../domain/ports/clock.ts';
import { type Outcome, simulatedProviderOf, type TestPayments } from '../domain/ports/test-payments.ts';
import { isProviderId, MULTI_PROVIDER, type ProviderId, providerIds } from '../domain/provider-catalogue.ts';
import type { ProviderSession } from '../domain/provider-session.ts';
import type { DocsContext } from '../http/docs/register-docs.ts';
import { createConsoleMailer } from '../mail/mailers.ts';
import { defaultRelayLimits } from '../payments/relay/relay-context.ts';
import type { StartSession } from '../payments/start-session.ts';
import { createProviderAdapter } from '../providers/providers.ts';
import type { Store } from '../store/store.ts';
import type { CleanUp } from './clean-up.ts';
import { openDemoAccount, requireSandboxData } from './demo-account.ts';
import type { ExternalServices, Intervals } from './external-services.ts';
import { factoriesOf, type Log, rememberSettlement } from './log.ts';
import { openStoreToServe } from './open-store.ts';
import { webhookUrlOf } from './provider-addresses.ts';
import { type Service, startService } from './start-service.ts';
import { writeOwnFile } from './write-own-file.ts';

/** Time limit of a simulated on-ramp; shorter than its `slow` fault. */
const SESSION_TIMEOUT_MS = 3_000;

const HIGHEST_PORT = 65_535;

/** Country of the simulated customer. */
const CUSTOMER_COUNTRY = 'DE';

/** Quicker than live, because the local chain is. */
const sandboxIntervals: Intervals = {
  watchIntervalMs: 400,
  relayIntervalMs: 400,
  refundIntervalMs: 400,
  rescanIntervalMs: 60_000,
  rescanDepthBlocks: 200,
  thoroughRescanIntervalMs: 5 * 60_000,
  sweepIntervalMs: 60_000,
  deepRescanBlocks: 5_000,
  relayLimits: { ...defaultRelayLimits, batchWindowMs: 300, nonceGapPatienceMs: 5_000 },
  // A fault that is ended must be over at once.
  circuitOpenMs: 1_000,
  quoteKeepMs: 0,
};

/** Starts the sandbox: the same service, with external services of its own. Returns its welcome text. */
export async function startSandboxParts(
  config: Config,
  role: Role,
  clock: Clock,
  log: Log,
  cleanUp: CleanUp,
  isJson: boolean,
): Promise<string> {
  const { startSandbox } = await import('../../simulators/start-sandbox.ts');
  const { registerStatePages } = await import('../../simulators/pages/register-state-pages.ts');
  // The store's lock is taken first: it says that no other process uses this data folder, chain included.
  const store = cleanUp.add(await openStoreToServe(config, log), (opened) => opened.close());
  await requireSandboxData(store, config.dataDir);
  const ownUrl = ownUrlOf(config);
  const sandbox = cleanUp.add(
    await startSandbox({
      dataDir: config.dataDir,
      log,
      webhookUrl: (provider) => webhookUrlOf(provider, ownUrl),
      ...(config.sandboxChainPort === null ? {} : { chainPort: config.sandboxChainPort }),
      preferredPorts: { onramps: portBeside(config, 4), chain: portBeside(config, 5) },
    }),
    (started) => started.stop(),
  );
  const external = cleanUp.add(await openSandboxServices(sandbox, config, store, clock), (opened) =>
    opened.stop(),
  );
  const demo = await openDemoAccount(store, config.dataDir, sandbox.merchantWallet);
  const secretKey = config.secretKey ?? readOrCreateSecretKey(config.dataDir);
  const account = { apiUrl: ownUrl, apiKey: demo.apiKey, payoutWallet: sandbox.merchantWallet };
  const tokens = createIpnTokens(secretKey, config.previousSecretKeys);
  const shop = cleanUp.add(await startShopWhereItWas(config, account, tokens, clock, log), (opened) =>
    opened.stop(),
  );
  const { createEventFeed } = await import('../../simulators/event-feed.ts');
  const feed = cleanUp.add(createEventFeed(clock.nowMs), async (opened) => opened.stop());
  const customer = { baseUrl: config.baseUrl, country: CUSTOMER_COUNTRY };
  const defaults = { accountId: demo.accountId, callbackUrl: shop.idleCallback };
  cleanUp.add(
    await startService({
      // The shop's receiver is on this machine, with a certificate that only this service trusts.
      config: {
        ...config,
        callbackAllowedHosts: new Set([...config.callbackAllowedHosts, shop.receiverHost]),
      },
      role,
      secretKey,
      store,
      external,
      clock,
      log,
      mailer: createConsoleMailer((mail) => log.info({ mail }, 'an e-mail that the sandbox does not send')),
      isTestMode: true,
      additions: {
        createTestPayments: (startSession) =>
          createTestPayments({ sandbox, feed, defaults, customer, startSession }),
        registerPages: registerStatePages,
        startLinks: startLinksOf(config, shop),
        onDelivery: feed.record,
        receiverAuthorities: new Map([[shop.receiverHost, shop.receiverCertificate]]),
      },
      drainDelayMs: 0,
    }),
    (started: Service) => started.stop(),
  );
  const { welcome, welcomeJson } = await import('../../simulators/welcome.ts');
  const facts = { config, demo, sandbox, shop };
  return isJson ? welcomeJson(facts) : welcome(facts);
}

/** The text that `npm start` prints, for visitors of the service's own address. */
function startLinksOf({ adminHost, adminPort }: Config, shop: Shop): DocsContext['links'] {
  const consoleUrl = `http://${adminHost}:${adminPort}/operator`;
  return [
    { href: shop.url, title: 'Shop', summary: 'a demo shop that shows the calls of its server' },
    { href: shop.inbox.pageUrl, title: 'Webhooks', summary: 'for checkouts that you create by hand' },
    { href: '/sandbox/pages', title: 'Pages', summary: 'the checkout page in every state' },
    { href: consoleUrl, title: "Operator's console", summary: 'settlement, providers, accounts' },
  ];
}

/** A port of the sandbox beside `PORT`, so that addresses stay the same; 0 where `PORT` is any free one. */
function portBeside({ port, adminPort }: Config, distance: number): number {
  const beside = port + distance;
  return port === 0 || beside === adminPort || beside > HIGHEST_PORT ? 0 : beside;
}

/**
 * Starts the shop on the ports of the last run, so that the webhooks of open payments arrive, at first on those beside
 * `PORT`; on free ones where they are taken.
 */
async function startShopWhereItWas(
  config: Config,
  account: ShopOptions['account'],
  tokens: IpnTokens,
  clock: Clock,
  log: Log,
): Promise<Shop> {
  const { startShop } = await import('../../simulators/shop/start-shop.ts');
  const { readSandboxSettings, writeSandboxSettings } = await import('../../simulators/sandbox-settings.ts');
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
): Promise<ExternalServices> {
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
    relayers: [createRelayer({ endpoints, chainId, privateKey: sandbox.relayerPrivateKey })],
    sweepBalances: createBalanceSweep({ endpoints, token }),
    mistakenToken: mistakenTokenOf({ endpoints, token: sandbox.otherToken }),
    rates: sandbox.rates,
    adapters: openAdapters(sandbox, config, clock),
    intervals: sandboxIntervals,
    explorerTransactionUrl: () => null,
    stop: () => closeChainEndpoints(endpoints),
  };
}

/** The same adapters as in live mode, all eleven, each with the simulated on-ramp as its provider. */
function openAdapters(sandbox: Sandbox, config: Config, clock: Clock): ExternalServices['adapters'] {
  return new Map(
    providerIds.map((id) => [
      id,
      createProviderAdapter(id, sandbox.providerValues[id], {
        ...clock,
        timeoutMs: SESSION_TIMEOUT_MS,
        // A fault that is brought about must show at once.
        quoteCacheMs: 0,
        baseUrl: config.baseUrl,
        usdc: sandbox.usdc,
        webhookUrl: webhookUrlOf(id, ownUrlOf(config)),
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

/** What a simulated customer needs: the external services, and the service's calls to a provider. */
interface CustomerParts {
  readonly sandbox: Sandbox;
  readonly customer: { readonly baseUrl: string; readonly country: string };
  readonly startSession: StartSession;
}

/** The sandbox's test payments, for checkout page and command line. */
function createTestPayments(
  parts: CustomerParts & { readonly feed: EventFeed; readonly defaults: TestPayments['defaults'] },
): TestPayments {
  const { sandbox, feed, defaults } = parts;
  return {
    pay: async (payment, provider, deliveryUnits) => {
      if (!isDirect(payment)) return payAtProvider(parts, payment, provider, deliveryUnits);
      if (provider !== null) {
        throw new ServiceError(
          'provider_unknown',
          'A direct payment is paid from a wallet, not at a provider.',
        );
      }
      const units = deliveryUnits ?? payment.paidThresholdUnits;
      const { transactionHash } = await sandbox.customerWallet.send(payment.depositAddress, units);
      return { provider: payment.provider, transactionHash, deliveryUnits: units };
    },
    payRefund: (to, units) => sandbox.customerWallet.send(to, units),
    async setProviderFault(provider, fault) {
      sandbox.faults.setProvider(provider, fault);
    },
    async setFault(target, fault) {
      if (target === 'rates') sandbox.faults.setRates(fault);
      else sandbox.faults.setChain(fault);
    },
    simulateOutcome: createOutcomeSimulator(parts),
    readEvents: (cursor) => feed.read(cursor),
    defaults,
  };
}

async function payAtProvider(
  { sandbox, customer: { baseUrl, country }, startSession }: CustomerParts,
  ...[payment, provider, deliveryUnits]: Parameters<TestPayments['pay']>
): ReturnType<TestPayments['pay']> {
  const chosen = chooseProvider(payment.provider, provider);
  const session = await startSession(payment, chosen, { country, knowsEmail: true });
  const units = deliveryUnits ?? session.quotedUnits;
  if (units === null)
    throw new ServiceError(
      'provider_unavailable',
      'The provider returned no quote: specify an amount with --usdc.',
    );
  const { transactionHash } = await sandbox.pay({
    order: session.redirectUrl,
    deliveryUnits: units,
    cameFrom: baseUrl,
  });
  return { provider: chosen, transactionHash, deliveryUnits: units };
}

/** The provider named on the command line, else the payment's own, else the first of the catalogue. */
function chooseProvider(own: string, named: string | null): ProviderId {
  const chosen = named ?? (own === MULTI_PROVIDER ? (providerIds[0] as ProviderId) : own);
  if (!isProviderId(chosen))
    throw new ServiceError('provider_unknown', `The provider ${chosen} does not exist.`);
  return chosen;
}

/** Provider of a second payment by the same customer. */
const SECOND: ProviderId = 'transak';

const SLOW_CHAIN_MS = 20_000;

/** Plays outcomes at the simulated on-ramps by the same doors as a customer. */
function createOutcomeSimulator({
  sandbox,
  customer: { baseUrl, country },
  startSession,
}: CustomerParts): TestPayments['simulateOutcome'] {
  const orderOf = ({ redirectUrl }: ProviderSession) => ({ order: redirectUrl, cameFrom: baseUrl });
  const startProviderSession = (payment: Payment, provider: ProviderId) =>
    startSession(payment, provider, { country, knowsEmail: true });

  async function simulate(payment: Payment, outcome: Outcome): Promise<void> {
    const session = await startProviderSession(payment, simulatedProviderOf(payment));
    switch (outcome) {
      case 'declined':
        return sandbox.decline(orderOf(session));
      case 'late':
        return sandbox.payLate(orderOf(session));
      case 'too-little':
        await sandbox.pay({ ...orderOf(session), deliveryUnits: payment.paidThresholdUnits / 2n });
        return;
      case 'twice': {
        // Both sessions start before anything arrives.
        const again = await startProviderSession(payment, SECOND);
        await Promise.all([sandbox.pay(orderOf(session)), sandbox.pay(orderOf(again))]);
        return;
      }
      case 'slow-chain':
        await sandbox.pay(orderOf(session));
        sandbox.faults.setChain('slow');
        setTimeout(() => sandbox.faults.setChain('up'), SLOW_CHAIN_MS).unref();
        return;
      case 'paid':
        await sandbox.pay(orderOf(session));
    }
  }

  return (payment, outcome) =>
    simulate(payment, outcome).catch((error: unknown) => {
      if (error instanceof ServiceError) throw error;
      throw new ServiceError('payment_state_conflict', undefined, { cause: error });
    });
}

/**
 * The sandbox's own secret: made at its first start and kept in its data folder, so that tokens stay good. Throws
 * when the file was damaged. Called under the store's lock, so no other process makes one at the same time.
 */
export function readOrCreateSecretKey(dataDir: string): string {
  const file = join(dataDir, 'sandbox-secret-key');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) writeOwnFile(file, randomBytes(32).toString('hex'));
  const secretKey = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(secretKey)) throw new Error(`${file} is damaged: it must hold 64 hex digits`);
  return secretKey;
}
