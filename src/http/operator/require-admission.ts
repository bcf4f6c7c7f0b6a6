import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { addressGroupOf } from '../address-group.ts';
import { requireTextUrl } from '../dashboard/form-fields.ts';
import { requirePassing } from '../rate-limit.ts';
import type { OperatorContext } from './context.ts';

/** Asked of every request on the admin server before its page. Throws `https_required`, `rate_limited` or `invalid_request`. */
export async function requireAdmission(
  { isTrustedPeer, limits }: OperatorContext,
  { socket, ip, url }: FastifyRequest,
): Promise<void> {
  if (!isTrustedPeer(socket.remoteAddress ?? '')) throw new ServiceError('https_required');
  await requirePassing(limits.requests, addressGroupOf(ip));
  requireTextUrl(url);
}
