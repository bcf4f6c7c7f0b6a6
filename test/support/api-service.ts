import { randomUUID } from 'node:crypto';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { getContractAddress } from 'viem';
import { type Account, features } from '../../src/domain/account.ts';
import { createApiKey, hashApiKey } from '../../src/domain/api-key.ts';
import { parseCallbackUrl } from '../../src/domain/callback-url.ts';
import { createDepositAddressCalculator } from '../../src/domain/deposit-address.ts';
import { ServiceError } from '../../src/domain/errors.ts';
import { createIpnTokens } from '../../src/domain/ipn-token.ts';
import { USD_RATE_ONE } from '../../src/domain/money.ts';
import { createPaymentIdGenerator } from '../../src/domain/payment-id.ts';
import type { Address } from '../../src/domain/payout-address.ts';
import type { ProviderAdapter, Quote } from '../../src/domain/ports/provider.ts';
import type { Rates } from '../../src/domain/ports/rates.ts';
import { type ProviderId, providerIds } from '../../src/domain/provider-catalogue.ts';
import { plainProfile } from '../../src/domain/shop-profile.ts';
import { createMemoryRateLimiters } from '../../src/http/api/rate-limit.ts';
import { registerApi } from '../../src/http/api/routes.ts';
import { registerHealth } from '../../src/http/health.ts';
import { registerOpenApi } from '../../src/http/openapi/register-openapi.ts';
import type { Observe } from '../../src/http/request-log.ts';
import { createPublicServer, type PublicServerOptions } from '../../src/http/server.ts';
import { registerWellKnown } from '../../src/http/well-known.ts';
import type { Store } from '../../src/store/store.ts';
import { checkAnswers } from './described-answers.ts';
import { createTestDatabase, type TestDatabase } from './test-store.ts';

export const BASE_URL = 'https://pay.example.com';
/** EIP-55's first example. */
export const PAYOUT_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
/** The address that the service under test calls its own. */
export const RESERVED_ADDRESS = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
export const FACTORY: Address = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
export const FEE_WALLET: Address = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';
/** The factory's first contract, as it is with the real ones. */
export const IMPLEMENTATION: Address = getContractAddress({ from: FACTORY, nonce: 1n });

/** What a merchant sends at the least. */
export const validRequest = {
  address: PAYOUT_ADDRESS,
  callback: 'https://shop.example.com/hook?order=1',
  amount: '100.00',
} as const;

type Json = Record<string, unknown>;

/**
 * The API as production builds it, over a real store, with the outside world under the test's control. Every answer it
 * gives is held to the OpenAPI document; `close` throws when one was not as described.
 */
export interface ApiService {
  readonly server: FastifyInstance;
  readonly store: Store;
  readonly account: Account;
  readonly apiKey: string;
  /** What the outside world answers; a test changes it. */
  readonly world: World;
  /** Every line of the log. */
  readonly logLines: string[];
  readonly observed: Parameters<Observe>[];
  /** Moves both clocks. */
  advance(ms: number): void;
  addAccount(change?: Partial<Account>): Promise<{ account: Account; apiKey: string; keyId: string }>;
  post(body: unknown, headers?: Json): Promise<LightMyRequestResponse>;
  get(query: Json | string, headers?: Json): Promise<LightMyRequestResponse>;
  status(query: Json | string, headers?: Json): Promise<LightMyRequestResponse>;
  close(): Promise<void>;
}

export interface World {
  /** Providers that have credentials. */
  readonly adapters: Map<ProviderId, ProviderAdapter>;
  quote: () => Promise<Quote>;
  rates: Rates;
  /** Addresses that the service calls its own. */
  readonly reserved: Set<string>;
  /** How often a provider was asked, DNS was asked, a rate was read. */
  readonly asked: { quotes: number; callbacks: number; rates: number };
}

function createWorld(): World {
  const world: World = {
    adapters: new Map(),
    quote: async () => ({ deliveryUnits: null, minimumUsdCents: null }),
    rates: {
      usdRate: (currency) => {
        world.asked.rates++;
        return { USD: USD_RATE_ONE, EUR: 110_000_000n, CAD: 73_000_000n, INR: 1_200_000n }[currency];
      },
    },
    reserved: new Set([RESERVED_ADDRESS]),
    asked: { quotes: 0, callbacks: 0, rates: 0 },
  };
  for (const id of providerIds) {
    world.adapters.set(id, {
      id,
      quote: () => {
        world.asked.quotes++;
        return world.quote();
      },
      startSession: async () => {
        throw new ServiceError('provider_unavailable');
      },
    });
  }
  return world;
}

type ApiServiceOptions = Partial<PublicServerOptions> & {
  requestsPerMinute?: number;
  /** Where there is no test project that says which engine it is. */
  database?: Pick<TestDatabase, 'open' | 'remove'>;
};

