import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { CONTROL_SOCKET, startControlServer } from '../cli/control-server.ts';
import type { SandboxControls } from '../cli/operations-context.ts';
import type { Config, Role } from '../config.ts';
import { createIpnTokens, type IpnTokens } from '../domain/ipn-token.ts';
import type { Payment } from '../domain/payment.ts';
import type { CallbackGuard, DeliverWebhook } from '../domain/ports/callback-guard.ts';
import type { Clock } from '../domain/ports/clock.ts';
import type { Mailer } from '../domain/ports/mailer.ts';
import type { ApiRateLimiters } from '../http/api/api-context.ts';
import { createMemoryRateLimiters } from '../http/api/rate-limit.ts';
import { registerApi } from '../http/api/routes.ts';
import type { PlayOutcome } from '../http/checkout/outcomes.ts';
import { createPageLimits } from '../http/checkout/page-limits.ts';
import { registerCheckoutPages } from '../http/checkout/routes.ts';
import { registerDocs } from '../http/docs/register-docs.ts';
import { registerHealth } from '../http/health.ts';
import { registerOpenApi } from '../http/openapi/register-openapi.ts';
import { createPeerCheck, refusePlainPeers } from '../http/plain-peers.ts';
import { NOTICES_PER_MINUTE, registerProviderNotices } from '../http/provider-notices.ts';
import { createFixedWindowLimiter } from '../http/rate-limit.ts';
import { createPublicServer } from '../http/server.ts';
import { registerWellKnown } from '../http/well-known.ts';
import { createAskQuote } from '../payments/ask-quotes.ts';
import { createDirectPayment } from '../payments/create-direct-payment.ts';
import { createKnownAddresses, type KnownAddresses } from '../payments/known-addresses.ts';
import type { ProviderDirectory } from '../payments/provider-availability.ts';
import { rescueToken } from '../payments/rescue-token.ts';
import { createStartSession, type StartSession } from '../payments/start-session.ts';
import { type CircuitBreakerOptions, withCircuitBreaker } from '../providers/circuit-breaker.ts';
import type { registerStatePages } from '../sandbox/pages/register-state-pages.ts';
import type { Store } from '../store/store.ts';
import { deliverWebhook } from '../webhooks/deliver.ts';
import { createOwnAddresses } from '../webhooks/own-addresses.ts';
import { createHostResolver } from '../webhooks/resolve-host.ts';
import { createCallbackGuard } from './callback-guard.ts';
import { withCleanUp } from './clean-up.ts';
import { createMailer } from './create-mailer.ts';
import { createPaymentContext } from './create-payment-context.ts';
import { giveNotice } from './give-notice.ts';
import type { Log } from './log.ts';
import { createMetrics, type Metrics, startAdminServer } from './metrics.ts';
import { openDashboard } from './open-dashboard.ts';
import { connectionsWithin, readOpenFilesLimit } from './open-files.ts';
import { requireKnownSecret } from './require-known-secret.ts';
import { startWork } from './start-work.ts';
import type { World } from './world.ts';

/** What a service is started with. */
export interface ServiceOptions {
  readonly config: Config;
  readonly role: Role;
  readonly secretKey: string;
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes the sandbox's controls out of the running parts; null in live mode. */
  readonly sandboxControls: ((startSession: StartSession) => SandboxControls) | null;
  /** Plays outcomes for the sandbox's checkout pages; null in live mode. */
  readonly createPlay: ((startSession: StartSession) => PlayOutcome) | null;
  /** Registers the pages that only the sandbox has; null in live mode. */
  readonly registerSandboxPages: typeof registerStatePages | null;
  /** What to trust besides the system's authorities when it delivers to one `host:port`: the sandbox's own shop. */
  readonly receiverAuthorities?: ReadonlyMap<string, string>;
  /** How long it still takes new connections after it was told to stop and says that it is not ready. */
  readonly noticeMs: number;
}

/** A running service. */
export interface Service {
  readonly port: number;
  readonly adminPort: number;
  /** Serves what was begun, then ends. The store and the world are closed by whoever opened them. */
  stop(): Promise<void>;
}

/** Everything that is made once from the options and shared by the parts. */
interface Parts extends ServiceOptions {
  readonly tokens: IpnTokens;
  readonly known: KnownAddresses;
  readonly metrics: Metrics;
  readonly resolver: ReturnType<typeof createHostResolver>;
  readonly ownAddresses: ReturnType<typeof createOwnAddresses>;
  readonly callbacks: CallbackGuard;
  readonly mailer: Mailer | null;
  readonly startSession: StartSession;
  /** Providers, each left alone while it is out of order. */
  readonly directory: ProviderDirectory;
}

