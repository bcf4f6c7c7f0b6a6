import { once } from 'node:events';
import { connect, isIP, type NetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Agent, buildConnector } from 'undici';
import { ADDRESS_ATTEMPT_MS } from './address-attempt.ts';
import { type EgressProxy, openTunnel } from './egress-proxy.ts';
import { isLoopbackHost } from './public-address.ts';

interface OutgoingAgentOptions extends Omit<Agent.Options, 'connect'> {
  /** Timeout for connecting, including attempts at all IP addresses, and TLS. Default: 10,000. */
  readonly connectTimeoutMs?: number;
  /** Proxy for all hosts except loopback. Default: null. */
  readonly proxy?: EgressProxy | null;
}

/** Creates an agent for calls to other hosts. The error of a failed connection describes each IP address's failure. */
export function createOutgoingAgent({
  connectTimeoutMs = 10_000,
  proxy = null,
  ...options
}: OutgoingAgentOptions = {}): Agent {
  const direct = buildConnector({
    timeout: connectTimeoutMs,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    ...(options.allowH2 === undefined ? {} : { allowH2: options.allowH2 }),
  });
  const connect: typeof direct = (target, callback) => {
    if (proxy === null || isLoopbackHost(target.hostname)) return direct(target, callback);
    const isTls = target.protocol === 'https:';
    const place = { host: target.hostname, port: Number(target.port || (isTls ? 443 : 80)) };
    openTunnel(proxy, place, AbortSignal.timeout(connectTimeoutMs)).then(
      (httpSocket) => (isTls ? direct({ ...target, httpSocket }, callback) : callback(null, httpSocket)),
      (error) => callback(error, null),
    );
  };
  return new Agent({
    ...options,
    connect: (target, callback) =>
      connect(target, (...result) => {
        const [error] = result;
        if (error !== null) error.message = describeConnectFailure(error, connectTimeoutMs);
        callback(...result);
      }),
  });
}

/** Describes why a connection failed. Node's own message is empty if several IP addresses failed. */
function describeConnectFailure(error: Error, limitMs: number): string {
  const failures = [error, error.cause].find((each) => each instanceof AggregateError)?.errors as
    | readonly NodeJS.ErrnoException[]
    | undefined;
  if (failures !== undefined) return failures.map(({ message }) => message).join(', ');
  const isLate = (error as NodeJS.ErrnoException).code === 'UND_ERR_CONNECT_TIMEOUT';
  return isLate ? `no connection within ${limitMs} ms` : error.message;
}

export async function isListening(at: NetConnectOpts): Promise<boolean> {
  const socket = connect(at);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const CERTIFICATE_LIMIT_MS = 10_000;

/** Returns when a host's certificate expires, in milliseconds since 1970, even if the certificate is not trusted. */
export async function readCertificateEnd(
  url: string,
  proxy: EgressProxy | null,
  stopped: AbortSignal,
): Promise<number> {
  const { hostname, port } = new URL(url);
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(CERTIFICATE_LIMIT_MS)]);
  const isDirect = proxy === null || isLoopbackHost(hostname);
  const socket = connectTls({
    ...(isDirect ? place : { socket: await openTunnel(proxy, place, signal) }),
    // Omits SNI for IP addresses, because RFC 6066 allows only host names.
    ...(isIP(place.host) === 0 ? { servername: place.host } : {}),
    // Disables verification, so that an expired certificate can also be read.
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect', { signal });
    return Date.parse(socket.getPeerCertificate().valid_to);
  } finally {
    socket.destroy();
  }
}

/** Resolves like `answer`, but rejects with `lateError()` after the limit. Then ignores the answer. */
export async function within<T>(limitMs: number, answer: Promise<T>, lateError: () => Error): Promise<T> {
  if (!Number.isFinite(limitMs)) return answer;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(lateError()), limitMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Time to wait for a better answer after the first that is better than nothing. */
const GRACE_MS = 500;

/** Returns the answers once one is `enough` or all arrived, or soon after a weaker one. Rejects on an earlier error. */
export async function answersUntil<T>(
  pending: readonly Promise<T>[],
  classify: (answer: T) => 'enough' | 'better than nothing' | 'not',
  onAll: (answers: readonly T[]) => void = () => {},
): Promise<readonly T[]> {
  const answers: T[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  for (const one of pending) {
    one.then((answer) => {
      answers.push(answer);
      if (answers.length === pending.length) onAll(answers);
      const classification = classify(answer);
      if (classification === 'enough' || answers.length === pending.length) resolve();
      else if (classification === 'better than nothing') timer ??= setTimeout(resolve, GRACE_MS);
    }, reject);
  }
  try {
    await promise;
    return [...answers];
  } finally {
    clearTimeout(timer);
  }
}
