import type { SandboxControls } from '../cli/operations-context.ts';
import type { Config, Role } from '../config.ts';
import type { Account } from '../domain/account.ts';
import { locationOf } from '../domain/callback-url.ts';
import { createIpnTokens, type IpnTokens } from '../domain/ipn-token.ts';
import type { Payment } from '../domain/payment.ts';
import type { CallbackGuard, DeliverWebhook } from '../domain/ports/callback-guard.ts';
import type { Clock } from '../domain/ports/clock.ts';
import type { Mailer } from '../domain/ports/mailer.ts';
import type { PlayOutcome } from '../http/checkout/outcomes.ts';
import type { DocsContext } from '../http/docs/register-docs.ts';
import type { CreatePaymentContext } from '../payments/create-payment.ts';
import type { CreatePaymentRequest } from '../payments/create-payment-request.ts';
import { createKnownAddresses, type KnownAddresses } from '../payments/known-addresses.ts';
import type { ProviderDirectory } from '../payments/provider-availability.ts';
import { createStartSession, type StartSession } from '../payments/start-session.ts';
import { type CircuitBreakerOptions, withCircuitBreaker } from '../providers/circuit-breaker.ts';
import type { registerStatePages } from '../sandbox/pages/register-state-pages.ts';
import type { Store } from '../store/store.ts';
import { createOwnAddresses } from '../webhooks/own-addresses.ts';
import { createHostResolver } from '../webhooks/resolve-host.ts';
import { createCallbackGuard } from './callback-guard.ts';
import { createMailer } from './create-mailer.ts';
import { createPaymentContext } from './create-payment-context.ts';
import type { Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { World } from './world.ts';

/** What the sandbox's controls are made of. */
export interface SandboxTools {
  readonly startSession: StartSession;
  readonly createPayment: (account: Account, request: CreatePaymentRequest) => Promise<Payment>;
}

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
  readonly sandboxControls: ((tools: SandboxTools) => SandboxControls) | null;
  /** Told of each webhook before its delivery begins, and must not fail: the sandbox's copies. */
  readonly onDelivery?: (delivery: Parameters<DeliverWebhook>[0]) => void;
  /** Plays outcomes for the sandbox's checkout pages; null in live mode. */
  readonly createPlay: ((startSession: StartSession) => PlayOutcome) | null;
  /** Registers the pages that only the sandbox has; null in live mode. */
  readonly registerSandboxPages: typeof registerStatePages | null;
  /** What the start page leads to besides dashboard and documentation: the sandbox's shop and the like. */
  readonly startLinks?: DocsContext['links'];
  /** What to trust besides the system's authorities when it delivers to one `host:port`: the sandbox's own shop. */
  readonly receiverAuthorities?: ReadonlyMap<string, string>;
  /** Where whoever opened the world counts already; made anew where it does not count. */
  readonly metrics?: Metrics;
  /** How long it still takes new connections after it was told to stop and says that it is not ready. */
  readonly noticeMs: number;
}

/** Everything that is made once from the options and shared by the parts. */
export interface ServiceParts extends ServiceOptions {
  readonly tokens: IpnTokens;
  readonly known: KnownAddresses;
  readonly metrics: Metrics;
  readonly resolver: ReturnType<typeof createHostResolver>;
  readonly ownAddresses: ReturnType<typeof createOwnAddresses>;
  readonly callbacks: CallbackGuard;
  readonly mailer: Mailer | null;
  readonly startSession: StartSession;
  /** For whatever door a payment is created by: its ids come in one order, and the address book is caught up once. */
  readonly create: CreatePaymentContext;
  /** Providers, each left alone while it is out of order. */
  readonly directory: ProviderDirectory;
}

/** At creation the callback's name is looked up within this; a name that does not answer is accepted. */
const CALLBACK_LOOKUP_TIMEOUT_MS = 1_500;
const CALLBACK_CACHE_MS = 60_000;
const CALLBACK_CACHE_ENTRIES = 10_000;

/** Makes what the parts of a service share; nothing is opened yet. */
export function assembleParts(options: ServiceOptions): ServiceParts {
  const { config, store, world, clock } = options;
  const metrics = options.metrics ?? createMetrics();
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
    toleranceBasisPoints: config.thresholdDefaults.toleranceBasisPoints,
    // Coming back from the provider must not lead straight to it again.
    checkoutPageUrl: (payment: Payment) => `${config.baseUrl}/pay/${payment.id}?returned=1`,
  });
  const resolver = createHostResolver({
    timeoutMs: CALLBACK_LOOKUP_TIMEOUT_MS,
    cacheTtlMs: CALLBACK_CACHE_MS,
    cacheMaxEntries: CALLBACK_CACHE_ENTRIES,
  });
  const ownAddresses = createOwnAddresses();
  const tokens = createIpnTokens(options.secretKey, config.previousSecretKeys);
  const known = createKnownAddresses(store.payments, store.addressPages);
  return {
    ...options,
    directory,
    tokens,
    known,
    metrics,
    resolver,
    ownAddresses,
    mailer: createMailer(config, options.sandboxControls !== null, options.log),
    callbacks: createCallbackGuard(resolver, ownAddresses, {
      allowedHosts: config.callbackAllowedHosts,
      own: locationOf(config.baseUrl),
    }),
    startSession,
    create: createPaymentContext({ ...options, directory, tokens, known }),
  };
}
