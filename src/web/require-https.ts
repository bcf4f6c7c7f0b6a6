import { BlockList, isIP, type Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../payment/errors.ts';
import { rawErrorText, sendError } from './error-reply.ts';

/** Maximum open connections of one address that may only check the health: probes need one or two. */
const CONNECTIONS_OF_PROBES = 8;
/** Maximum open connections of all such addresses. */
const CONNECTIONS_OF_ALL_PROBES = 1_000;

/**
 * Refuses peers that may not use plain HTTP: an API key that crosses a network in clear text counts as leaked. They may
 * check the health, as the probes of Kubernetes and of load balancers do from addresses that no proxy has. Every other
 * request of theirs gets the reason, and is not carried out.
 *
 * Call it before the routes are registered.
 */
export function requireHttps(server: FastifyInstance, isTrusted: (address: string) => boolean): void {
  const probing = new WeakSet<Socket>();
  const open = new Map<string, number>();
  let allOpen = 0;
  server.server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    if (isTrusted(address)) return;
    probing.add(socket);
    const others = open.get(address) ?? 0;
    if (others >= CONNECTIONS_OF_PROBES || allOpen >= CONNECTIONS_OF_ALL_PROBES) return refuse(socket);
    open.set(address, others + 1);
    allOpen++;
    socket.once('close', () => {
      allOpen--;
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
  server.addHook('onRequest', (request, reply, done) => {
    if (!probing.has(request.raw.socket)) return done();
    // A slot is for one check at a time.
    reply.header('connection', 'close');
    if (isHealthCheck(request)) done();
    else void sendError(reply, new ServiceError('https_required'));
  });
}

/** Whether a request is for a route of health, which says nothing else and takes no secret. */
export function isHealthCheck(request: FastifyRequest): boolean {
  return request.routeOptions.url?.startsWith('/health/') === true;
}

/**
 * Refuses requests that reached a trusted proxy over plain HTTP, by the proxy's header. Browsers that request a page
 * are redirected to HTTPS. The two APIs are refused instead: after a redirect its callers would keep sending their key in
 * clear text unnoticed. A proxy without the header is taken to terminate TLS, and health checks come from the proxy
 * itself.
 *
 * Call it before the routes are registered.
 *
 * @param baseUrl the root under which callers reach the server; without HTTPS in it nothing is refused
 */
export function requireForwardedHttps(
  server: FastifyInstance,
  { isTrusted, baseUrl }: { readonly isTrusted: (address: string) => boolean; readonly baseUrl: string },
): void {
  if (!baseUrl.startsWith('https:')) return;
  const root = baseUrl.replace(/\/$/, '');
  server.addHook('onRequest', (request, reply, done) => {
    const { headers, socket, url = '' } = request.raw;
    const protocol = headers['x-forwarded-proto'];
    const isPlain = protocol !== undefined && isPlainHttp(protocol) && isTrusted(socket.remoteAddress ?? '');
    if (!isPlain || isHealthCheck(request)) done();
    else if (isPageRequest(request.method, url)) void reply.redirect(root + url, 308);
    else done(new ServiceError('https_required'));
  });
}

/** With several proxies the last one appends its value at the end; earlier values may be the caller's own. */
function isPlainHttp(protocol: string | string[]): boolean {
  return String(protocol).split(',').at(-1)?.trim().toLowerCase() === 'http';
}

/** Whether a path is below one of the two APIs, which take a key and answer everybody with data. */
export function isApiPath(path: string): boolean {
  return /^\/+(api|merchant)\//i.test(path);
}

function isPageRequest(method: string, url: string): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || !url.startsWith('/')) return false;
  try {
    // As the router decodes it: `/%61pi/` is the API as well.
    return !isApiPath(decodeURI(url));
  } catch {
    return false;
  }
}

/** Matches loopback and these networks (`10.0.0.0/8`, `::1`). */
export function createPeerCheck(trustedNetworks: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const network of ['127.0.0.0/8', '::1', ...trustedNetworks]) addNetwork(trusted, network);
  return (address) => {
    const version = isIP(address);
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}

function addNetwork(list: BlockList, network: string): void {
  const [address = '', prefix] = network.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}

/** Refuses a connection. A request that Node reads from it meanwhile is not served, because the writable side has ended. */
function refuse(socket: Socket): void {
  // Browsers ignore the header over plain HTTP, where an attacker on the path could set it.
  socket.on('error', () => socket.destroy());
  socket.write(rawErrorText(new ServiceError('https_required'), false));
  socket.destroySoon();
}