/** Builds one; close it after the test. */
export async function createApiService(options: ApiServiceOptions = {}): Promise<ApiService> {
  const database = options.database ?? (await createTestDatabase());
  const store = await database.open();
  const world = createWorld();
  const logLines: string[] = [];
  const observed: Parameters<Observe>[] = [];
  let movedMs = 0;
  const { requestsPerMinute, database: _, ...serverOptions } = options;

  const server = createPublicServer({
    logger: pino({ level: 'trace' }, { write: (line) => logLines.push(line) }),
    trustProxy: [],
    observe: (...call) => observed.push(call),
    ...serverOptions,
  });
  const requireDescribedAnswers = checkAnswers(server);
  const tokens = createIpnTokens('a secret key of the tests, long enough');
  const nowMs = () => Date.now() + movedMs;
  registerApi(server, {
    accounts: store.accounts,
    create: {
      payments: store.payments,
      providers: { adapters: world.adapters, settings: store.providers },
      rates: { usdRate: (currency) => world.rates.usdRate(currency) },
      settlement: {
        chainId: 137,
        factory: FACTORY,
        feeWallet: FEE_WALLET,
        depositAddressOf: createDepositAddressCalculator({
          chainId: 137,
          factory: FACTORY,
          implementation: IMPLEMENTATION,
        }),
        isReservedAddress: async (address) => world.reserved.has(address),
      },
      nowMs,
      newPaymentId: createPaymentIdGenerator(nowMs),
      tokenFingerprint: tokens.currentFingerprint,
      toleranceBasisPoints: 200,
    },
    status: { payments: store.payments, tokens },
    tokens,
    callbacks: {
      refusalOf: (callback) => {
        world.asked.callbacks++;
        const judgement = parseCallbackUrl(callback, new Set());
        return judgement.ok ? null : judgement.reason;
      },
    },
    // Also with PostgreSQL, whose own clock a test cannot move; what is counted there has its own tests.
    limits: createMemoryRateLimiters(
      {
        createPerMinute: requestsPerMinute ?? 60,
        statusPerMinute: requestsPerMinute ?? 120,
        unauthenticatedPerMinute: requestsPerMinute ?? 30,
      },
      () => performance.now() + movedMs,
    ),
    baseUrl: BASE_URL,
  });
  registerOpenApi(server, { baseUrl: BASE_URL });
  registerHealth(server, {
    isReady: () =>
      options.isLeaving?.() ? { ready: false, reason: 'it is shutting down' } : { ready: true },
  });
  registerWellKnown(server, {
    chainId: 137,
    token: RESERVED_ADDRESS,
    factories: [{ address: FACTORY, implementation: IMPLEMENTATION, codeHash: `0x${'1f'.repeat(32)}` }],
    feeWallets: [FEE_WALLET],
  });
  await server.ready();

  const first = await addAccount(store);
  const withKey = (headers: Json = {}) =>
    ({ 'x-api-key': first.apiKey, ...headers }) as Record<string, string>;
  return {
    server,
    store,
    ...first,
    world,
    logLines,
    observed,
    advance: (ms) => {
      movedMs += ms;
    },
    addAccount: (change) => addAccount(store, change),
    post: (body, headers) =>
      server.inject({
        method: 'POST',
        url: '/api/v1/wallet',
        headers: withKey(headers),
        payload: body as object,
      }),
    get: (query, headers) =>
      server.inject({ method: 'GET', url: `/api/v1/wallet?${queryOf(query)}`, headers: withKey(headers) }),
    status: (query, headers) =>
      server.inject({
        method: 'GET',
        url: `/api/v1/payment-status?${queryOf(query)}`,
        headers: withKey(headers),
      }),
    close: async () => {
      await server.close();
      await store.close();
      await database.remove();
      requireDescribedAnswers();
    },
  };
}

function queryOf(query: Json | string): string {
  return typeof query === 'string' ? query : new URLSearchParams(query as Record<string, string>).toString();
}

async function addAccount(store: Store, change: Partial<Account> = {}) {
  const account: Account = {
    id: randomUUID(),
    name: 'Example Shop',
    email: null,
    feeBasisPoints: 250,
    wallet: null,
    features: [...features],
    ...plainProfile,
    providers: null,
    suspended: false,
    createdAtMs: Date.now(),
    ...change,
  };
  await store.accounts.createAccount(account);
  const apiKey = createApiKey();
  const keyId = randomUUID();
  const isCreated = await store.accounts.createKey({
    id: keyId,
    accountId: account.id,
    name: 'test',
    hash: hashApiKey(apiKey),
    lastCharacters: apiKey.slice(-4),
    createdAtMs: Date.now(),
    revokedAtMs: null,
    lastUsedAtMs: null,
  });
  if (!isCreated) throw new Error('the account has too many keys');
  return { account, apiKey, keyId };
}
