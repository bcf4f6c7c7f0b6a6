import type { FastifyRequest } from 'fastify';
import { isLoopbackHost } from '../platform/public-address.ts';
import { createLimiters, type LocalRateLimiter, MINUTE_MS, requirePassingFrom } from './rate-windows.ts';

/** How many requests of each kind pass in a window of time, by address. */
const pageLimits = {
  /** The pages are public. An office or a mobile network shares an address, so it is far above what customers need. */
  pages: [120, MINUTE_MS],
  /** An open page polls every three to twenty seconds: thirty customers behind one address. */
  polls: [600, MINUTE_MS],
  /** Clicks on a provider and requests with `auto=1`: each may cost a call of the chain and of a provider. */
  starts: [20, MINUTE_MS],
} as const;

export type PageLimits = ReturnType<typeof createPageLimits>;

/** One limiter for each kind of request. */
export function createPageLimits(monotonicMs: () => number) {
  return createLimiters(pageLimits, monotonicMs);
}

/**
 * Counts a request against its address and the networks around it; throws `rate_limited`. Loopback is not counted: it is this machine, or a proxy
 * on it that TRUST_PROXY does not name, behind which one visitor could lock out all customers.
 *
 * @param subject what has a count of its own for each address, such as a page
 */
export async function limitByAddress(
  limiter: Pick<LocalRateLimiter, 'take'>,
  request: Pick<FastifyRequest, 'ip'>,
  subject = '',
): Promise<void> {
  if (!isLoopbackHost(request.ip)) await requirePassingFrom(limiter, request.ip, subject);
}
