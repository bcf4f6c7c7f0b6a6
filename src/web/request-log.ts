import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { isBusy, type ServiceError } from '../payment/errors.ts';
import { errorTypeOf } from '../platform/machine-fault.ts';

/** Observer of every completed request. `route` is the pattern (`/pay/:id`), or `unmatched`. */
export type Observe = (route: string, method: string, status: number, durationMs: number) => void;

/** Threshold for logging a request. One line for every request would cost a tenth of the throughput. */
const SLOW_REQUEST_MS = 1000;

/** Logs the route pattern, never the path or query, which may contain tokens and email addresses. */
export function createRequestLog(logger: FastifyBaseLogger | null, observe: Observe | null) {
  return {
    completed(request: FastifyRequest, reply: FastifyReply): void {
      const durationMs = reply.elapsedTime;
      observe?.(routeOf(request), request.method, reply.statusCode, durationMs);
      const isStream = String(reply.getHeader('content-type')).startsWith('text/event-stream');
      if (durationMs < SLOW_REQUEST_MS || isStream) return;
      const fields = { ...fieldsOf(request), status: reply.statusCode, durationMs: Math.round(durationMs) };
      logger?.warn(fields, 'slow request');
    },
    /** Logs a server error, or any error whose cause is hidden from the caller. */
    failed(request: FastifyRequest, error: ServiceError) {
      if (logger === null || (error.status < 500 && error.cause === undefined)) return;
      if (isBusy(error)) return logBusy(logger, error, fieldsOf(request));
      const fields = { ...fieldsOf(request), status: error.status, err: error.cause ?? error };
      logger[error.errorName === 'internal' ? 'error' : 'warn'](fields, 'request failed');
    },
  };
}

/** Logs one line without a stack, because a busy provider is not a defect of this service. */
export function logBusy(logger: FastifyBaseLogger, error: ServiceError, fields: object): void {
  const { message: reason, retryAfterSeconds } = error;
  logger.info({ ...fields, status: error.status, reason, retryAfterSeconds }, 'a provider is busy');
}

function fieldsOf(request: FastifyRequest) {
  return { requestId: request.id, method: request.method, route: routeOf(request) };
}

/** Returns the route pattern of a request. Unlike the path, it contains no secret and no id. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}

/** Patterns of text that must never be logged. An error message may quote a request. */
const secrets: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/service_live_[\w-]+/g, 'service_live_[redacted]'],
  [/ipn_[\w-]{8,}/g, 'ipn_[redacted]'],
  [/\?[^\s"'`]+/g, '?[redacted]'],
  [
    /[\w.!#$%&'*+/=?^`{|}~-]{1,64}(?:@|%40)[\w.-]+\/?/gi,
    (found) => (packageScope.test(found) ? found : found.replace(/.*?(\/?)$/, '[redacted email]$1')),
  ],
];

/** Scope of an npm package in a path or after a quote (`'@scope/`). Unlike an email address, it has no local part. */
const packageScope = /^(?:['`]|[^@]*(?<![^/])node_modules\/)@[\w-]+\/$/;

/** Maximum length of a logged text. The patterns look back at most 64 characters, so the cost is linear. */
const MAXIMUM_CHARACTERS = 10_000;

export function redact(text: string): string {
  const start = text.length > MAXIMUM_CHARACTERS ? `${text.slice(0, MAXIMUM_CHARACTERS)}…` : text;
  // Casts, because the type of `replace` accepts a string or a function, but not a union of both.
  return secrets.reduce(
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

/** Serializes `err` in log lines: the error and its causes, with secrets redacted. */
export function describeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: errorTypeOf(error), message: redact(String(error)) };
  const code = (error as { code?: unknown }).code;
  return {
    type: errorTypeOf(error),
    message: redact(error.message),
    ...(error.stack === undefined ? {} : { stack: redact(error.stack) }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.cause === undefined || depth === MAXIMUM_CAUSES
      ? {}
      : { cause: describeError(error.cause, depth + 1) }),
  };
}
