import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Account, ActiveKey } from '../accounts/account.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import { API_KEY_PREFIX, hasApiKeyForm, hashApiKey, type KeyScope } from '../accounts/api-key.ts';
import { percentDecoded } from '../payment/callback-url.ts';
import type { CreatePaymentContext } from '../payment/create-payment.ts';
import { ServiceError } from '../payment/errors.ts';
import type { ReadStatusContext } from '../payment/read-status.ts';
import type { RateLimiter } from '../platform/rate-limiter.ts';
import { addressGroupOf, enforceRateLimit } from '../web/rate-windows.ts';
import type { CallbackGuard } from '../webhooks/delivery-types.ts';
import type { ApiRateLimiters } from './api-rate-limits.ts';
import { acceptJsonBodies } from './request-input.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request's API key; null before authentication. */
    apiKey: ActiveKey | null;
  }
}

type KeyRoutesContext = Pick<ApiContext, 'accounts' | 'limits' | 'nowMs'>;

export type Admit = (keyLimiter: RateLimiter, scope: KeyScope) => { onRequest: onRequestAsyncHookHandler };

/** Registers API-key routes in a separate Fastify scope, so that its body parser applies to no other route. */
export function registerKeyRoutes(
  server: FastifyInstance,
  prefix: string,
  context: KeyRoutesContext,
  register: (routes: FastifyInstance, admit: Admit) => void,
): void {
  void server.register(
    (routes, _options, done) => {
      acceptJsonBodies(routes);
      routes.decorateRequest('apiKey', null);
      register(routes, createAdmission(context, createKeyUseRecorder(routes, context)));
      done();
    },
    { prefix },
  );
}

/**
 * Creates the check of each request before its body is read: the key (401), its rate (429) and its scope (403). Only
 * requests without a valid key count against their IP address. A valid key always works, because clients on the same
 * network must not lock each other out.
 */
function createAdmission(
  { accounts, limits }: KeyRoutesContext,
  recordKeyUse: (hash: string) => void,
): Admit {
  async function refuse(request: FastifyRequest): Promise<never> {
    await enforceRateLimit(limits.unauthenticated, addressGroupOf(request.ip));
    throw new ServiceError('unauthorized');
  }

  return (keyLimiter, scope) => ({
    async onRequest(request) {
      const plainKey = readApiKey(request.raw);
      if (plainKey === null) return refuse(request);
      const hash = hashApiKey(plainKey);
      const key = await accounts.findActiveKey(hash);
      if (key === null) return refuse(request);
      request.apiKey = key;
      recordKeyUse(hash);
      await enforceRateLimit(keyLimiter, hash);
      if (key.scopes.includes(scope)) return;
      throw new ServiceError('scope_missing', `The API key does not have the scope "${scope}".`);
    },
  });
}

export function accountOf({ apiKey }: FastifyRequest): Account {
  if (apiKey === null) throw new Error('a route without the admit hook read the account');
  return apiKey.account;
}

/** Throws `callback_host_refused` if the request's key is bound to another host. */
export function requireCallbackHost({ apiKey }: FastifyRequest, callbackUrl: string): void {
  const callbackHost = apiKey?.callbackHost ?? null;
  if (callbackHost === null || new URL(callbackUrl).hostname === callbackHost) return;
  throw new ServiceError(
    'callback_host_refused',
    `The API key may only name callbacks on ${callbackHost}. Use another key for other hosts.`,
  );
}

/**
 * Reads the API key of a request; null if it is missing, malformed, sent twice, or in the query. Uses the raw headers,
 * because Node keeps only the first `Authorization` header and joins repeated `X-API-Key` headers.
 */
function readApiKey({ rawHeaders, url = '' }: Pick<IncomingMessage, 'rawHeaders' | 'url'>): string | null {
  const keys: (string | null)[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    const value = rawHeaders[index + 1] as string;
    if (name === 'authorization') keys.push(/^bearer +(.*)$/is.exec(value)?.[1] ?? null);
    if (name === 'x-api-key') keys.push(value);
  }
  const [key = null, ...others] = keys;
  // Refuses a key in the query even if a header has a valid key, because proxies log URLs.
  if (others.length > 0 || key === null || percentDecoded(url).includes(API_KEY_PREFIX)) return null;
  return hasApiKeyForm(key) ? key : null;
}

/** Interval at which the last-used times of all keys are written. It is also their maximum delay. */
const FLUSH_INTERVAL_MS = 60_000;

/** Returns a function that records used keys once a minute and on close. Requests do not fail if a write fails. */
function createKeyUseRecorder(
  server: FastifyInstance,
  { accounts, nowMs }: KeyRoutesContext,
): (hash: string) => void {
  const used = new Set<string>();

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const hashes = [...used];
    used.clear();
    await accounts
      .recordKeyUses(hashes, nowMs())
      .catch((error: unknown) => server.log.warn({ err: error }, 'the use of keys was not written down'));
  }

  const timer = setInterval(() => void flush(), FLUSH_INTERVAL_MS);
  timer.unref();
  server.addHook('onClose', async () => {
    clearInterval(timer);
    await flush();
  });
  return (hash) => void used.add(hash);
}

export interface ApiContext extends ReadStatusContext {
  readonly accounts: Pick<AccountStore, 'findActiveKey' | 'recordKeyUses'>;
  readonly create: CreatePaymentContext;
  readonly callbacks: CallbackGuard;
  readonly limits: ApiRateLimiters;
  /** Public URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly nowMs: () => number;
}
