import type { FastifyRequest } from 'fastify';
import type { RateLimiter } from '../../domain/ports/rate-limiter.ts';
import { isLoopbackHost } from '../../platform/public-address.ts';
import { addressGroupOf, createFixedWindowLimiter, requirePassing } from '../rate-limit.ts';

/**
 * Requests of one address to the pages in a minute. The pages are public, so a bound is required. A whole office or a
 * mobile network can share an address, so the bound is far above what customers need.
 */
const PAGES_PER_MINUTE = 120;
/** An open page polls every three to twenty seconds: thirty customers behind one address. */
const POLLS_PER_MINUTE = 600;
/** Each may cost a call of the chain and of a provider. */
const SESSION_STARTS_PER_MINUTE = 20;

/** One limiter for each kind of request; `starts` counts clicks on a provider and requests with `auto=1`. */
export interface PageLimits {
  readonly pages: RateLimiter;
  readonly polls: RateLimiter;
  readonly starts: RateLimiter;
}

/** The pages' limiters in memory, for a single process. */
export function createPageLimits(monotonicMs: () => number): PageLimits {
  return {
    pages: createFixedWindowLimiter(PAGES_PER_MINUTE, monotonicMs),
    polls: createFixedWindowLimiter(POLLS_PER_MINUTE, monotonicMs),
    starts: createFixedWindowLimiter(SESSION_STARTS_PER_MINUTE, monotonicMs),
  };
}

/**
 * Counts a request against its address; throws `rate_limited`. Loopback is not counted: it is this machine, or a proxy
 * on it that TRUST_PROXY does not name, behind which one visitor could lock out all customers.
 */
export async function countVisitor(limiter: RateLimiter, request: Pick<FastifyRequest, 'ip'>): Promise<void> {
  if (!isLoopbackHost(request.ip)) await requirePassing(limiter, addressGroupOf(request.ip));
}
