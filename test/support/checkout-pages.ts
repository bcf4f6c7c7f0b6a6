import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { Account } from '../../src/domain/account.ts';
import { ServiceError } from '../../src/domain/errors.ts';
import {
  type Deposit,
  type Payment,
  type PaymentReference,
  type Release,
  untouchedProgress,
} from '../../src/domain/payment.ts';
import { createPaymentIdGenerator } from '../../src/domain/payment-id.ts';
import { fieldsOf, type PaymentState } from '../../src/domain/payment-states.ts';
import type { AccountStore } from '../../src/domain/ports/account-store.ts';
import type { PaymentStore, PaymentView } from '../../src/domain/ports/payment-store.ts';
import type { SessionRequest } from '../../src/domain/ports/provider.ts';
import type { ProviderSettings } from '../../src/domain/ports/provider-store.ts';
import { type ProviderId, providerIds } from '../../src/domain/provider-catalogue.ts';
import type { ProviderSession } from '../../src/domain/provider-session.ts';
import { parseShopLogo } from '../../src/domain/shop-logo.ts';
import { plainProfile } from '../../src/domain/shop-profile.ts';
import { createPageLimits } from '../../src/http/checkout/page-limits.ts';
import { registerCheckoutPages } from '../../src/http/checkout/routes.ts';
import { createPublicServer } from '../../src/http/server.ts';
import { createStartSession } from '../../src/payments/start-session.ts';
import { onePixel } from './pictures.ts';

/** The moment at which the pages are looked at. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0);
export const PAGES_BASE_URL = 'http://localhost:3000';

export const DEPOSIT_HASH = `0x${'d1'.repeat(32)}`;
export const RELEASE_HASH = `0x${'e2'.repeat(32)}`;

/** What must never reach the checkout page. */
export const secretsOfPayment = {
  note: 'canary-note',
  callbackUrl: 'https://canary-callback.example/hook',
  tokenFingerprint: 'canaryTokenFingerprint',
  releaseRefusalReason: 'canary-refusal',
} as const;

const newPaymentId = createPaymentIdGenerator(() => NOW_MS - 60_000);

export const shopLogo = parseShopLogo(onePixel);

export const shopAccount: Account = {
  id: 'acc_pages',
  name: 'Café Tortuga',
  email: 'canary-merchant@example.com',
  feeBasisPoints: 250,
  wallet: null,
  features: ['card_checkout', 'fee_pass_through'],
  ...plainProfile,
  providers: null,
  suspended: false,
  createdAtMs: 0,
};

/** A payment nothing has happened to, with what a test says otherwise. */
export function pagePayment(change: Partial<Payment> = {}): Payment {
  return {
    ...untouchedProgress,
    id: newPaymentId(),
    accountId: shopAccount.id,
    createdAtMs: NOW_MS - 60_000,
    amountCents: 26_10,
    currency: 'USD',
    originalAmountCents: 25_00,
    customerFeeCents: 1_10,
    passFeeToCustomer: true,
    feeBasisPoints: 250,
    provider: 'multi',
    email: null,
    chainId: 137,
    factory: '0x00000000000000000000000000000000000000Fa',
    payoutAddress: '0x00000000000000000000000000000000000000aa',
    feeWallet: '0x00000000000000000000000000000000000000Fe',
    depositAddress: '0x00000000000000000000000000000000000000dE',
    usdUnits: 26_100_000n,
    enoughUnits: 24_000_000n,
    ...secretsOfPayment,
    ...change,
  } as Payment;
}

/** A visit at a provider that can still be gone on with, with what a test says otherwise. */
export function pageSession(payment: Payment, change: Partial<ProviderSession> = {}): ProviderSession {
  return {
    id: 'session',
    paymentId: payment.id,
    provider: 'moonpay',
    redirectUrl: 'https://provider.example/earlier',
    providerReference: 'MP-48213',
    quotedUnits: null,
    createdAtMs: NOW_MS - 30_000,
    expiresAtMs: NOW_MS + 600_000,
    progress: null,
    progressAtMs: null,
    ...change,
  };
}

