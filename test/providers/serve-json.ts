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

/**
 * A server on loopback that passes everything on, except where it is told an answer. It is given method, path, query,
 * headers and body of each request as one text.
 */
export async function servePassThrough(
  upstream: string,
  answer: (request: string) => { readonly status: number; readonly body: string } | null,
): Promise<JsonServer> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    asked.push(`${request.method} ${request.url}`);
    const own = answer(`${request.method} ${request.url} ${JSON.stringify(request.headers)} ${body}`);
    const passed = Object.entries(request.headers as Record<string, string>).filter(
      ([name]) => !/^(host|connection|content-length)$/.test(name),
    );
    const passOn = async () => {
      const method = request.method ?? 'GET';
      const init = { method, headers: Object.fromEntries(passed), ...(body.length === 0 ? {} : { body }) };
      const passedOn = await fetch(`${upstream}${request.url}`, init);
      return { status: passedOn.status, body: await passedOn.text() };
    };
    const given = own ?? (await passOn());
    response.writeHead(given.status, { 'content-type': 'application/json' }).end(given.body);
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
