import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';

/** The endpoint's answer to one webhook. */
export interface WebhookAnswer {
  /** Null when there was no answer within the time. */
  readonly status: number | null;
  readonly durationMs: number;
  /** The transport error; null after an answer. */
  readonly problem: string | null;
  /** The beginning of the answer's body. */
  readonly excerpt: string;
}

export interface WebhookToPost {
  readonly body: string;
  /** Null for none. */
  readonly signature: string | null;
  /** How long the body takes to arrive, in pieces; 0 for all at once. */
  readonly bodyDurationMs?: number;
}

const PIECES = 4;
const EXCERPT_BYTES = 1_000;

/** Sends one webhook as the service does: one attempt, no redirect, within the time limit. Never throws. */
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
    // An endpoint that answers before the end of the body, or disconnects, gets no more of it.
    if (outgoing.destroyed || outgoing.writableEnded) break;
    outgoing.write(bytes.subarray(offset, offset + pieceBytes));
  }
  outgoing.end();
  return answered;
}
