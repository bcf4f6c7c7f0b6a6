import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A server on loopback that keeps what it is asked, in its order. It stops with the test that started it. */
export interface JsonServer {
  readonly url: string;
  readonly requests: RecordedRequest[];
  /** `GET /path?query` of each. */
  readonly asked: string[];
}

async function serve(
  answer: (request: RecordedRequest, url: string) => Answer | Promise<Answer>,
): Promise<JsonServer> {
  const requests: RecordedRequest[] = [];
  const asked: string[] = [];
  const server = createServer(async (incoming, response) => {
    const { method = '', url: target = '/', headers } = incoming;
    asked.push(`${method} ${target}`);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { pathname: path, searchParams: query } = new URL(target, 'http://localhost');
    const request = { method, path, query, headers, body: Buffer.concat(chunks).toString() };
    requests.push(request);
    const { status = 200, headers: more = {}, body } = await answer(request, target);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...more }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, asked };
}

/** Answers every request with what it is told: an object as JSON, a text as it is. */
export function serveJson(answer: (path: string, query: URLSearchParams) => Answer): Promise<JsonServer> {
  return serve(({ path, query }) => answer(path, query));
}

export function serveRequests(answer: (request: RecordedRequest) => unknown): Promise<JsonServer> {
  return serve((request) => ({ body: JSON.stringify(answer(request)) }));
}

/** Passes everything on, except where it is told an answer; it is given each request as one text. */
export function servePassThrough(
  upstream: string,
  answer: (request: string) => { readonly status: number; readonly body: string } | null,
): Promise<JsonServer> {
  return serve(async ({ method, headers, body }, target) => {
    const own = answer(`${method} ${target} ${JSON.stringify(headers)} ${body}`);
    if (own !== null) return own;
    const passed = Object.entries(headers as Record<string, string>).filter(
      ([name]) => !/^(host|connection|content-length)$/.test(name),
    );
    const init = { method, headers: Object.fromEntries(passed), ...(body === '' ? {} : { body }) };
    const response = await fetch(`${upstream}${target}`, init);
    return { status: response.status, body: await response.text() };
  });
}
