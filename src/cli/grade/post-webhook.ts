import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';

export interface WebhookAnswer {
  /** Null if no answer came in time. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Transport error; null if an answer came. */
  readonly problem: string | null;
  readonly excerpt: string;
}

export interface WebhookToPost {
  readonly body: string;
  /** Null to send no signature. */
  readonly signature: string | null;
  /** Time over which the body is sent in pieces; 0 to send it in one piece. */
  readonly bodyDurationMs?: number;
}

const PIECES = 4;
const EXCERPT_BYTES = 1_000;

/** Sends one webhook as the service does: one attempt, no redirects, within the time limit. Never throws. */
export async function postWebhook(
  endpoint: URL,
  { body, signature, bodyDurationMs = 0 }: WebhookToPost,
  timeLimitMs: number,
): Promise<WebhookAnswer> {
  const startedAtMs = performance.now();
  const request = endpoint.protocol === 'https:' ? requestHttps : requestHttp;
  const bytes = Buffer.from(body);
  const outgoing = request(endpoint, {
    method: 'POST',
    agent: false,
    signal: AbortSignal.timeout(timeLimitMs),
    headers: {
      'content-type': 'application/json',
      'content-length': bytes.length,
      'user-agent': 'card-checkout-webhook/1',
      ...(signature === null ? {} : { 'x-service-signature': signature }),
    },
  });
  const answered = new Promise<WebhookAnswer>((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (status: number | null, problem: string | null) => {
      const excerpt = Buffer.concat(chunks).subarray(0, EXCERPT_BYTES).toString('utf8');
      resolve({ status, problem, excerpt, durationMs: Math.round(performance.now() - startedAtMs) });
    };
    outgoing.on('error', (error: Error) => {
      end(
        null,
        error.name === 'TimeoutError' || error.name === 'AbortError' ? 'no answer in time' : error.message,
      );
    });
    outgoing.on('response', (response) => {
      response.on('error', () => end(null, 'the response was cut off'));
      response.on('end', () => end(response.statusCode ?? null, null));
      response.on('data', (chunk: Buffer) => {
        if (bytes < EXCERPT_BYTES) chunks.push(chunk);
        bytes += chunk.length;
      });
    });
  });
  const pieceBytes = bodyDurationMs === 0 ? bytes.length : Math.ceil(bytes.length / PIECES);
  for (let offset = 0; offset < bytes.length; offset += pieceBytes) {
    if (offset > 0) await delay(bodyDurationMs / PIECES);
    // Sends no more of the body to an endpoint that has answered or disconnected.
    if (outgoing.destroyed || outgoing.writableEnded) break;
    outgoing.write(bytes.subarray(offset, offset + pieceBytes));
  }
  outgoing.end();
  return answered;
}
