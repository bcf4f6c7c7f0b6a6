import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../accounts/create-session.ts';
import { addressGroupOf } from '../address-group.ts';

/** From where a request comes, as sessions keep it. */
export function callerOf(request: FastifyRequest): Caller {
  return { address: addressGroupOf(request.ip), userAgent: request.headers['user-agent'] ?? '' };
}