/** Deposits and releases in 10⁻⁶ units, as the chain would have told of them. */
export function pageView(
  payment: Payment,
  rest: {
    deposits?: readonly bigint[];
    releases?: readonly bigint[];
    sessions?: readonly ProviderSession[];
  } = {},
): PaymentView {
  const deposits: Deposit[] = (rest.deposits ?? []).map((units, index) => ({
    units,
    blockNumber: 10 + index,
    logIndex: 0,
    transactionHash: DEPOSIT_HASH,
  }));
  const releases: Release[] = (rest.releases ?? []).map((units, index) => ({
    toMerchantUnits: units,
    feeUnits: 0n,
    blockNumber: 20 + index,
    logIndex: 0,
    transactionHash: RELEASE_HASH,
  }));
  return { payment, ledger: { deposits, releases, finalBlock: 30 }, sessions: rest.sessions ?? [] };
}

function inState(state: PaymentState, change: Partial<Payment> = {}): Payment {
  return pagePayment({ ...fieldsOf(state), ...change });
}

const enough = 24_500_000n;
const settled = {
  txidIn: DEPOSIT_HASH,
  txidOut: RELEASE_HASH,
  receivedUnits: enough,
  forwardedUnits: enough,
};

function afterVisit(payment: Payment, rest: Parameters<typeof pageView>[1] = {}): PaymentView {
  return pageView(payment, { sessions: [pageSession(payment)], ...rest });
}

/** A payment for every state a customer can meet, by the name that screenshots and tests use. */
export const checkoutStates = {
  choose: () => pageView(pagePayment()),
  'choose-euro': () =>
    pageView(
      pagePayment({
        currency: 'EUR',
        passFeeToCustomer: false,
        originalAmountCents: null,
        customerFeeCents: null,
      }),
    ),
  'choose-small': () =>
    pageView(
      pagePayment({
        amountCents: 3_00,
        usdUnits: 3_000_000n,
        originalAmountCents: null,
        customerFeeCents: null,
      }),
    ),
  'choose-single': () => pageView(pagePayment({ provider: 'moonpay', email: 'jane.doe@example.com' })),
  'none-can-serve': () => pageView(pagePayment({ amountCents: 50, usdUnits: 500_000n })),
  'at-provider': () => afterVisit(pagePayment()),
  'visit-ended': () => {
    const payment = pagePayment();
    return pageView(payment, { sessions: [pageSession(payment, { expiresAtMs: NOW_MS - 1 })] });
  },
  'taken-by-provider': () => {
    const payment = pagePayment();
    const sessions = [pageSession(payment, { progress: 'delivering', progressAtMs: NOW_MS - 1_000 })];
    return pageView(payment, { sessions });
  },
  'refused-by-provider': () => {
    const payment = pagePayment();
    const sessions = [pageSession(payment, { progress: 'failed', progressAtMs: NOW_MS - 1_000 })];
    return pageView(payment, { sessions });
  },
  underpaid: () => afterVisit(pagePayment(), { deposits: [10_123_456n] }),
  seen: () => afterVisit(inState('unpaid/ready'), { deposits: [enough] }),
  sending: () => afterVisit(inState('unpaid/processing'), { deposits: [enough], releases: [enough] }),
  delayed: () => afterVisit(inState('unpaid/failed'), { deposits: [enough] }),
  'needs-a-hand': () => afterVisit(inState('unpaid/manual_required'), { deposits: [enough] }),
  paid: () =>
    afterVisit(inState('paid/completed', { ...settled, paidAtMs: NOW_MS - 5_000 }), {
      deposits: [enough],
      releases: [enough],
    }),
  canceled: () => pageView(inState('canceled/canceled', { cancelReason: 'merchant' })),
  expired: () => pageView(inState('canceled/canceled', { cancelReason: 'expired' })),
  'closed-with-money': () =>
    afterVisit(inState('canceled/manual_required', { cancelReason: 'expired' }), { deposits: [10_000_000n] }),
  'closed-and-released': () =>
    afterVisit(inState('canceled/completed', { cancelReason: 'expired', ...settled }), {
      deposits: [10_000_000n],
      releases: [10_000_000n],
    }),
} as const satisfies Record<string, () => PaymentView>;

export interface CheckoutPages {
  readonly server: FastifyInstance;
  /** Puts a payment where the pages find it; returns its id. */
  put(view: PaymentView): string;
  /** What is stored for a payment now. */
  view(paymentId: string): PaymentView;
  /** Visits that were started at providers. */
  readonly started: ProviderId[];
  /** With each of them, the country that the provider was told. */
  readonly countries: (string | null)[];
  /** Providers that do not answer. */
  readonly failing: Set<ProviderId>;
  /** What a provider quotes; nothing where none is set. */
  readonly quotes: Map<ProviderId, bigint>;
  /** When the token was asked about a payout wallet. */
  readonly blocklistReads: readonly number[];
  /** The clock of limits and caches. */
  readonly clock: { monotonicMs: number };
  readonly logLines: readonly string[];
  readonly settings: Map<ProviderId, ProviderSettings>;
}