/** At creation the callback's name is looked up within this; a name that does not answer is accepted. */
const CALLBACK_LOOKUP_TIMEOUT_MS = 1_500;
const CALLBACK_CACHE_MS = 60_000;
const CALLBACK_CACHE_ENTRIES = 10_000;

/** Opens the doors and sets everything going that goes on by itself. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const parts = assemble(options);
  await requireKnownSecret(parts.store.payments, parts.tokens);
  await parts.known.catchUp();
  const { config, log } = parts;

  // Begins when the service is told to stop.
  let notice: Promise<void> | null = null;
  const server = options.role === 'worker' ? null : openDoors(parts, () => notice !== null);
  let adminPort = config.adminPort;
  // Undone in reverse: the loops end and open deliveries finish while the API still answers, because a merchant who
  // gets a webhook asks for the status at once.
  const running = await withCleanUp(async (cleanUp) => {
    cleanUp.add(parts.resolver, async (resolver) => resolver.close());
    if (server !== null) {
      cleanUp.add(server, async (opened) => {
        await notice;
        await opened.close();
      });
      // The sandbox is for one machine; live mode may stand behind a proxy, and then nobody else gets through.
      if (config.tls === null && options.sandboxControls === null) {
        refusePlainPeers(server.server, createPeerCheck(config.trustProxy));
      }
      await server.listen({ host: config.host, port: config.port });
    }
    const adminServer = cleanUp.add(
      await startAdminServer(parts.metrics, config.adminHost, config.adminPort),
      closed,
    );
    adminPort = portOf(adminServer);
    cleanUp.add(await startControl(parts), closed);
    if (options.role !== 'api') {
      cleanUp.add(await startWork({ ...parts, deliver: delivererOf(parts) }), (work) => work.stop());
    }
  });

  return {
    port: server === null ? config.port : portOf(server.server),
    adminPort,
    async stop() {
      notice = server === null ? Promise.resolve() : giveNotice(options.noticeMs);
      log.info('stopping');
      await running.stop();
    },
  };
}

/** The command line's way in. */
function startControl(parts: Parts): Promise<Server> {
  const { config, store, clock, world } = parts;
  return startControlServer(join(config.dataDir, CONTROL_SOCKET), {
    ...store,
    callbacks: parts.callbacks,
    directory: parts.directory,
    rates: world.rates,
    chain: { reader: world.chain, sweepBalances: world.sweepBalances },
    nowMs: clock.nowMs,
    baseUrl: config.baseUrl,
    direct: {
      create: (account, request) => createDirectPayment(createPaymentContext(parts), account, request),
      ipnTokenOf: ({ id, tokenFingerprint }) => parts.tokens.create(id, tokenFingerprint),
      token: world.settlements[0].token,
      baseUrl: config.baseUrl,
    },
    rescue: (id, token) => rescueToken({ ...store, relayer: world.relayer, nowMs: clock.nowMs }, id, token),
    sandbox: parts.sandboxControls?.(parts.startSession) ?? null,
  });
}

function assemble(options: ServiceOptions): Parts {
  const { config, store, world, clock } = options;
  const metrics = createMetrics();
  const breaker: CircuitBreakerOptions = {
    ...clock,
    openMs: world.pace.providerRestMs,
    observe(provider, outcome, isResting) {
      metrics.providerCalls.inc({ provider, outcome });
      metrics.providersResting.set({ provider }, isResting ? 1 : 0);
    },
  };
  const directory = {
    adapters: new Map([...world.adapters].map(([id, adapter]) => [id, withCircuitBreaker(adapter, breaker)])),
    settings: store.providers,
  };
  const startSession = createStartSession({
    ...store,
    providers: directory,
    token: world.token,
    nowMs: clock.nowMs,
    monotonicMs: clock.monotonicMs,
    toleranceBasisPoints: config.toleranceBasisPoints,
    // Coming back from the provider must not lead straight to it again.
    checkoutPageUrl: (payment: Payment) => `${config.baseUrl}/pay/${payment.id}?returned=1`,
  });
  const resolver = createHostResolver({
    timeoutMs: CALLBACK_LOOKUP_TIMEOUT_MS,
    cacheTtlMs: CALLBACK_CACHE_MS,
    cacheMaxEntries: CALLBACK_CACHE_ENTRIES,
  });
  const ownAddresses = createOwnAddresses();
  return {
    ...options,
    directory,
    tokens: createIpnTokens(options.secretKey, config.previousSecretKeys),
    known: createKnownAddresses(store.payments, store.addressPages),
    metrics,
    resolver,
    ownAddresses,
    mailer: createMailer(config, options.sandboxControls !== null, options.log),
    callbacks: createCallbackGuard(resolver, ownAddresses, config.callbackAllowedHosts),
    startSession,
  };
}

