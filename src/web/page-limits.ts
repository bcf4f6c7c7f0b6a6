import type { FastifyRequest } from 'fastify';
import { isLoopbackHost } from '../platform/public-address.ts';
import { type LocalRateLimiter, limitersOf, MINUTE_MS, requirePassingFrom } from './rate-windows.ts';

/** Requests per window, by IP address. */
export const createPageLimits = limitersOf({
  /** Public pages. Far above what customers need, because an office or mobile network shares an address. */
  pages: [120, MINUTE_MS],
  /** An open page polls every three to twenty seconds, so this is enough for thirty customers behind one address. */
  polls: [600, MINUTE_MS],
  /** Clicks on a provider and requests with `auto=1`: each may cost a call to the chain and to a provider. */
  starts: [20, MINUTE_MS],
  /** Wrong email addresses in links to one payment, by network. */
  emailGuesses: [10, 60 * MINUTE_MS],
  /** Addresses given for a mail about a payment: by visitor, by payment, and how often one address is given in a day. */
  mailVisitors: [20, 60 * MINUTE_MS],
  mailPayments: [5, 60 * MINUTE_MS],
  mailRecipients: [10, 24 * 60 * MINUTE_MS],
});

export type PageLimits = ReturnType<typeof createPageLimits>;

/**
 * Counts a request by its networks and `subject`; throws `rate_limited`. Loopback is not limited: it may be a proxy
 * that TRUST_PROXY does not name, behind which one visitor could lock out all customers.
 */
export async function limitByAddress(
  limiter: Pick<LocalRateLimiter, 'take'>,
  request: Pick<FastifyRequest, 'ip'>,
  subject = '',
): Promise<void> {
  if (!isLoopbackHost(request.ip)) await requirePassingFrom(limiter, request.ip, subject);
}
