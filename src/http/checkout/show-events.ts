import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopbackHost } from '../../domain/loopback.ts';
import { isPaymentId } from '../../domain/payment-id.ts';
import { addressGroupOf } from '../address-group.ts';
import type { PaymentRoute } from './context.ts';
import { languageOf } from './languages.ts';
import type { LiveUpdates } from './live-updates.ts';
import { setCommonHeaders } from './page-headers.ts';

/** A line now and then, so that nobody on the way takes the connection for a dead one. */
const HEARTBEAT_MS = 20_000;
/** Then the page connects anew: no connection is for ever, and a balancer may send it elsewhere. */
const LONGEST_MS = 10 * 60_000;

/**
 * `GET /pay/:paymentId/events`: the changes of a page as server-sent events, from the revision that it shows
 * (`?revision=…`). 204 for whatever cannot be followed, also when too many are: the page then asks by itself.
 */
export function showEvents(
  live: LiveUpdates,
  request: FastifyRequest<PaymentRoute>,
  reply: FastifyReply,
): FastifyReply {
  setCommonHeaders(reply);
  const { paymentId } = request.params;
  if (!isPaymentId(paymentId)) return reply.code(204).send();
  const { revision } = request.query;
  const { raw } = reply;
  const leave = live.follow({
    paymentId,
    language: languageOf(request).code,
    // Loopback is this machine, or a proxy that TRUST_PROXY does not name: all its visitors are not one.
    address: isLoopbackHost(request.ip) ? request.id : addressGroupOf(request.ip),
    revision: typeof revision === 'string' ? revision : '',
    send: ({ text }) => raw.write(`data: ${text}\n\n`),
    end: () => raw.end('event: end\ndata:\n\n'),
  });
  if (leave === null) return reply.code(204).send();
  reply.hijack();
  raw.writeHead(200, { ...stringHeadersOf(reply), 'content-type': 'text/event-stream; charset=utf-8' });
  raw.write('retry: 3000\n\n');
  const heartbeat = setInterval(() => raw.write('event: beat\ndata:\n\n'), HEARTBEAT_MS);
  const limit = setTimeout(() => raw.end(), LONGEST_MS);
  raw.once('close', () => {
    clearInterval(heartbeat);
    clearTimeout(limit);
    leave();
  });
  return reply;
}

function stringHeadersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));
}