/** The public server with everything that can be reached on it. */
function openDoors(parts: Parts, isLeaving: () => boolean): FastifyInstance {
  const { config, store, world, clock, tokens, callbacks } = parts;
  const create = createPaymentContext(parts);
  const isSandbox = parts.sandboxControls !== null;
  const server = createPublicServer({
    logger: parts.log,
    trustProxy: config.trustProxy,
    tls:
      config.tls === null
        ? null
        : { cert: readFileSync(config.tls.certFile, 'utf8'), key: readFileSync(config.tls.keyFile, 'utf8') },
    isHttpsOnly: config.baseUrl.startsWith('https:'),
    observe: parts.metrics.observeRequest,
    isLeaving,
    limits: { connections: connectionsWithin(readOpenFilesLimit()) },
  });
  registerApi(server, {
    accounts: store.accounts,
    create,
    status: { payments: store.payments, tokens },
    tokens,
    callbacks,
    limits: createRateLimiters(parts),
    baseUrl: config.baseUrl,
  });
  openCustomerPages(server, parts);
  const { explorerTransactionUrl } = world;
  openDashboard(server, { ...parts, isSandbox, create, explorerTransactionUrl });
  registerProviderNotices(server, {
    payments: store.payments,
    adapters: parts.directory.adapters,
    limiter: createFixedWindowLimiter(NOTICES_PER_MINUTE, clock.monotonicMs),
    nowMs: clock.nowMs,
    observe: (provider, outcome) => parts.metrics.providerNotices.inc({ provider, outcome }),
  });
  registerOpenApi(server, config);
  registerDocs(server, {
    baseUrl: config.baseUrl,
    isSandbox: parts.sandboxControls !== null,
    limiter: createPageLimits(clock.monotonicMs).pages,
  });
  registerHealth(server, {
    isReady: () => (isLeaving() ? { ready: false, reason: 'it is shutting down' } : { ready: true }),
  });
  const { settlements } = world;
  registerWellKnown(server, {
    chainId: world.chainId,
    token: settlements[0].token,
    factories: settlements
      .filter(({ factory }, index) => settlements.findIndex((other) => other.factory === factory) === index)
      .map(({ factory, implementation, factoryCodeHash }) => ({
        address: factory,
        implementation,
        codeHash: factoryCodeHash as `0x${string}`,
      })),
    feeWallets: [...new Set(settlements.map(({ feeWallet }) => feeWallet))],
  });
  return server;
}

/** What customers see, and in the sandbox the same in every state. */
function openCustomerPages(server: FastifyInstance, parts: Parts): void {
  const { config, store, world, clock, directory } = parts;
  const shared = {
    directory,
    askQuote: createAskQuote({
      providers: directory,
      monotonicMs: clock.monotonicMs,
      keepMs: world.pace.quoteKeepMs,
    }),
    nowMs: clock.nowMs,
    baseUrl: config.baseUrl,
    explorerTransactionUrl: world.explorerTransactionUrl,
  };
  registerCheckoutPages(server, {
    ...shared,
    payments: store.payments,
    accounts: store.accounts,
    startSession: parts.startSession,
    limits: createPageLimits(clock.monotonicMs),
    countryHeader: config.countryHeader,
    isSandbox: parts.sandboxControls !== null,
    play: parts.createPlay?.(parts.startSession) ?? null,
    token: parts.world.settlements[0].token,
  });
  parts.registerSandboxPages?.(server, shared);
}

/** Counted in the store where several processes serve together, else in memory. */
function createRateLimiters({ config, store: { shared }, clock }: Parts): ApiRateLimiters {
  const { rateLimits } = config;
  if (shared === null) return createMemoryRateLimiters(rateLimits, clock.monotonicMs);
  return {
    create: shared.createRateLimiter('create', rateLimits.createPerMinute),
    status: shared.createRateLimiter('status', rateLimits.statusPerMinute),
    unauthenticated: shared.createRateLimiter('unauthenticated', rateLimits.unauthenticatedPerMinute),
  };
}

function delivererOf({ config, resolver, ownAddresses, receiverAuthorities }: Parts): DeliverWebhook {
  const context = { resolver, ownAddresses, allowedHosts: config.callbackAllowedHosts };
  return (delivery) => {
    const ca = receiverAuthorities?.get(URL.parse(delivery.url)?.host ?? '');
    return deliverWebhook(ca === undefined ? context : { ...context, ca }, delivery);
  };
}

function portOf(server: Pick<Server, 'address'>): number {
  return (server.address() as AddressInfo).port;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
