import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';

export interface WebhookAnswer {
  /** HTTP status; null if no answer came in time. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Transport error; null if an answer came. */
  readonly problem: string | null;
  readonly excerpt: string;
}

interface WebhookToPost {
  readonly body: string;
  /** Signature header; null to send none. */
  readonly signature: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Time over which the body is sent in pieces; 0 to send it in one piece. */
  readonly bodyDurationMs?: number;
}

const PIECES = 4;
const EXCERPT_BYTES = 1_000;

/** Sends one webhook as the service does: one attempt, no redirects, within the time limit. Never throws. */
export async function postWebhook(
  endpoint: URL,
  { body, signature, headers = {}, bodyDurationMs = 0 }: WebhookToPost,
  timeLimitMs: number,
): Promise<WebhookAnswer> {
  const startedAtMs = performance.now();
  const bytes = Buffer.from(body);
  const end = (status: number | null, problem: string | null, excerpt = '') => {
    return { status, problem, excerpt, durationMs: Math.round(performance.now() - startedAtMs) };
  };
  try {
    const response = await request(endpoint, {
      method: 'POST',
      reset: true,
      signal: AbortSignal.timeout(timeLimitMs),
      headers: {
        'content-type': 'application/json',
        'content-length': String(bytes.length),
        'user-agent': 'card-checkout-webhook/1',
        ...(signature === null ? {} : { 'x-service-signature': signature }),
        ...headers,
      },
      body: bodyDurationMs === 0 ? bytes : Readable.from(piecesOf(bytes, bodyDurationMs)),
    });
    let answer = Buffer.alloc(0);
    for await (const chunk of response.body) {
      if (answer.length < EXCERPT_BYTES) answer = Buffer.concat([answer, chunk]);
    }
    return end(response.statusCode, null, answer.subarray(0, EXCERPT_BYTES).toString('utf8'));
  } catch (error) {
    const { name, message } = error as Error;
    return end(null, name === 'TimeoutError' ? 'no answer in time' : message);
  }
}

async function* piecesOf(bytes: Buffer, durationMs: number) {
  const pieceBytes = Math.ceil(bytes.length / PIECES);
  for (let offset = 0; offset < bytes.length; offset += pieceBytes) {
    if (offset > 0) await delay(durationMs / PIECES);
    yield bytes.subarray(offset, offset + pieceBytes);
  }
}
