import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Account } from '../../domain/account.ts';
import { hashApiKey } from '../../domain/api-key.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { RateLimiter } from '../../domain/ports/rate-limiter.ts';
import { addressGroupOf } from '../address-group.ts';
import { requirePassing } from '../rate-limit.ts';
import type { ApiContext } from './api-context.ts';
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
  { accounts, limits }: Pick<ApiContext, 'accounts' | 'limits'>,
  keyLimiter: RateLimiter,
): onRequestAsyncHookHandler {
  return async (request) => {
    const key = readApiKey(request.raw);
    const hash = key === null ? null : hashApiKey(key);
    const account = hash === null ? null : await accounts.findAccountByKeyHash(hash);
    if (hash === null || account === null) {
      await requirePassing(limits.unauthenticated, addressGroupOf(request.ip));
      throw new ServiceError('unauthorized');
    }
    request.account = account;
    await requirePassing(keyLimiter, hash);
  };
}

/** The account of an admitted request. */
export function accountOf(request: FastifyRequest): Account {
  if (request.account === null) throw new Error('a route without the admit hook asked for the account');
  return request.account;
}
