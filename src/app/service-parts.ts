import type { FastifyInstance } from 'fastify';
import { createPasswords } from '../accounts/passwords.ts';
import { relyingPartyOf } from '../accounts/person.ts';
import { SECOND_FACTOR } from '../accounts/second-factor.ts';
import type { SandboxOperations } from '../cli/operations-context.ts';
import type { Config, Role } from '../config/config.ts';
import { createNotificationSender } from '../features/notifications/notification-sender.ts';
import type { Notifier } from '../features/notifications/send-notifications.ts';
import type { Mailer } from '../mail/mail.ts';
import type { ExamplePagesContext } from '../pages/checkout/context.ts';
import { rankProviders } from '../pages/checkout/rank-offers.ts';
import { requireCheckout } from '../pages/checkout/read-checkout.ts';
import type { DocsContext } from '../pages/docs/register-docs.ts';
import { type Address, createDepositAddressCalculator } from '../payment/address.ts';
import { locationOf } from '../payment/callback-url.ts';
import type { CreatePaymentContext } from '../payment/create-payment.ts';
import { createIpnTokens, type IpnTokens } from '../payment/ipn-token.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import { createPaymentIdGenerator } from '../payment/payment-id.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import type { TestPayments } from '../payment/test-payments.ts';
import type { Clock } from '../platform/clock.ts';
import { createKeyedHash } from '../platform/keyed-hash.ts';
import { createPictures } from '../platform/pictures.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import { createProviderChecks, createQuotes, type Quotes } from '../providers/ask-quotes.ts';
import { type CircuitBreakerOptions, withCircuitBreaker } from '../providers/circuit-breaker.ts';
import { type CallBudget, callBudgetOf, type TakeSharedCall } from '../providers/outgoing-limiter.ts';
import type { ProviderAdapters, VisitStore } from '../providers/provider.ts';
import type { ProviderDirectory } from '../providers/provider-availability.ts';
import { createEvidenceFiles } from '../providers/provider-evidence.ts';
import { createKnownLimits } from '../providers/provider-limits-and-regions.ts';
import { estimateSuccess } from '../providers/provider-success.ts';
import { createStartSession, type StartSession } from '../providers/start-session.ts';
import { rescueToken } from '../settlement/rescue-token.ts';
import type { DashboardContext } from '../web/signed-in/context.ts';
import { createDashboardLimits } from '../web/signed-in/sign-in-limits.ts';
import {
  createCallbackGuard,
  createCallbackHostCheck,
  createHostResolver,
  createOwnAddresses,
} from '../webhooks/callback-host.ts';
import { checkEndpoint } from '../webhooks/check-endpoint.ts';
import type { DeliverWebhook } from '../webhooks/delivery-types.ts';
import { SIGNING_SECRETS } from '../webhooks/webhook-signatures.ts';
import type { ExternalServices } from './external-services.ts';
import { createFeatureParts, paymentAdditions } from './features.ts';
import type { Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { Store } from './store/store.ts';

interface TestAdditions {
  /** Creates the test payments: outcomes on the checkout page, and command-line operations. */
  readonly createTestPayments: (customer: {
    readonly startSession: StartSession;
    /** Returns a payment's providers for a customer from this country, the recommended one first. */
    readonly rankProviders: (payment: Payment, country: string) => Promise<readonly ProviderId[]>;
  }) => TestPayments;
  readonly createOperations: (testPayments: TestPayments) => SandboxOperations;
  readonly registerPages: (server: FastifyInstance, context: ExamplePagesContext) => void;
  /** Links on the start page, in addition to the dashboard and the documentation. */
  readonly startLinks: DocsContext['links'];
  /** Called with each webhook before its delivery begins. Must not throw. */
  readonly onDelivery: (delivery: Parameters<DeliverWebhook>[0]) => void;
  /** Certificates by `host:port`. Deliveries to these hosts trust them instead of the system's authorities. */
  readonly receiverAuthorities: ReadonlyMap<string, string>;
}

export interface ServiceOptions {
  readonly config: Config;
  readonly role: Role;
  readonly secretKey: string;
  readonly store: Store;
  readonly external: ExternalServices;
  readonly clock: Clock;
  readonly log: Log;
  /** Mailer; null if email is not configured. */
  readonly mailer: Mailer | null;
  /** Additions of test mode, which moves no real money and allows plain HTTP from all and password-only sign-in. */
  readonly additions?: TestAdditions;
  /** Metrics to which the external services already report; new ones if omitted. */
  readonly metrics?: Metrics;
  /** Time after the signal to stop during which the server accepts connections while reporting "not ready". */
  readonly drainDelayMs: number;
}

export type ServiceParts = ReturnType<typeof assembleParts>;

/** Maximum age of counted visits, because older visits say little about a provider today. */
const VISITS_COUNTED_MS = 30 * 24 * 3_600_000;
/** Time after which a visit that has not led to a payment counts as not delivered. */
const VISIT_DECIDED_MS = 2 * 3_600_000;
/** Maximum number of counted visits; reading them takes a few milliseconds. */
const VISITS_COUNTED = 2_000;

function createSuccessReader(visits: VisitStore, { nowMs }: Clock) {
  let current = estimateSuccess([]);
  return {
    rates: () => current,
    async refresh() {
      const now = nowMs();
      current = estimateSuccess(
        await visits.listVisitOutcomes(now - VISITS_COUNTED_MS, now - VISIT_DECIDED_MS, VISITS_COUNTED),
      );
    },
  };
}

/** Wraps adapters in circuit breakers. A payment method uses the budget of the provider that runs it. */
function guardProviders(
  unguarded: ProviderAdapters,
  breaker: CircuitBreakerOptions,
  takeShared: TakeSharedCall | undefined,
): ProviderAdapters {
  const budgets = new Map<ProviderId, CallBudget>();
  const budgetOf = (provider: ProviderId) => {
    const budget = budgets.get(provider) ?? callBudgetOf(provider, breaker.monotonicMs, takeShared);
    budgets.set(provider, budget);
    return budget;
  };
  return new Map(
    [...unguarded].map(([id, adapter]) => [
      id,
      withCircuitBreaker(adapter, { ...breaker, budget: budgetOf(adapter.routedThrough ?? id) }),
    ]),
  );
}

/** Time limit of the DNS lookup of a callback at creation. A host name that does not resolve in time is accepted. */
const CALLBACK_LOOKUP_TIMEOUT_MS = 1_500;

/** Creates the parts that a service's servers and tasks share, but starts nothing. */
export function assembleParts(options: ServiceOptions) {
  const { config, store, external, clock } = options;
  const isTestMode = options.additions !== undefined;
  const metrics = options.metrics ?? createMetrics();
  const breaker: CircuitBreakerOptions = {
    ...clock,
    openMs: external.intervals.circuitOpenMs,
    observe(provider, outcome, isCircuitOpen) {
      metrics.providerCalls.inc({ provider, outcome });
      metrics.providerCircuitOpen.set({ provider }, isCircuitOpen ? 1 : 0);
    },
  };
  metrics.beginProviders(external.adapters.keys());
  const success = createSuccessReader(store.visits, clock);
  const adapters = guardProviders(external.adapters, breaker, store.shared?.takeProviderCall);
  const directory: ProviderDirectory = {
    adapters,
    settings: store.providers,
    isOffByDefault: !isTestMode,
    evidence: createEvidenceFiles(config.dataDir),
    success: success.rates,
    limits: createKnownLimits({
      adapters,
      nowMs: clock.nowMs,
      onFailure: (provider, err) =>
        options.log.info(
          { provider, reason: err instanceof Error ? err.message : '' },
          'a catalog could not be read',
        ),
    }),
  };
  const quotes = createQuotes({ ...clock, providers: directory, keepMs: external.intervals.quoteKeepMs });
  const checkoutExpiryMs = config.checkoutExpiryHours * 3_600_000;
  const startSession = createStartSession({
    ...store,
    providers: directory,
    quotes,
    token: external.token,
    nowMs: clock.nowMs,
    monotonicMs: clock.monotonicMs,
    ipHash: createKeyedHash('IP addresses of customers', options.secretKey, config.previousSecretKeys),
    customerHash: createKeyedHash('customers at providers', options.secretKey, config.previousSecretKeys),
    // A customer who returns from the provider must not be sent there again immediately.
    checkoutPageUrl: (payment: Payment) => `${config.baseUrl}/pay/${payment.id}?returned=1`,
  });
  const rank = async (payment: Payment, country: string) => {
    const reading = { ...store, directory, nowMs: clock.nowMs, expiryMs: checkoutExpiryMs };
    return rankProviders(await requireCheckout(reading, payment.id), quotes, country);
  };
  const resolver = createHostResolver({ timeoutMs: CALLBACK_LOOKUP_TIMEOUT_MS });
  const ownAddresses = createOwnAddresses();
  const proxy = config.chain?.egressProxy ?? null;
  const notifier: Notifier = {
    box: createSecretBox('notification channels', options.secretKey, config.previousSecretKeys),
    send: createNotificationSender({ resolver, ownAddresses, proxy }, options.mailer),
  };
  const own = locationOf(config.baseUrl);
  const rules = { resolver, ownAddresses, allowedHosts: config.callbackAllowedHosts, own, proxy };
  const authorities = options.additions?.receiverAuthorities;
  const deliveryRulesOf = (url: string) => ({ ...rules, ca: authorities?.get(URL.parse(url)?.host ?? '') });
  const tokens = createIpnTokens(options.secretKey, config.previousSecretKeys);
  /** Shared by API and dashboard, so that the ids of all new payments are in one order. */
  const create = createPaymentContext({ ...options, directory, quotes, tokens });
  return {
    ...options,
    metrics,
    deliveryRulesOf,
    refreshSuccess: success.refresh,
    /** Sends a token other than USDC from a deposit address to the merchant. */
    rescue: (id: PaymentId, token: Address) => {
      const { relayers, intervals } = external;
      const context = { ...store, relayer: relayers[0], limits: intervals.relayLimits, nowMs: clock.nowMs };
      return rescueToken(context, id, token);
    },
    /** Stores and parts for the routes, without any secret. Each route takes those that its context names. */
    requestContext: {
      ...store,
      ...clock,
      directory,
      quotes,
      tokens,
      signingSecrets: createSecretBox(SIGNING_SECRETS, options.secretKey, config.previousSecretKeys),
      notifier,
      startSession,
      create,
      isServiceAddress: async (address: Address) =>
        create.settlement.reservedAddresses.has(address) ||
        (await store.payments.findDepositOwners([address])).length > 0,
      ...createFeatureParts(options.secretKey, config),
      callbacks: createCallbackGuard(rules, createCallbackHostCheck(resolver, ownAddresses)),
      pictures: createPictures(),
      checkEndpoint: (url: string) => checkEndpoint(deliveryRulesOf(url), url),
      testPayments: options.additions?.createTestPayments({ startSession, rankProviders: rank }) ?? null,
      isTestMode,
      mailer: options.mailer,
      receipts: options.mailer === null ? null : store.receipts,
      chainId: external.settlements[0].chainId,
      token: external.settlements[0].token,
      explorerTransactionUrl: external.explorerTransactionUrl,
      baseUrl: config.baseUrl,
      expiryMs: checkoutExpiryMs,
    },
  };
}

function createPaymentContext(
  parts: ServiceOptions & { directory: ProviderDirectory; quotes: Quotes; tokens: IpnTokens },
): CreatePaymentContext {
  const { external, store, clock, config } = parts;
  const [current] = external.settlements;
  const contracts = external.settlements.flatMap((earlier) => [earlier.factory, earlier.implementation]);
  const reserved = new Set([current.token, ...contracts, ...external.relayers.map(({ address }) => address)]);
  return {
    payments: store.payments,
    providers: createProviderChecks(parts.directory, parts.quotes),
    rates: external.rates,
    settlement: {
      chainId: current.chainId,
      factory: current.factory,
      feeWallet: current.feeWallet,
      depositAddressOf: createDepositAddressCalculator(current),
      reservedAddresses: reserved,
    },
    nowMs: clock.nowMs,
    newPaymentId: createPaymentIdGenerator(clock.nowMs),
    tokenFingerprint: parts.tokens.currentFingerprint,
    thresholdDefaults: config.thresholdDefaults,
  };
}

export function createDashboardContext(parts: ServiceParts): DashboardContext {
  const { config, clock, secretKey } = parts;
  const keyed = (purpose: string) => createKeyedHash(purpose, secretKey, config.previousSecretKeys);
  const box = (purpose: string) => createSecretBox(purpose, secretKey, config.previousSecretKeys);
  return {
    ...parts.requestContext,
    ...paymentAdditions(parts.requestContext),
    passwords: createPasswords(),
    secondFactor: { box: box(SECOND_FACTOR), recoveryHash: keyed('recovery codes') },
    browsers: box('known browsers'),
    shownOnce: box('secrets shown once'),
    limits: createDashboardLimits(clock.monotonicMs),
    observeFailure: (step) => parts.metrics.failedSignIns.inc({ step }),
    party: relyingPartyOf(config.baseUrl),
  };
}
