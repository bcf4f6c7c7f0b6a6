import { STATUS_CODES } from 'node:http';
import { BlockList, isIP, type Server, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../domain/errors.ts';
import { rawError } from './error-reply.ts';
import { filterConnections } from './node-internals.ts';

/**
 * Turns away whoever may not speak plain HTTP: an API key that crosses a network in clear text is as good as lost. They
 * are told so, and not one byte is read.
 */
export function requireHttps(server: Server, isTrusted: (address: string) => boolean): void {
  // Behind the server's own listeners a request would be carried out before it is refused.
  filterConnections(server, (socket) => {
    const isServed = isTrusted(socket.remoteAddress ?? '');
    if (!isServed) refuse(socket);
    return isServed;
  });
}

/**
 * Refuses requests of which a trusted proxy says that they reached it over plain HTTP. Browsers that ask for a page are
 * sent on to HTTPS. The API is refused instead: after a redirect its callers would go on sending their key in clear text
 * without noticing. A proxy that says nothing is believed to end TLS, and health checks come from the proxy itself.
 *
 * To be called before the routes are registered.
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
    if (!isPlain || url.startsWith('/health/')) done();
    else if (isPageRequest(request.method, url)) void reply.redirect(root + url, 308);
    else done(new ServiceError('https_required'));
  });
}

/** Of several proxies the last one adds its word at the end; what stands before may be the caller's own. */
function isPlainHttp(protocol: string | string[]): boolean {
  return String(protocol).split(',').at(-1)?.trim().toLowerCase() === 'http';
}

function isPageRequest(method: string, url: string): boolean {
  return (method === 'GET' || method === 'HEAD') && url.startsWith('/') && !/^\/+api\//i.test(url);
}

/** Tells this machine and these networks (`10.0.0.0/8`, `::1`) from everybody else. */
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

function refuse(socket: Socket): void {
  // A browser must not believe it over plain HTTP, where anybody on the way could say it.
  const { status, headers, body } = rawError('https_required', { isHttpsOnly: false });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  socket.destroySoon();
}
