import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceError } from '../domain/errors.ts';

/** Told of every answered request; `route` is the pattern (`/pay/:id`), or `unmatched`. */
export type Observe = (route: string, method: string, status: number, durationMs: number) => void;

/** Requests that take longer are always logged. */
const SLOW_REQUEST_MS = 1000;
/** Of the others one in this many: a line for each costs a tenth of the throughput. */
const SAMPLE_EVERY = 100;
/** And no more than one in this time: beyond a thousand requests a second nobody reads more lines. */
const SAMPLE_INTERVAL_MS = 100;

export interface RequestLog {
  /** After the answer: metrics, and a line for slow requests and the sample. */
  completed(request: FastifyRequest, reply: FastifyReply): void;
  /** An error that is ours, or that has a cause the caller is not shown. */
  failed(request: FastifyRequest, error: ServiceError): void;
}

/** Lines name the route's pattern, never the path or the query: those may carry tokens and e-mail addresses. */
export function createRequestLog(
  logger: FastifyBaseLogger | null,
  observe: Observe | null,
  monotonicMs: () => number = () => performance.now(),
): RequestLog {
  let requests = 0;
  let sampledAtMs = Number.NEGATIVE_INFINITY;

  function isSample(): boolean {
    if (requests++ % SAMPLE_EVERY !== 0 || monotonicMs() - sampledAtMs < SAMPLE_INTERVAL_MS) return false;
    sampledAtMs = monotonicMs();
    return true;
  }

  return {
    completed(request, reply) {
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
    failed(request, error) {
      if (logger === null || (error.status < 500 && error.cause === undefined)) return;
      const fields = { ...fieldsOf(request), status: error.status, err: error.cause ?? error };
      logger[error.errorName === 'internal' ? 'error' : 'warn'](fields, 'request failed');
    },
  };
}

function fieldsOf(request: FastifyRequest) {
  return { requestId: request.id, method: request.method, route: routeOf(request) };
}

function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}
