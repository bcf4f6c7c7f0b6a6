import { pino } from 'pino';
import { beforeEach } from 'vitest';
import { createExamplePayments, exampleAccount } from '../../sandbox/pages/example-payments.ts';
import { type ExampleState, exampleState, stateNames } from '../../sandbox/pages/example-states.ts';
import { registerStatePages } from '../../sandbox/pages/register-state-pages.ts';
import type { Account } from '../../src/accounts/account.ts';
import type { AccountStore } from '../../src/accounts/account-store.ts';
import { shopLogoOf } from '../../src/accounts/shop-profile.ts';
import { registerPaymentPage } from '../../src/features/payment-pages/customer-page.ts';
import { registerRefundPage } from '../../src/features/refunds/customer-page.ts';
import type { Refund, RefundStore } from '../../src/features/refunds/refund.ts';
import type { RefundContext } from '../../src/features/refunds/refunds.ts';
import type { ReceiptStatus } from '../../src/mail/mail.ts';
import { registerCheckoutPages } from '../../src/pages/checkout/routes.ts';
import { ServiceError } from '../../src/payment/errors.ts';
import type { PaymentReference } from '../../src/payment/payment.ts';
import type { StateChange } from '../../src/payment/payment-search-store.ts';
import type { PaymentStore, PaymentView } from '../../src/payment/payment-store.ts';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import type { ProviderSession } from '../../src/payment/provider-session.ts';
import type { TestPayments } from '../../src/payment/test-payments.ts';
import { createKeyedHash } from '../../src/platform/keyed-hash.ts';
import { createPictures } from '../../src/platform/pictures.ts';
import { countryNotServed } from '../../src/providers/adapters/provider-http.ts';
import { createQuotes } from '../../src/providers/ask-quotes.ts';
import type {
  ProviderAdapter,
  ProviderSettings,
  QuoteRequest,
  SessionRequest,
} from '../../src/providers/provider.ts';
import type { ProviderLimits } from '../../src/providers/provider-limits-and-regions.ts';
import { estimateSuccess, type VisitOutcome } from '../../src/providers/provider-success.ts';
import { createStartSession } from '../../src/providers/start-session.ts';
import { createPageLimits } from '../../src/web/rate-windows.ts';
import { createBaseServer } from '../../src/web/server.ts';
import { onePixel } from './pictures.ts';
import { type QuoteAnswer, quoteOf } from './quote-answer.ts';
import { addressLinkTokens } from './refunds.ts';

/** The moment at which the pages are looked at. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
/** How long after its creation a checkout can be paid. */
export const EXPIRY_MS = 7 * 86_400_000;
export const PAGES_BASE_URL = 'http://localhost:3000';

/** The token that pages tell those who pay from a wallet. */
export const USDC = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';

/** What must never reach the checkout page. */
export const secretsOfPayment = {
  note: 'canary-note',
  callbackUrl: 'https://canary-callback.example/hook',
  tokenFingerprint: 'canaryTokenFingerprint',
  releaseRefusalReason: 'canary-refusal',
} as const;

export const shopLogo = shopLogoOf(onePixel);

export const shopAccount: Account = { ...exampleAccount, email: 'canary-merchant@example.com' };

const examples = createExamplePayments(NOW_MS, secretsOfPayment);
/** A payment nothing has happened to, a visit that can be gone on with, and what is stored, as a test says otherwise. */
export const { payment: pagePayment, session: pageSession, view: pageView } = examples;

/** A payment for every state a customer can meet, by the name that screenshots and tests use. */
export const checkoutStates = Object.fromEntries(
  stateNames.map((name) => [name, () => exampleState(examples, name)]),
) as Readonly<Record<ExampleState, () => PaymentView>>;

export type CheckoutPages = ReturnType<typeof createCheckoutPages>;

export interface CheckoutPagesOptions {
  readonly account?: Partial<Account>;
  readonly isTestMode?: boolean;
  readonly simulateOutcome?: TestPayments['simulateOutcome'];
  readonly countryHeader?: string;
  /** The provider that starts nothing before it knows the country. */
  readonly needsCountry?: ProviderId;
  /** The provider that takes only customers who come from this service's site. */
  readonly checksReferrer?: ProviderId;
  readonly baseUrl?: string;
  readonly redirectUrl?: string;
  /** Providers in place of fakes. */
  readonly adapters?: ReadonlyMap<ProviderId, ProviderAdapter>;
  readonly hasMail?: boolean;
  /** Networks of proxies that are trusted. */
  readonly trustProxy?: readonly string[];
}

