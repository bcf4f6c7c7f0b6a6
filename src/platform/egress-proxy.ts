import { once } from 'node:events';
import { request } from 'node:http';
import { isIPv6, type Socket } from 'node:net';

/** HTTP proxy that opens tunnels to other hosts with the method CONNECT. */
export type EgressProxy = NonNullable<ReturnType<typeof parseEgressProxy>>;

/** Parses `http://[user:password@]host[:port]`. Returns null for any other form. */
export function parseEgressProxy(text: string) {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'http:' || !/^\/?$/.test(url.pathname + url.search + url.hash))
    return null;
  try {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? 80 : Number(url.port),
      /** Value of `Proxy-Authorization`; null without credentials. */
      authorization: credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
    };
  } catch {
    return null;
  }
}

/** Opens a tunnel through the proxy. The proxy resolves a host name itself, but uses an IP address unchanged. */
export async function openTunnel(
  { host, port, authorization }: EgressProxy,
  target: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const path = `${isIPv6(target.host) ? `[${target.host}]` : target.host}:${target.port}`;
  const headers = { host: path, ...(authorization === null ? {} : { 'proxy-authorization': authorization }) };
  const connecting = request({
    host,
    port,
    method: 'CONNECT',
    path,
    headers,
    setHost: false,
    agent: false,
    signal,
  });
  connecting.end();
  const [{ statusCode }, socket, early] = await once(connecting, 'connect').catch((cause: unknown) => {
    throw signal.aborted
      ? new Error(`the proxy ${host}:${port} did not answer CONNECT in time`, { cause })
      : cause;
  });
  // Treats early bytes as an error, because the client sends first in both TLS and HTTP.
  if (statusCode === 200 && early.length === 0) return socket;
  socket.destroy();
  throw new Error(`the proxy ${host}:${port} answers CONNECT with ${statusCode}`);
}
