import { once } from 'node:events';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as openRequest,
  type RequestOptions,
} from 'node:http';
import { isIP, connect as openTcp, type Socket } from 'node:net';
import { checkServerIdentity, createSecureContext, connect as openTls, type TLSSocket } from 'node:tls';
import { isOwnCallback, parseCallbackUrl, type ServiceLocation } from '../payment/callback-url.ts';
import { ADDRESS_ATTEMPT_MS } from '../platform/address-attempt.ts';
import { type EgressProxy, openTunnel } from '../platform/egress-proxy.ts';
import { addressIdentity } from '../platform/public-address.ts';
import { type HostResolver, type OwnAddresses, refuseAddress } from './callback-host.ts';
import type { DeliveryReason } from './delivery-reasons.ts';
import type { DeliveryOutcome, WebhookDelivery } from './delivery-types.ts';
import { webhookHeaders } from './webhook-signatures.ts';

// Sends a webhook at most once, to the checked IP address.
//
// Uses node:http over its own TLS socket instead of undici (docs/decisions/0019-webhook-transport.md). A client that
// manages connections may open a second one and resend. Here, each request owns one socket, which is never replaced.

export interface DeliveryDependencies extends Omit<ConnectionOptions, 'signal' | 'proxy'> {
  readonly resolver: Pick<HostResolver, 'resolveFresh'>;
  readonly ownAddresses: OwnAddresses;
  /** The operator's `CALLBACK_ALLOWED_HOSTS`, as `host:port`. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Public location of this service, which callbacks must not target; null to skip this check. */
  readonly own: ServiceLocation | null;
  /** Proxy for all receivers except the operator's allowed hosts. Default null. */
  readonly proxy?: EgressProxy | null;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/** Makes the single attempt to deliver a webhook. Rejects only because of programming errors. */
export async function deliverWebhook(
  dependencies: DeliveryDependencies,
  delivery: WebhookDelivery,
): Promise<AttemptOutcome> {
  const startedMs = performance.now();
  const timeoutMs = delivery.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    const answer = await connectAndPost(dependencies, delivery, timeoutMs, deadline.signal);
    const isSuccess = answer.httpStatus >= 200 && answer.httpStatus <= 299;
    return {
      outcome: isSuccess ? 'delivered' : 'failed',
      reason: isSuccess ? null : `http_${answer.httpStatus}`,
      durationMs: Math.round(performance.now() - startedMs),
      ...answer,
    };
  } catch (error) {
    if (!(error instanceof DeliveryStopped)) throw error;
    return {
      outcome: error.outcome,
      httpStatus: null,
      reason: error.reason,
      durationMs: Math.round(performance.now() - startedMs),
      responseBytes: 0,
      responseExcerpt: '',
      responseHeaders: {},
    };
  } finally {
    clearTimeout(timer);
  }
}

