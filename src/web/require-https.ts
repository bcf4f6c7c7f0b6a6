import { BlockList, isIP, type Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../payment/errors.ts';
import { rawErrorText, sendError } from './error-reply.ts';

/** Maximum open connections from an untrusted IP address. Health checks, the only permitted use, need one or two. */
const CONNECTIONS_OF_PROBES = 8;
const CONNECTIONS_OF_ALL_PROBES = 1_000;

/**
 * Refuses plain HTTP from untrusted peers, because an API key sent in clear text counts as leaked. Allows health checks
 * from any IP address, for Kubernetes and load balancers. Call it before routes are registered.
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
    // Frees the connection's slot after one check.
    reply.header('connection', 'close');
    if (isHealthCheck(request)) done();
    else void sendError(reply, new ServiceError('https_required'));
  });
}

/** Returns whether a request is a health check, which returns no other data and accepts no secret. */
export function isHealthCheck(request: FastifyRequest): boolean {
  return request.routeOptions.url?.startsWith('/health/') === true;
}

/**
 * Refuses requests that reached a trusted proxy over plain HTTP, according to X-Forwarded-Proto. Redirects only pages,
 * because API callers would keep sending their key in clear text. Call it before routes are registered.
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

/** Reads the last value, which the last proxy has appended. Earlier values may come from the caller. */
function isPlainHttp(protocol: string | string[]): boolean {
  return String(protocol).split(',').at(-1)?.trim().toLowerCase() === 'http';
}

export function isApiPath(path: string): boolean {
  return /^\/+(api|merchant)\//i.test(path);
}

function isPageRequest(method: string, url: string): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || !url.startsWith('/')) return false;
  try {
    // Decodes the URL as the router does, because `/%61pi/` also reaches the API.
    return !isApiPath(decodeURI(url));
  } catch {
    return false;
  }
}

/** Returns a check that accepts loopback and the given networks (`10.0.0.0/8`, `::1`). */
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

/** Refuses a connection. Ending its writable side keeps further requests from being served. */
function refuse(socket: Socket): void {
  // Omits Strict-Transport-Security. Browsers ignore it over plain HTTP, where an attacker could set it.
  socket.on('error', () => socket.destroy());
  socket.write(rawErrorText(new ServiceError('https_required'), null));
  socket.destroySoon();
}
