import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { isLoopbackHost } from '../../domain/loopback.ts';

/**
 * Names that only whoever runs the network can give: without a dot, as the services of Docker Compose have, or below a
 * name that is never sold.
 */
const internalName = /^[a-z0-9_-]+$|\.(?:internal|local|localhost|svc|test)$/;

/**
 * Refuses requests at the admin server that were sent to somebody else's name. A page of another site could let its own
 * name lead here ("DNS rebinding"): to the browser this server would then be that site, and its answers the page's.
 * Metrics are read under names of the own network too, because that is how they are collected.
 *
 * To be called before the routes are registered.
 *
 * @param baseUrl of the admin server, as browsers see it
 */
export function refuseForeignHosts(server: FastifyInstance, baseUrl: string): void {
  const ownName = new URL(baseUrl).hostname;
  server.addHook('onRequest', async (request) => {
    const { host } = request.raw.headers;
    // Every browser says where it sends a request.
    if (host === undefined) return;
    const name = nameIn(host);
    if (name === ownName || isLoopbackHost(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0) return;
    if (request.routeOptions.url === '/metrics' && internalName.test(name)) return;
    throw new ServiceError('invalid_request', 'The Host header names no address of this server.');
  });
}

/** The name of `name:port`, as browsers write it; empty for what is none. */
function nameIn(host: string): string {
  return /[/?#@\\]/.test(host) || !URL.canParse(`http://${host}`) ? '' : new URL(`http://${host}`).hostname;
}
