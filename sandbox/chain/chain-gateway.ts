import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../../src/payment/test-payments.ts';

export interface ChainGatewayOptions {
  readonly chainPort: number;
  /** Delay of a slow answer, longer than any caller should wait. */
  readonly slowAnswerMs?: number | undefined;
}

const SLOW_ANSWER_MS = 20_000;

/**
 * Starts a proxy to the local chain for the server only, so that `sandbox fault chain` works without changes to live
 * code. The simulated on-ramps bypass the proxy.
 */
export async function startChainGateway(options: ChainGatewayOptions) {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const closing = new AbortController();
  let fault: Fault = 'up';

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (fault === 'slow') {
      await delay(options.slowAnswerMs ?? SLOW_ANSWER_MS, undefined, { signal: closing.signal });
    }
    if (fault === 'down') {
      outgoing.writeHead(503, { 'content-type': 'text/plain' }).end('the sandbox chain is down\n');
      return;
    }
    const upstream = request({
      agent,
      host: '127.0.0.1',
      port: options.chainPort,
      method: incoming.method ?? 'POST',
      path: incoming.url ?? '/',
      headers: { ...incoming.headers, host: `127.0.0.1:${options.chainPort}` },
    });
    const answer = once(upstream, 'response') as Promise<[IncomingMessage]>;
    outgoing.once('close', () => upstream.destroy());
    const [[response]] = await Promise.all([answer, pipeline(incoming, upstream)]);
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    await pipeline(response, outgoing);
  }

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => {
      // After a chain restart or a lost connection, the caller sees a broken endpoint.
      if (outgoing.headersSent) outgoing.destroy();
      else
        outgoing.writeHead(502, { 'content-type': 'text/plain' }).end('the sandbox chain does not answer\n');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFault(next: Fault) {
      fault = next;
    },
    async stop(): Promise<void> {
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}
