import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface JsonServer {
  readonly url: string;
  /** What was asked for, `GET /path?query`, in its order. */
  readonly asked: string[];
  stop(): Promise<void>;
}

/** A server on loopback that answers every request with what it is told: an object as JSON, a text as it is. */
export async function serveJson(
  answer: (
    path: string,
    query: URLSearchParams,
  ) => {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: unknown;
  },
): Promise<JsonServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    asked.push(`${request.method} ${request.url}`);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const { status = 200, headers = {}, body } = answer(url.pathname, url.searchParams);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