/**
 * The pages on the real server with the real `startSession`, over a store in memory and providers that are fakes. There is
 * nothing to close unless it listens.
 */
export function createCheckoutPages(options: CheckoutPagesOptions = {}) {
  const views = new Map<string, PaymentView>();
  const seen = {
    /** Visits that were started at providers. */
    started: [] as ProviderId[],
    /** With each of them, the country, the IP address and the email address that the provider was told. */
    countries: [] as (string | null)[],
    addresses: [] as (string | null)[],
    emails: [] as (string | null)[],
    references: [] as string[],
    states: [] as (string | null)[],
    means: [] as (string | null)[],
    /** The providers that were asked for a quote, in this order, and with each of them the country. */
    asked: [] as ProviderId[],
    quotedCountries: [] as (string | null)[],
    /** When the token was asked about a payout wallet. */
    blocklistReads: [] as number[],
    logLines: [] as string[],
    /** The payments whose page was recorded as opened. */
    opened: [] as string[],
  };
  const world = {
    /** What customers asked to be told by email, by the ids of payments. */
    mails: new Map<string, { email: string; language: string; status?: ReceiptStatus }>(),
    changes: new Map<string, readonly StateChange[]>(),
    /** Refunds by their ids, for the customers' links. */
    refunds: new Map<string, Refund>(),
    /** Providers that do not answer. */
    failing: new Set<ProviderId>(),
    /** Providers that serve nobody where the customer is. */
    unserving: new Set<ProviderId>(),
    /** How a provider answers when it is asked for a quote; with nothing where none is set. */
    quoteAnswers: new Map<ProviderId, () => Promise<QuoteAnswer>>(),
    /** What a provider quotes with a session; nothing where none is set. */
    quotes: new Map<ProviderId, bigint>(),
    /** What it charges in all for a session; the amount where none is set. */
    charges: new Map<ProviderId, number>(),
    settings: new Map<ProviderId, ProviderSettings>(),
    /** What the providers' catalogs are known to say, by provider and country (`wert DE`). */
    limits: new Map<string, ProviderLimits>(),
    /** How visits to providers ended, the newest first; without one, the order of the list says nothing of success. */
    visits: [] as VisitOutcome[],
    /** The clock of limits and caches. */
    clock: { monotonicMs: 0 },
  };
  const { clock } = world;
  const account = { ...shopAccount, ...options.account };
  const baseUrl = options.baseUrl ?? PAGES_BASE_URL;

  const payments = {
    viewPayment: async (asked: PaymentReference | string) =>
      views.get(typeof asked === 'string' ? asked : asked.id) ?? null,
    addSession: async (session: ProviderSession) => {
      const view = views.get(session.paymentId) as PaymentView;
      views.set(session.paymentId, { ...view, sessions: [...view.sessions, session] });
      return view.payment;
    },
  } as unknown as PaymentStore;
  const search = { listStateChanges: async (id: string) => world.changes.get(id) ?? [] };
  const accounts = {
    findAccount: async () => account,
    findLogo: async (hash: string) => (hash === shopLogo.hash ? shopLogo : null),
  } as unknown as AccountStore;
  const adapters = new Map<ProviderId, ProviderAdapter>(
    providerIds.map((id) => [
      id,
      options.adapters?.get(id) ?? {
        id,
        quote: (request: QuoteRequest) => {
          seen.asked.push(id);
          seen.quotedCountries.push(request.customerCountry ?? null);
          const nothing = async () => ({ deliveryUnits: null, minimumUsdCents: null });
          return quoteOf(request, (world.quoteAnswers.get(id) ?? nothing)());
        },
        ...(options.needsCountry === id ? { needsCountry: true as const } : {}),
        ...(options.checksReferrer === id ? { checksReferrer: true as const } : {}),
        startSession: async ({
          amountCents,
          customerCountry,
          customerIp,
          customerReference,
          customerState,
          email,
          means,
        }: SessionRequest) => {
          seen.started.push(id);
          seen.countries.push(customerCountry ?? null);
          seen.addresses.push(customerIp ?? null);
          seen.emails.push(email);
          seen.references.push(customerReference);
          seen.states.push(customerState ?? null);
          seen.means.push(means ?? null);
          if (world.failing.has(id)) throw new ServiceError('provider_unavailable');
          if (world.unserving.has(id)) throw countryNotServed(id, 'DE');
          return {
            redirectUrl: options.redirectUrl ?? `https://${id}.example/visit/${seen.started.length}`,
            providerReference: `REF-${seen.started.length}`,
            expiresAtMs: NOW_MS + 600_000,
            quotedUnits: world.quotes.get(id) ?? null,
            chargedCents: world.charges.get(id) ?? amountCents,
          };
        },
      },
    ]),
  );
  const directory = {
    adapters,
    settings: {
      readProviderSettings: async (id: ProviderId) =>
        world.settings.get(id) ?? { active: null, pinned: null, minimumUsdCents: null },
      writeProviderSettings: async () => {},
    },
    success: () => (world.visits.length === 0 ? undefined : estimateSuccess(world.visits)),
    limits: {
      known: (id: ProviderId, _: string, country: string | null) =>
        world.limits.get(`${id} ${country ?? ''}`) ?? null,
      refresh: () => {},
      list: () => [],
    },
  };
  const server = createBaseServer({
    logger: pino({ level: 'info' }, { write: (line) => seen.logLines.push(line) }),
    trustProxy: options.trustProxy ?? [],
  });
  const providerQuotes = createQuotes({
    providers: directory,
    nowMs: () => NOW_MS,
    monotonicMs: () => clock.monotonicMs,
    keepMs: 20_000,
  });
  const refundContext: RefundContext = {
    payments,
    refunds: {
      findRefundOfLink: async (id: string) => world.refunds.get(id) ?? null,
    } as unknown as RefundStore,
    observations: { readCursor: async () => null },
    accounts: { findAccount: async () => null },
    isServiceAddress: async () => false,
    addressLinkTokens,
    baseUrl,
    nowMs: () => NOW_MS,
  };
  registerCheckoutPages(
    server,
    {
      recordOpened: ({ id }) => seen.opened.push(id),
      token: USDC,
      payments,
      accounts,
      receipts:
        options.hasMail === true
          ? {
              findReceiptStatus: async (id) =>
                world.mails.has(id) ? (world.mails.get(id)?.status ?? 'wanted') : null,
              askForReceipt: async (id, customer) => void world.mails.set(id, customer),
            }
          : null,
      search,
      directory,
      startSession: createStartSession({
        quotes: providerQuotes,
        ipHash: createKeyedHash('IP addresses of customers', 'a secret of the tests'),
        customerHash: createKeyedHash('customers at providers', 'a secret of the tests'),
        payments,
        accounts,
        providers: directory,
        token: {
          isBlocklisted: async () => {
            seen.blocklistReads.push(clock.monotonicMs);
            return false;
          },
        },
        nowMs: () => NOW_MS,
        monotonicMs: () => clock.monotonicMs,
        checkoutPageUrl: ({ id }) => `${baseUrl}/pay/${id}?returned=1`,
      }),
      quotes: providerQuotes,
      emailHash: createKeyedHash('email of a checkout', 'a secret of the tests'),
      limits: createPageLimits(() => clock.monotonicMs),
      pictures: createPictures(),
      baseUrl,
      nowMs: () => NOW_MS,
      expiryMs: EXPIRY_MS,
      countryHeader: options.countryHeader ?? null,
      isTestMode: options.isTestMode ?? false,
      testPayments:
        options.simulateOutcome === undefined ? null : { simulateOutcome: options.simulateOutcome },
      explorerTransactionUrl: (hash) => `https://explorer.example/tx/${hash}`,
    },
    [
      (routes) => registerRefundPage(routes, refundContext),
      (routes) => registerPaymentPage(routes, {} as never),
    ],
  );
  if (options.isTestMode === true) {
    const explorerTransactionUrl = (hash: string) => `https://explorer.example/tx/${hash}`;
    const chain = { explorerTransactionUrl, token: USDC } as const;
    registerStatePages(server, {
      ...chain,
      directory,
      quotes: providerQuotes,
      nowMs: () => NOW_MS,
      expiryMs: EXPIRY_MS,
      baseUrl,
    });
  }
  return {
    server,
    ...seen,
    ...world,
    /** Puts a payment where the pages find it; returns its id. */
    put(view: PaymentView): string {
      views.set(view.payment.id, view);
      return view.payment.id;
    },
    /** What is stored for a payment now. */
    view: (paymentId: string) => views.get(paymentId) as PaymentView,
  };
}

/**
 * Opens them before each test of the file, hands them to `take`, and closes them after the test. Returns how a test
 * replaces them by others.
 */
export function usePages(
  take: (pages: CheckoutPages) => unknown,
  defaults?: CheckoutPagesOptions,
): (options?: CheckoutPagesOptions) => Promise<void> {
  const open = async (options = defaults) => void take(createCheckoutPages(options));
  beforeEach(() => open());
  return open;
}
