import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request as requestNode } from 'undici';

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Answer {
  id?: unknown;
  jsonrpc?: string;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** Changes one answer, or asks the node something else first. */
type Alter = (call: Call, ask: (call: Call) => Promise<Answer>) => Promise<Answer> | Answer;

/** A node that can be made to lie, to lag and to fail: an HTTP proxy in front of a real one. */
export interface AlteringProxy {
  readonly url: string;
  /** Methods in the order in which they were asked. */
  readonly asked: string[];
  /** Null: answers what the node answers. */
  alter: Alter | null;
  /** Every request is answered with this HTTP status, unless null. */
  failWithStatus: number | null;
  stop(): Promise<void>;
}

export async function startAlteringProxy(targetUrl: string): Promise<AlteringProxy> {
  async function ask(call: Call): Promise<Answer> {
    const response = await requestNode(targetUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...call }),
    });
    return (await response.body.json()) as Answer;
  }

  async function answer(call: Call): Promise<Answer> {
    proxy.asked.push(call.method);
    const altered = proxy.alter === null ? await ask(call) : await proxy.alter(call, ask);
    return { jsonrpc: '2.0', ...altered, id: call.id };
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (proxy.failWithStatus !== null) {
      response.writeHead(proxy.failWithStatus).end('down');
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const answers = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const proxy: AlteringProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    alter: null,
    failWithStatus: null,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return proxy;
}
