import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { ProviderFault } from '../fault.ts';
import { renderNoticePage } from './onramp-pages.ts';
import type { SimulatedProtocol } from './protocols/simulated-protocol.ts';

export interface FaultOptions {
  readonly faults: ReadonlyMap<ProviderId, ProviderFault>;
  readonly protocols: Readonly<Record<ProviderId, SimulatedProtocol>>;
  readonly slowAnswerMs: number;
}

/** What customers see; everything else is for the shop. */
const pages: ReadonlySet<string> = new Set(['pay', 'widget']);

/** Answers for providers that are down or refuse everything, and holds back those that are slow. */
export function addFaults(server: FastifyInstance, options: FaultOptions): AbortController {
  const closing = new AbortController();
  server.addHook('onRequest', async (request, reply) => {
    const [, name = '', part = ''] = request.url.split(/[/?]/);
    const provider = name as ProviderId;
    const fault = options.faults.get(provider) ?? 'up';
    const isPage = pages.has(part);
    if (fault === 'down') {
      if (isPage) await sendNotice(reply, 'Out of service', 'This simulated on-ramp is down.');
      else await reply.code(503).header('content-type', 'application/json').send('{}');
    } else if (fault === 'slow' && !isPage) {
      await delay(options.slowAnswerMs, undefined, { signal: closing.signal });
    } else if (fault === 'refuse' && !isPage) {
      const { status, body } = options.protocols[provider].refusal;
      await reply.code(status).send(body);
    }
  });
  return closing;
}

function sendNotice(reply: FastifyReply, title: string, text: string): FastifyReply {
  return reply
    .code(503)
    .header('content-type', 'text/html; charset=utf-8')
    .send(renderNoticePage(title, text));
}
