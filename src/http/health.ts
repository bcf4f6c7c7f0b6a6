import type { FastifyInstance } from 'fastify';
import type { ErrorBody } from './error-reply.ts';

export interface HealthContext {
  /** Whether requests can be served; `reason` says why not, without secrets: anybody can read it. */
  readonly isReady: () => { readonly ready: boolean; readonly reason?: string };
}

/** `GET` or `HEAD /health/live`: the process answers. `/health/ready`: it can serve. Neither is counted by a limit. */
export function registerHealth(server: FastifyInstance, context: HealthContext): void {
  server.get('/health/live', { exposeHeadRoute: true }, async () => ({ status: 'live' }));
  server.get('/health/ready', { exposeHeadRoute: true }, async (_request, reply) => {
    const { ready, reason } = context.isReady();
    if (ready) return { status: 'ready' };
    const body: ErrorBody = { error: `The service is not ready: ${reason ?? 'it is starting'}.` };
    return reply.code(503).send(body);
  });
}