export interface CheckoutPagesOptions {
  readonly account?: Partial<Account>;
  readonly isSandbox?: boolean;
  readonly countryHeader?: string;
  /** The provider that starts nothing before it knows the country. */
  readonly needsCountry?: ProviderId;
  readonly baseUrl?: string;
  readonly redirectUrl?: string;
}

/** The pages on the real server with the real `startSession`, over a store in memory and providers that are fakes. */
export function createCheckoutPages(options: CheckoutPagesOptions = {}): CheckoutPages {
  const views = new Map<string, PaymentView>();
  const started: ProviderId[] = [];
  const countries: (string | null)[] = [];
  const failing = new Set<ProviderId>();
  const quotes = new Map<ProviderId, bigint>();
  const blocklistReads: number[] = [];
  const clock = { monotonicMs: 0 };
  const logLines: string[] = [];
  const settings = new Map<ProviderId, ProviderSettings>();
  const account = { ...shopAccount, ...options.account };
  const baseUrl = options.baseUrl ?? PAGES_BASE_URL;

  const payments = {
    viewPayment: async (asked: PaymentReference | string) =>
      views.get(typeof asked === 'string' ? asked : asked.id) ?? null,
    addSession: async (_: PaymentReference, session: ProviderSession) => {
      const view = views.get(session.paymentId) as PaymentView;
      views.set(session.paymentId, { ...view, sessions: [...view.sessions, session] });
      return view.payment;
    },
  } as unknown as PaymentStore;
  const accounts = {
    findAccount: async () => account,
    findLogo: async (hash: string) => (hash === shopLogo.hash ? shopLogo : null),
  } as unknown as AccountStore;
  const adapters = new Map(
    providerIds.map((id) => [
      id,
      {
        id,
        quote: async () => ({ deliveryUnits: null, minimumUsdCents: null }),
        ...(options.needsCountry === id ? { needsCountry: true as const } : {}),
        startSession: async ({ country }: Pick<SessionRequest, 'country'>) => {
          started.push(id);
          countries.push(country ?? null);
          if (failing.has(id)) throw new ServiceError('provider_unavailable');
          return {
            redirectUrl: options.redirectUrl ?? `https://${id}.example/visit/${started.length}`,
            providerReference: `REF-${started.length}`,
            expiresAtMs: NOW_MS + 600_000,
            quotedUnits: quotes.get(id) ?? null,
          };
        },
      },
    ]),
  );
  const directory = {
    adapters,
    settings: {
      readProviderSettings: (id: ProviderId) => settings.get(id) ?? { active: null, minimumUsdCents: null },
      writeProviderSettings: async () => {},
    },
  };
  const server = createPublicServer({
    logger: pino({ level: 'info' }, { write: (line) => logLines.push(line) }),
    trustProxy: [],
  });
  registerCheckoutPages(server, {
    payments,
    accounts,
    directory,
    startSession: createStartSession({
      payments,
      accounts,
      providers: directory,
      token: {
        isBlocklisted: async () => {
          blocklistReads.push(clock.monotonicMs);
          return false;
        },
      },
      nowMs: () => NOW_MS,
      monotonicMs: () => clock.monotonicMs,
      toleranceBasisPoints: 200,
      checkoutPageUrl: ({ id }) => `${baseUrl}/pay/${id}?returned=1`,
    }),
    limits: createPageLimits(() => clock.monotonicMs),
    baseUrl,
    nowMs: () => NOW_MS,
    countryHeader: options.countryHeader ?? null,
    isSandbox: options.isSandbox ?? false,
    explorerTransactionUrl: (hash) => `https://explorer.example/tx/${hash}`,
  });
  return {
    server,
    put(view) {
      views.set(view.payment.id, view);
      return view.payment.id;
    },
    view: (id) => views.get(id) as PaymentView,
    started,
    countries,
    failing,
    quotes,
    blocklistReads,
    clock,
    logLines,
    settings,
  };
}