async function connectAndPost(
  dependencies: DeliveryDependencies,
  delivery: WebhookDelivery,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PostAnswer> {
  // Checks the URL again, because the rules or the operator's list may have changed since creation.
  const callback = parseCallbackUrl(delivery.url, dependencies.allowedHosts);
  if (!callback.ok) throw new DeliveryStopped('blocked', 'blocked_url');
  const { own } = dependencies;
  if (callback.kind !== 'allowed' && own !== null && isOwnCallback(callback, own)) {
    throw new DeliveryStopped('blocked', 'blocked_own_address');
  }
  const { hostname, port, url } = callback;

  const addresses = await findAddresses(dependencies, hostname, callback.kind === 'allowed', timeoutMs);
  const proxy = callback.kind === 'allowed' ? null : (dependencies.proxy ?? null);
  const options = { ...dependencies, proxy, signal };
  const socket = await startTls(await openFirst(addresses, port, options), hostname, options);
  dependencies.onConnected?.(socket);
  const body = Buffer.from(delivery.body);
  const headers = webhookHeaders({ hostname, port }, body.length, delivery.signature, delivery.headers);
  return postOnce(socket, { path: url.pathname + url.search, headers, body }, signal);
}

/** Resolves the host once. A single refused address blocks the delivery, because it indicates an attack. */
async function findAddresses(
  dependencies: DeliveryDependencies,
  hostname: string,
  isAllowed: boolean,
  timeoutMs: number,
): Promise<readonly string[]> {
  const resolution = await dependencies.resolver.resolveFresh(hostname, timeoutMs);
  if ('failed' in resolution) {
    const isTimeout = resolution.failed === 'timeout';
    throw new DeliveryStopped('failed', isTimeout ? 'dns_timeout' : 'dns_failed');
  }
  const own = dependencies.ownAddresses();
  for (const address of isAllowed ? [] : resolution.addresses) {
    const refusal = refuseAddress(address, own);
    if (refusal === 'not_public') throw new DeliveryStopped('blocked', 'blocked_address');
    if (refusal === 'own_address') throw new DeliveryStopped('blocked', 'blocked_own_address');
  }
  return resolution.addresses;
}

interface ConnectionOptions {
  readonly proxy: EgressProxy | null;
  readonly signal: AbortSignal;
  /** Certificate authorities that replace the system's, for tests and the sandbox shop. Never set in live mode. */
  readonly ca?: string | undefined;
  /** Called with the verified connection before anything is sent. */
  readonly onConnected?: (socket: TLSSocket) => void;
  /** Redirects connections to a test's loopback server. Cannot be set by configuration. */
  readonly connectTo?: (address: string, port: number) => { address: string; port: number };
}

/** Maximum addresses to try, so that a long list of unreachable ones does not delay the delivery. */
const MAX_ADDRESSES_TRIED = 4;

const minVersion = 'TLSv1.2';

/** TLS context with the system's authorities, loaded once. Holds no connection state, and resumes no session. */
const systemContext = createSecureContext({ minVersion });

/** Connects to one of the checked addresses. Nothing is sent yet, so trying several is still a single attempt. */
async function openFirst(
  checked: readonly string[],
  port: number,
  options: ConnectionOptions,
): Promise<Socket> {
  const candidates = checked.slice(0, MAX_ADDRESSES_TRIED);
  for (const [index, address] of candidates.entries()) {
    const isLast = index === candidates.length - 1;
    try {
      return await openAddress(address, port, options, isLast);
    } catch (error) {
      if (options.signal.aborted) throw new DeliveryStopped('failed', 'connect_timeout', error);
      if (isLast) throw new DeliveryStopped('failed', connectReason(error), error);
    }
  }
  throw new Error('there is no address to connect to');
}

async function openAddress(
  address: string,
  port: number,
  options: ConnectionOptions,
  isLast: boolean,
): Promise<Socket> {
  // The last address gets all the remaining time.
  const signal = isLast
    ? options.signal
    : AbortSignal.any([options.signal, AbortSignal.timeout(ADDRESS_ATTEMPT_MS)]);
  const place = options.connectTo?.(address, port) ?? { address, port };
  if (options.proxy !== null) {
    const tunnel = await openTunnel(options.proxy, { host: place.address, port: place.port }, signal);
    return tunnel.on('error', ignore);
  }
  const socket = openTcp({ host: place.address, port: place.port, autoSelectFamily: false });
  socket.on('error', ignore);
  try {
    // `once` also rejects on the socket's `error` event.
    await once(socket, 'connect', { signal });
    const peer = addressIdentity(socket.remoteAddress ?? '');
    if (peer === null || peer !== addressIdentity(place.address)) {
      throw new Error(`connected to ${socket.remoteAddress} instead of ${place.address}`);
    }
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Starts TLS and verifies the certificate. Uses the host name only for TLS, and never resolves it again. */
async function startTls(tcp: Socket, hostname: string, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = openTls({
    socket: tcp,
    secureContext:
      options.ca === undefined ? systemContext : createSecureContext({ ca: options.ca, minVersion }),
    // Not sent for IP addresses, because RFC 6066 allows only host names.
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    // Only HTTP/1.1, because an HTTP/2 client may resend the request after a refused stream.
    ALPNProtocols: ['http/1.1'],
    // Explicit, so that no environment variable can disable verification.
    rejectUnauthorized: true,
    checkServerIdentity: (_, certificate) => checkServerIdentity(hostname, certificate),
  });
  socket.on('error', ignore);
  try {
    await once(socket, 'secureConnect', { signal: options.signal });
    return socket;
  } catch (error) {
    socket.destroy();
    tcp.destroy();
    const reason = TLS_REASONS.get(codeOf(error)) ?? 'tls_failed';
    throw new DeliveryStopped('failed', options.signal.aborted ? 'tls_timeout' : reason, error);
  }
}

function connectReason(error: unknown): DeliveryReason {
  if (codeOf(error) === 'ECONNREFUSED') return 'connect_refused';
  return codeOf(error) === 'ETIMEDOUT' ? 'connect_timeout' : 'connect_failed';
}

/** OpenSSL and Node error codes for defects that a merchant can fix. All others are `tls_failed`. */
const TLS_REASONS: ReadonlyMap<string, DeliveryReason> = new Map([
  ['CERT_HAS_EXPIRED', 'tls_expired'],
  ['CERT_NOT_YET_VALID', 'tls_not_yet_valid'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_self_signed'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_wrong_host'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'tls_untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'tls_untrusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls_untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_untrusted'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'tls_version'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'tls_version'],
]);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Ignores a socket error. Without a listener, an error that nothing awaits would end the process. */
function ignore(): void {}

type ReadBeginning = Pick<AttemptOutcome, 'responseBytes' | 'responseExcerpt'>;
type PostAnswer = ReadBeginning & Pick<AttemptOutcome, 'responseHeaders'> & { readonly httpStatus: number };

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_BODY_BYTES = 64 * 1024;
const EXCERPT_BYTES = 1024;
/** Maximum interim responses such as 103. They are rare, and an endless series would keep the sender busy. */
const MAX_INTERIM_RESPONSES = 8;

/**
 * Sends one POST on an open connection, reads the start of the response and destroys the connection. Throws
 * `DeliveryStopped`: `unknown` without a final status, `failed` for an unacceptable response.
 */
async function postOnce(
  socket: TLSSocket,
  post: Pick<RequestOptions, 'path' | 'headers'> & { readonly body: Buffer },
  signal: AbortSignal,
): Promise<PostAnswer> {
  try {
    const response = await sendAndAwaitStatus(socket, post, signal);
    const { statusCode: httpStatus = 0, headers: responseHeaders } = response;
    return { httpStatus, responseHeaders, ...(await readBeginning(response, signal)) };
  } finally {
    socket.destroy();
  }
}

function sendAndAwaitStatus(
  socket: TLSSocket,
  { body, ...post }: Parameters<typeof postOnce>[1],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  // With `createConnection` and no agent, node:http has only this socket. It cannot pool or reuse connections, follow
  // redirects, use a proxy from the environment, or resend the request.
  const request = openRequest({
    ...post,
    createConnection: () => socket,
    method: 'POST',
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
    // Without this listener, a 101 response would look like a lost connection.
    request.on('upgrade', (response) => resolve(response));
    request.on('response', resolve);
    request.on('error', (error) => stop(stoppedBy(error)));
    request.on('close', () => {
      signal.removeEventListener('abort', onAbort);
      stop(new DeliveryStopped('unknown', 'no_response'));
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else request.end(body);
  });
}

/** Classifies a request error. The body may have arrived, so only an unacceptable response means `failed`. */
function stoppedBy(error: NodeJS.ErrnoException): DeliveryStopped {
  const code = error.code ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new DeliveryStopped('failed', 'response_headers_too_large', error);
  }
  // The receiver closed the connection before the end of its headers.
  if (code === 'HPE_INVALID_EOF_STATE') return new DeliveryStopped('unknown', 'no_response', error);
  if (code.startsWith('HPE_')) return new DeliveryStopped('failed', 'invalid_response', error);
  // Node reports ECONNRESET for both a reset and an orderly end, but only a reset comes from a system call.
  return new DeliveryStopped('unknown', error.syscall === undefined ? 'no_response' : 'reset', error);
}

/** Reads a response body until its end, the limit, an error or the deadline. None of these changes the status. */
function readBeginning(response: IncomingMessage, signal: AbortSignal) {
  return new Promise<ReadBeginning>((resolve) => {
    let bytes = 0;
    let excerpt = Buffer.alloc(0);
    const finish = () => {
      signal.removeEventListener('abort', finish);
      response.destroy();
      // Replaces control characters, direction marks and invalid UTF-8, because the excerpt goes into the log.
      const responseExcerpt = excerpt.toString('utf8').replace(/[\p{C}\p{Zl}\p{Zp}\ufffd]/gu, '.');
      resolve({ responseBytes: bytes, responseExcerpt });
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

export interface AttemptOutcome extends DeliveryOutcome {
  readonly reason: DeliveryReason | null;
  /** Bytes read from the response body, at most 64 KiB. */
  readonly responseBytes: number;
  /** Headers of the response, at most 16 KiB. */
  readonly responseHeaders: IncomingHttpHeaders;
}

type Undelivered = Exclude<DeliveryOutcome['outcome'], 'delivered'>;

/** Error that ends a delivery without a usable response. `deliverWebhook` turns it into an outcome. */
class DeliveryStopped extends Error {
  readonly outcome: Undelivered;
  readonly reason: DeliveryReason;

  constructor(outcome: Undelivered, reason: DeliveryReason, cause?: unknown) {
    super(`delivery ${outcome}: ${reason}`, cause === undefined ? {} : { cause });
    this.outcome = outcome;
    this.reason = reason;
  }
}
