import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { createApiKey, hashApiKey, keyScopes } from '../../src/accounts/api-key.ts';
import { createApiRateLimiters } from '../../src/api/api-rate-limits.ts';
import { registerMerchantApi } from '../../src/api/merchant/merchant-routes.ts';
import { registerOpenApi } from '../../src/api/openapi/create-openapi-document.ts';
import { registerApi } from '../../src/api/payment-routes.ts';
import { apiDescription, merchantFeatures } from '../../src/app/features.ts';
import type { Store } from '../../src/app/store/store.ts';
import type { RefundRoutesContext } from '../../src/features/refunds/refund-routes.ts';
import { features } from '../../src/payment/create-payment.ts';
import { createSecretBox } from '../../src/platform/secret-box.ts';
import type { Observe } from '../../src/web/request-log.ts';
import { type BaseServerOptions, createBaseServer } from '../../src/web/server.ts';
import { registerHealth, registerWellKnown } from '../../src/web/well-known.ts';
import { newAccount, newKey } from '../store/fixtures.ts';
import { checkAnswers } from './described-answers.ts';
import {
  createTestCallbacks,
  createTestPaymentContext,
  createTestTokens,
  createWorld,
  FACTORY,
  FEE_WALLET,
  IMPLEMENTATION,
  RESERVED_ADDRESS,
  type World,
} from './payment-context.ts';
import { addressLinkTokens } from './refunds.ts';
import { createTestDatabase, type TestDatabase } from './test-store.ts';

export const BASE_URL = 'https://pay.example.com';
/** EIP-55's first example. */
export const PAYOUT_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/** What a merchant sends at the least. */
export const validRequest = {
  address: PAYOUT_ADDRESS,
  callback: 'https://shop.example.com/hook?order=1',
  amount: '100.00',
} as const;

type Json = Record<string, unknown>;

export type ApiService = Awaited<ReturnType<typeof createApiService>>;

type ApiServiceOptions = Partial<BaseServerOptions> & {
  requestsPerMinute?: number;
  /** Called before the routes are registered. */
  prepare?: (server: FastifyInstance) => void;
  /** What else is reached on the same server. */
  register?: (server: FastifyInstance, store: Store, world: World) => void;
  /** Where there is no test project that says which engine it is. */
  database?: Pick<TestDatabase, 'open' | 'remove'>;
};

/**
 * The API as production builds it, over a real store, with the outside world under the test's control. Every answer it
 * gives is held to the OpenAPI document; `close` throws when one was not as described.
 */
export async function createApiService(options: ApiServiceOptions = {}) {
  const database = options.database ?? (await createTestDatabase());
  const store = await database.open();
  const world = createWorld();
  const logLines: string[] = [];
  const observed: Parameters<Observe>[] = [];
  let movedMs = 0;
  const { requestsPerMinute, prepare, register, database: _, ...serverOptions } = options;

  const server = createBaseServer({
    logger: pino({ level: 'trace' }, { write: (line) => logLines.push(line) }),
    trustProxy: [],
    observe: (...call) => observed.push(call),
    ...serverOptions,
  });
  prepare?.(server);
  const requireDescribedAnswers = checkAnswers(server);
  const tokens = createTestTokens();
  const nowMs = () => Date.now() + movedMs;
  // Also with PostgreSQL, whose own clock a test cannot move; what is counted there has its own tests.
  const limits = createApiRateLimiters(
    {
      createPerMinute: requestsPerMinute ?? 60,
      statusPerMinute: requestsPerMinute ?? 120,
      unauthenticatedPerMinute: requestsPerMinute ?? 30,
    },
    () => performance.now() + movedMs,
  );
  const create = createTestPaymentContext({ store, world, nowMs, tokens });
  const callbacks = createTestCallbacks(world);
  const api = { ...store, create, tokens, callbacks, limits, nowMs, baseUrl: BASE_URL };
  registerApi(server, api);
  const connect = {
    ...store,
    nowMs,
    shownOnce: createSecretBox('secrets shown once', 'a secret key of the tests, long enough'),
  };
  const refundContext: RefundRoutesContext = {
    ...store,
    isServiceAddress: async (address) => create.settlement.reservedAddresses.has(address),
    addressLinkTokens,
    token: RESERVED_ADDRESS,
    chainId: 137,
    nowMs,
    baseUrl: BASE_URL,
  };
  registerMerchantApi(
    server,
    { ...api, expiryMs: 7 * 24 * 3_600_000 },
    merchantFeatures(refundContext, connect),
  );
  registerOpenApi(server, { baseUrl: BASE_URL }, apiDescription);
  registerHealth(server, () =>
    options.leaving?.aborted ? { ready: false, reason: 'it is shutting down' } : { ready: true },
  );
  registerWellKnown(server, [
    {
      chainId: 137,
      token: RESERVED_ADDRESS,
      factory: FACTORY,
      implementation: IMPLEMENTATION,
      factoryCodeHash: `0x${'1f'.repeat(32)}`,
      feeWallet: FEE_WALLET,
    },
  ]);
  register?.(server, store, world);
  await server.ready();

  const first = await addAccount(store);
  const withKey = (headers: Json = {}) =>
    ({ 'x-api-key': first.apiKey, ...headers }) as Record<string, string>;
  return {
    server,
    store,
    ...first,
    /** For approving the connection of a shop. */
    connect,
    /** What the outside world answers; a test changes it. */
    world,
    logLines,
    observed,
    /** Moves both clocks. */
    advance(ms: number) {
      movedMs += ms;
    },
    addAccount: (change?: Partial<Account>) => addAccount(store, change),
    post: (body: unknown, headers?: Json) =>
      server.inject({
        method: 'POST',
        url: '/api/v1/wallet',
        headers: withKey(headers),
        payload: body as object,
      }),
    get: (query: Json | string, headers?: Json) =>
      server.inject({ method: 'GET', url: `/api/v1/wallet?${queryOf(query)}`, headers: withKey(headers) }),
    status: (query: Json | string, headers?: Json) =>
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

type Take = (service: ApiService) => unknown;

/** One for all tests of the file, handed to `take`. */
export function useApi(take: Take, options?: ApiServiceOptions): void {
  let service: ApiService;
  beforeAll(async () => {
    service = await createApiService(options);
    take(service);
  });
  afterAll(() => service.close());
}

/** A new one before each test of the file, handed to `take`. */
export function useFreshApi(take: Take, options?: ApiServiceOptions): void {
  let service: ApiService;
  beforeEach(async () => {
    service = await createApiService(options);
    take(service);
  });
  afterEach(() => service.close());
}

function queryOf(query: Json | string): string {
  return typeof query === 'string' ? query : new URLSearchParams(query as Record<string, string>).toString();
}

async function addAccount(store: Store, change: Partial<Account> = {}) {
  const account = newAccount({
    id: randomUUID(),
    name: 'Example Shop',
    features: [...features],
    createdAtMs: Date.now(),
    ...change,
  });
  await store.accounts.createAccount(account);
  const apiKey = createApiKey();
  const keyId = randomUUID();
  const key = newKey(account.id, { id: keyId, hash: hashApiKey(apiKey), scopes: keyScopes });
  if (!(await store.accounts.createKey(key, 10))) throw new Error('the account has too many keys');
  return { account, apiKey, keyId };
}
