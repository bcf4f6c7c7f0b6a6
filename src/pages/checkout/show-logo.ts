import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../payment/errors.ts';
import { setCommonHeaders } from '../../web/checkout-frame/layout.ts';
import type { CheckoutRequest } from './context.ts';

/** A year, because another picture has another hash and URL. */
const FOREVER = 'public, max-age=31536000, immutable';

export function logoPathOf(hash: string): string {
  return `/logos/${hash}`;
}

export async function showLogo({ context, reply, params }: CheckoutRequest<'hash'>): Promise<FastifyReply> {
  const { hash } = params;
  const logo = /^[0-9a-f]{32}$/.test(hash) ? await context.accounts.findLogo(hash) : null;
  if (logo === null) throw new ServiceError('not_found');
  return setCommonHeaders(reply)
    .header('cache-control', FOREVER)
    .type('image/png')
    .send(Buffer.from(logo.bytes));
}
