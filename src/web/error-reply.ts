import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply } from 'fastify';
import { type ErrorName, errorTable, ServiceError } from '../payment/errors.ts';

export interface ErrorBody {
  readonly error: string;
  readonly code?: string;
}

function bodyOf(error: ServiceError): ErrorBody {
  return error.code === null ? { error: error.message } : { error: error.message, code: error.code };
}

/** Returns the value of Strict-Transport-Security; null if callers may use plain HTTP. */
export function hstsOf(
  url: string,
  { hstsIncludesSubdomains }: { readonly hstsIncludesSubdomains: boolean },
) {
  if (!url.startsWith('https:')) return null;
  return `max-age=31536000${hstsIncludesSubdomains ? '; includeSubDomains' : ''}`;
}

export function sendError(reply: FastifyReply, error: ServiceError): FastifyReply {
  if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds));
  if (error.errorName === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  return reply
    .code(error.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(bodyOf(error)));
}

/** Returns the headers of data responses. `hsts` is null if callers may use plain HTTP. */
export function securityHeaders(hsts: string | null): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(hsts === null ? {} : { 'strict-transport-security': hsts }),
  };
}

/** Returns an error response that closes the connection, for input that is not an accepted HTTP request. */
export function rawError(error: ServiceError, hsts: string | null) {
  const body = JSON.stringify(bodyOf(error));
  const { retryAfterSeconds } = error;
  return {
    status: error.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      ...securityHeaders(hsts),
      ...(retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) }),
      connection: 'close',
    },
    body,
  };
}

export function rawErrorText(...error: Parameters<typeof rawError>): string {
  const { status, headers, body } = rawError(...error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

/** Framework errors that have a more specific name or text than "the request is invalid". */
const frameworkErrors: Readonly<Record<string, readonly [name: ErrorName, text?: string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'invalid_request',
    'The Content-Type of the body is not supported. The API accepts application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'The length of the body differs from Content-Length.',
  ],
  FST_ERR_BAD_URL: ['invalid_request', 'The path is not a valid URL path.'],
  // Path parameter longer than any route accepts.
  FST_ERR_MAX_PARAM_LENGTH: ['not_found'],
};

/** Converts any thrown value to a service error. Omits the framework's messages, which may quote the request. */
export function serviceErrorOf(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const { code, statusCode } = thrown instanceof Error ? (thrown as Partial<FastifyError>) : {};
  const known = code === undefined ? undefined : frameworkErrors[code];
  if (known !== undefined) return new ServiceError(...known);
  const isCallersFault = statusCode !== undefined && statusCode >= 400 && statusCode < 500;
  return isCallersFault
    ? new ServiceError('invalid_request')
    : new ServiceError('internal', errorTable.internal.text, { cause: thrown });
}

/** Sends 404, or 405 with `Allow` if the path supports other methods. */
export function sendNotFound(allowedMethods: readonly string[], reply: FastifyReply): FastifyReply {
  if (allowedMethods.length === 0) return sendError(reply, new ServiceError('not_found'));
  reply.header('allow', allowedMethods.join(', '));
  return sendError(reply, new ServiceError('method_not_allowed'));
}
