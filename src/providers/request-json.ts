import { Agent, request } from 'undici';

/** What a provider answered: any status, with a body that parsed as JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** One call to a provider's API. */
export interface JsonRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Besides those that follow from the body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, or as a form when it is `URLSearchParams`. */
  readonly body?: unknown;
  /** For the whole exchange, from connecting to the last byte. */
  readonly timeoutMs: number;
}

/** No answer of a provider that we can use is anywhere near this long. */
const MAXIMUM_ANSWER_BYTES = 64 * 1024;

/** Connections to one provider. HTTP/1.1 only: over HTTP/2 undici may send a POST twice. */
export function createProviderAgent(): Agent {
  return new Agent({ allowH2: false, connections: 32, pipelining: 1, keepAliveTimeout: 4_000 });
}

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MAXIMUM_ANSWER_BYTES)
      throw new Error(`the answer is longer than ${MAXIMUM_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Sends one request and reads one JSON answer, both bounded. Follows no redirect. Throws when there is no answer in
 * time or when it is not JSON; a 5xx throws as well, whatever its body, because it says nothing about the request.
 */
export async function requestJson(agent: Agent, call: JsonRequest): Promise<JsonAnswer> {
  const { statusCode, body } = await request(call.url, {
    dispatcher: agent,
    method: call.method,
    signal: AbortSignal.timeout(call.timeoutMs),
    headers: {
      accept: 'application/json',
      // Some providers refuse who says nothing of itself.
      'user-agent': 'card-checkout',
      ...bodyType(call.body),
      ...call.headers,
    },
    body: bodyText(call.body),
  });
  const text = await readBounded(body);
  if (statusCode >= 500) throw new Error(`the provider answered ${statusCode}`);
  return { status: statusCode, body: parseJson(text) };
}

/** The parser's own error would quote the answer, which may repeat the key. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new SyntaxError('the answer is not JSON');
  }
}

function bodyType(body: unknown): Readonly<Record<string, string>> {
  if (body === undefined) return {};
  const isForm = body instanceof URLSearchParams;
  return { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' };
}

function bodyText(body: unknown): string | null {
  if (body === undefined) return null;
  return body instanceof URLSearchParams ? body.toString() : JSON.stringify(body);
}
