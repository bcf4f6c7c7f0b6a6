import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP over HTTP brings it in JSON. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** A collector of traces on loopback; `answer` takes the place of what it says to each export. */
export async function startTraceCollector(answer = (end: () => void) => end()) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(`${JSON.stringify(request.headers)} ${request.url}\n${body}`);
    answer(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Every byte that came, headers included. */
    text: () => bodies.join('\n'),
    spans: (): ReceivedSpan[] =>
      bodies.flatMap((body) =>
        JSON.parse(body.slice(body.indexOf('\n'))).resourceSpans.flatMap(
          (each: { scopeSpans: { spans: ReceivedSpan[] }[] }) =>
            each.scopeSpans.flatMap(({ spans }) => spans),
        ),
      ),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The names of a span and of those around it, the outermost first. */
export function pathOf(span: ReceivedSpan, all: readonly ReceivedSpan[]): readonly string[] {
  const parent = all.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent === undefined ? [] : pathOf(parent, all)), span.name];
}

export function attributeOf(span: ReceivedSpan | undefined, name: string): unknown {
  const value = span?.attributes.find(({ key }) => key === name)?.value;
  return value === undefined ? undefined : Object.values(value)[0];
}
