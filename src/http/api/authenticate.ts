import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Account } from '../../domain/account.ts';
import { hashApiKey } from '../../domain/api-key.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RateLimiter } from '../../domain/ports/rate-limiter.ts';
import { addressGroupOf } from '../address-group.ts';
import { requirePassing } from '../rate-limit.ts';
import type { ApiRouteContext } from './api-context.ts';
import { readApiKey } from './read-api-key.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The account that the API key of the request belongs to; null before it was found. */
    account: Account | null;
  }
}

/** Prepares a scope of the server for `admit`. */
export function decorateRequests(server: FastifyInstance): void {
  server.decorateRequest('account', null);
}

/**
 * The first two checks of every API request, before a byte of its body is read: the key (401), then the key's rate
 * (429). Requests without a valid key count against their address, and an address that keeps failing gets 429. A
 * valid key always works, also from such an address: customers of one network must not lock each other out, and
 * keys of 192 random bits cannot be guessed.
 */
export function admit(
  { accounts, limits, noteKeyUse }: Pick<ApiRouteContext, 'accounts' | 'limits' | 'noteKeyUse'>,
  keyLimiter: RateLimiter,
): onRequestHookHandler {
  async function refuse(request: FastifyRequest): Promise<never> {
    await requirePassing(limits.unauthenticated, addressGroupOf(request.ip));
    throw new ServiceError('unauthorized');
  }

  async function checkLater(request: FastifyRequest, hash: string, account: Promise<Account | null>) {
    request.account = await account;
    if (request.account === null) return refuse(request);
    noteKeyUse(hash);
    return requirePassing(keyLimiter, hash);
  }

  /** Where the account and the limiter are at hand nothing is waited for: this runs for each request. */
  function check(request: FastifyRequest): undefined | Promise<undefined> {
    const key = readApiKey(request.raw);
    if (key === null) return refuse(request);
    const hash = hashApiKey(key);
    const account = accounts.findAccountByKeyHash(hash);
    if (account instanceof Promise) return checkLater(request, hash, account);
    if (account === null) return refuse(request);
    request.account = account;
    noteKeyUse(hash);
    return requirePassing(keyLimiter, hash);
  }

  return (request, _reply, done) => {
    let checked: undefined | Promise<undefined>;
    try {
      checked = check(request);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (checked instanceof Promise) checked.then(() => done(), done);
    else done();
  };
}

/** The account of an admitted request. */
export function accountOf(request: FastifyRequest): Account {
  if (request.account === null) throw new Error('a route without the admit hook asked for the account');
  return request.account;
}
