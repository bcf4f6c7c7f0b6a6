import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { isSecureUrl } from '../../domain/loopback.ts';
import type { ProviderSession } from '../../domain/provider-session.ts';
import { setCommonHeaders } from './page-headers.ts';

/** Sends the customer on with a 303. A provider's answer that is no secure web address is the provider's failure. */
export function redirectToProvider(reply: FastifyReply, session: ProviderSession): FastifyReply {
  const url = URL.parse(session.redirectUrl);
  if (url === null || !isSecureUrl(url)) {
    throw new ServiceError('provider_unavailable', undefined, {
      cause: new Error(`${session.provider} sends its customers to something that is no secure web address`),
    });
  }
  return setCommonHeaders(reply).redirect(url.href, 303);
}
