import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { isBusy, type ServiceError } from '../payment/errors.ts';

/** Called with every answered request; `route` is the pattern (`/pay/:id`), or `unmatched`. */
export type Observe = (route: string, method: string, status: number, durationMs: number) => void;

/** Requests that take longer are always logged. */
const SLOW_REQUEST_MS = 1000;
/** One in this many of the other requests is logged: a line for each costs a tenth of the throughput. */
const SAMPLE_EVERY = 100;
/** Minimum interval between sampled lines: beyond a thousand requests a second, more lines serve no reader. */
const SAMPLE_INTERVAL_MS = 100;

/** Lines contain the route's pattern, never the path or the query: those may carry tokens and email addresses. */
export function createRequestLog(
  logger: FastifyBaseLogger | null,
  observe: Observe | null,
  monotonicMs: () => number = () => performance.now(),
) {
  let requests = 0;
  let sampledAtMs = Number.NEGATIVE_INFINITY;

  function isSample(): boolean {
    if (requests++ % SAMPLE_EVERY !== 0 || monotonicMs() - sampledAtMs < SAMPLE_INTERVAL_MS) return false;
    sampledAtMs = monotonicMs();
    return true;
  }

  return {
    /** Records the metrics after the answer, and a line for slow and sampled requests. */
    completed(request: FastifyRequest, reply: FastifyReply): void {
      const durationMs = reply.elapsedTime;
      observe?.(routeOf(request), request.method, reply.statusCode, durationMs);
      const isSlow = durationMs >= SLOW_REQUEST_MS;
      const isSampled = isSample();
      if (logger === null || !(isSlow || isSampled)) return;
      logger[isSlow ? 'warn' : 'info'](
        { ...fieldsOf(request), status: reply.statusCode, durationMs: Math.round(durationMs) },
        isSlow ? 'slow request' : 'request (sample)',
      );
    },
    /** Logs an internal error, or one whose cause the caller is not shown. */
    failed(request: FastifyRequest, error: ServiceError) {
      if (logger === null || (error.status < 500 && error.cause === undefined)) return;
      if (isBusy(error)) return logBusy(logger, error, fieldsOf(request));
      const fields = { ...fieldsOf(request), status: error.status, err: error.cause ?? error };
      logger[error.errorName === 'internal' ? 'error' : 'warn'](fields, 'request failed');
    },
  };
}

/** A busy provider is no defect of this service: a line without a stack. */
export function logBusy(logger: FastifyBaseLogger, error: ServiceError, fields: object): void {
  const { message: reason, retryAfterSeconds } = error;
  logger.info({ ...fields, status: error.status, reason, retryAfterSeconds }, 'a provider is busy');
}

function fieldsOf(request: FastifyRequest) {
  return { requestId: request.id, method: request.method, route: routeOf(request) };
}

function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}

/**
 * Patterns that must never stand in a log, whatever their source: an error's message may quote a request. Query strings
 * are removed as a whole, because they carry tokens, email addresses and notes.
 */
const secrets: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/service_live_[\w-]+/g, 'service_live_[redacted]'],
  [/ipn_[\w-]{8,}/g, 'ipn_[redacted]'],
  [/\?[^\s"'`]+/g, '?[redacted]'],
  [
    /[\w.!#$%&'*+/=?^`{|}~-]{1,64}(?:@|%40)[\w.-]+\/?/gi,
    (found) => {
      if (isPackageScope(found)) return found;
      return found.endsWith('/') ? '[redacted email]/' : '[redacted email]';
    },
  ],
];

/**
 * Whether this is the scope of an npm package, in a path (`/app/node_modules/@scope/`) or quoted (`'@scope/`), and not
 * an email address: it names no user, and its scope has no dot, unlike the domain of an address.
 */
function isPackageScope(found: string): boolean {
  return /^(?:['`]|[^@]*(?<![^/])node_modules\/)@[\w-]+\/$/.test(found);
}

/**
 * The maximum length of a logged text. The patterns look back at most 64 characters, so a long text costs its length.
 */
const MAXIMUM_CHARACTERS = 10_000;

/** The text without keys, tokens, query strings and email addresses. */
export function redact(text: string): string {
  const start = text.length > MAXIMUM_CHARACTERS ? `${text.slice(0, MAXIMUM_CHARACTERS)}…` : text;
  return secrets.reduce(
    // TypeScript's `replace` accepts a text or a function, but not a union of both.
    (rest, [pattern, replacement]) => rest.replace(pattern, replacement as string),
    start,
  );
}

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly cause?: LoggedError;
}

const MAXIMUM_CAUSES = 5;

/** The serializer of `err` in every log line: an error and its causes without secrets. */
export function describeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: redact(String(error)) };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: redact(error.message),
    ...(error.stack === undefined ? {} : { stack: redact(error.stack) }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.cause === undefined || depth === MAXIMUM_CAUSES
      ? {}
      : { cause: describeError(error.cause, depth + 1) }),
  };
}
