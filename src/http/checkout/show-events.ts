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
    send: ({ text }) => write(`data: ${text}\n\n`),
    end: () => stop('event: end\ndata:\n\n'),
  });
  if (leave === null) return reply.code(204).send();
  reply.hijack();
  raw.writeHead(200, { ...stringHeadersOf(reply), 'content-type': 'text/event-stream; charset=utf-8' });
  raw.write('retry: 3000\n\n');
  const heartbeat = setInterval(() => write('event: beat\ndata:\n\n'), HEARTBEAT_MS);
  const limit = setTimeout(() => stop(), LONGEST_MS);
  raw.on('error', () => stop());
  raw.once('close', () => stop());
  // Who leaves says at first only that they have no more to say.
  request.raw.socket.once('end', () => stop());
  return reply;

  function write(text: string): void {
    // A word more after the end would be an error that nobody takes.
    if (!raw.writableEnded) raw.write(text);
  }

  function stop(last?: string): void {
    clearInterval(heartbeat);
    clearTimeout(limit);
    leave?.();
    if (!raw.writableEnded) raw.end(last);
  }
}

function stringHeadersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));
}
