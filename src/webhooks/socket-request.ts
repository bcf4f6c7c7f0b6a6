import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { DeliveryOutcome } from '../domain/ports/callback-guard.ts';

interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface PostAnswer {
  readonly httpStatus: number;
  readonly responseBytes: number;
  readonly responseExcerpt: string;
}

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_BODY_BYTES = 64 * 1024;
const EXCERPT_BYTES = 1024;
/** Maximum interim responses. Hints such as 103 are rare, one or two; more is an attempt to keep the sender busy. */
const MAX_INTERIM_RESPONSES = 8;

/**
 * Sends one POST on an open connection and reads the beginning of the answer. The connection is destroyed in every
 * case, so that nothing can follow on it.
 *
 * @param signal aborted when the whole delivery's time is over
 * @throws DeliveryStopped `unknown` when no final status arrived, `failed` when the answer is not acceptable HTTP
 */
export async function postOnce(socket: TLSSocket, post: Post, signal: AbortSignal): Promise<PostAnswer> {
  try {
    const response = await sendAndAwaitStatus(socket, post, signal);
    return { httpStatus: response.statusCode ?? 0, ...(await readBeginning(response, signal)) };
  } finally {
    socket.destroy();
  }
}

function sendAndAwaitStatus(socket: TLSSocket, post: Post, signal: AbortSignal): Promise<IncomingMessage> {
  // With `createConnection` and no agent, node:http has this one socket: it cannot reuse, pool, redirect, take a
  // proxy from the environment, or send the request a second time.
  const request: ClientRequest = openRequest({
    createConnection: () => socket,
    method: 'POST',
    path: post.path,
    headers: post.headers,
    setHost: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  });
  return new Promise((resolve, reject) => {
    const stop = (error: DeliveryStopped) => {
      reject(error);
      request.destroy();
    };
    const onAbort = () => stop(new DeliveryStopped('unknown', 'timeout'));
    let interimResponses = 0;
    request.on('information', () => {
      interimResponses += 1;
      if (interimResponses > MAX_INTERIM_RESPONSES) {
        stop(new DeliveryStopped('failed', 'too_many_interim_responses'));
      }
    });
    // Without a listener, 101 and the bytes after it would appear as a lost connection.
    request.on('upgrade', (response) => resolve(response));
    request.on('response', resolve);
    request.on('error', (error) => stop(stoppedBy(error)));
    request.on('close', () => {
      signal.removeEventListener('abort', onAbort);
      stop(new DeliveryStopped('unknown', 'no_response'));
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else request.end(post.body);
  });
}

/** From here on the body may have arrived, so silence means `unknown`; only an answer can mean `failed`. */
function stoppedBy(error: NodeJS.ErrnoException): DeliveryStopped {
  const code = error.code ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new DeliveryStopped('failed', 'response_headers_too_large', error);
  }
  // The receiver closed within its status line or headers: no complete answer.
  if (code === 'HPE_INVALID_EOF_STATE') return new DeliveryStopped('unknown', 'no_response', error);
  if (code.startsWith('HPE_')) return new DeliveryStopped('failed', 'invalid_response', error);
  // Node says ECONNRESET for a reset and for an orderly end alike; only the reset comes from a system call.
  return new DeliveryStopped('unknown', error.syscall === undefined ? 'no_response' : 'reset', error);
}

/** Reads until the end, the limit, an error or the deadline: the status stands, so none of them changes it. */
function readBeginning(
  response: IncomingMessage,
  signal: AbortSignal,
): Promise<Omit<PostAnswer, 'httpStatus'>> {
  return new Promise((resolve) => {
    let bytes = 0;
    let excerpt = Buffer.alloc(0);
    const finish = () => {
      signal.removeEventListener('abort', finish);
      response.destroy();
      resolve({ responseBytes: bytes, responseExcerpt: printable(excerpt) });
    };
    response.on('data', (chunk: Buffer) => {
      if (excerpt.length < EXCERPT_BYTES) {
        excerpt = Buffer.concat([excerpt, chunk.subarray(0, EXCERPT_BYTES - excerpt.length)]);
      }
      bytes = Math.min(bytes + chunk.length, MAX_BODY_BYTES);
      if (bytes === MAX_BODY_BYTES) finish();
    });
    response.on('error', finish);
    response.on('close', finish);
    response.on('end', finish);
    signal.addEventListener('abort', finish, { once: true });
    if (signal.aborted || response.statusCode === 101) finish();
  });
}

/** Control characters, text direction marks and broken UTF-8 as dots: the receiver's text goes into the log. */
function printable(excerpt: Buffer): string {
  return excerpt.toString('utf8').replace(/[\p{C}\p{Zl}\p{Zp}\ufffd]/gu, '.');
}

/** Stable short codes for logs, pages and metrics. */
export type DeliveryReason =
  // blocked: before any socket
  | 'blocked_url'
  | 'blocked_address'
  | 'blocked_own_address'
  // failed: before the body was sent
  | 'dns_failed'
  | 'dns_timeout'
  | 'connect_failed'
  | 'connect_refused'
  | 'connect_timeout'
  | 'tls_expired'
  | 'tls_failed'
  | 'tls_not_yet_valid'
  | 'tls_self_signed'
  | 'tls_timeout'
  | 'tls_untrusted'
  | 'tls_version'
  | 'tls_wrong_host'
  // failed: an answer that is not 2xx, or no HTTP answer at all
  | `http_${number}`
  | 'invalid_response'
  | 'response_headers_too_large'
  | 'too_many_interim_responses'
  // unknown: the body was sent
  | 'no_response'
  | 'reset'
  | 'timeout';

export interface AttemptOutcome extends DeliveryOutcome {
  readonly reason: DeliveryReason | null;
  /** Bytes of the answer's body that were read, at most 64 KiB. */
  readonly responseBytes: number;
}

type Undelivered = Exclude<DeliveryOutcome['outcome'], 'delivered'>;

/** Thrown inside a delivery when it ends without an HTTP answer; `deliverWebhook` turns it into an outcome. */
export class DeliveryStopped extends Error {
  override readonly name = 'DeliveryStopped';
  readonly outcome: Undelivered;
  readonly reason: DeliveryReason;

  constructor(outcome: Undelivered, reason: DeliveryReason, cause?: unknown) {
    super(`delivery ${outcome}: ${reason}`, cause === undefined ? {} : { cause });
    this.outcome = outcome;
    this.reason = reason;
  }
}
