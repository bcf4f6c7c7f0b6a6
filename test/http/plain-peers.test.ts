import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPeerCheck, requireForwardedHttps, requireHttps } from '../../src/http/require-https.ts';
import { createBaseServer } from '../../src/http/server.ts';
import { registerHealth } from '../../src/http/well-known.ts';

let server: Server;
let served: number;

beforeEach(() => {
  served = 0;
  server = createServer((_request, response) => {
    served++;
    response.end('served');
  });
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function listen(isTrusted: (address: string) => boolean): Promise<number> {
  requireHttps(server, isTrusted);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Sends a request and returns all that comes back before the connection ends. */
function request(port: number): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('data', (chunk) => (answer += chunk.toString('utf8')));
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
    socket.write('POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
}

it('serves whom it trusts', async () => {
  expect(await request(await listen(createPeerCheck([])))).toContain('served');
});

it('tells everybody else that HTTPS is required, and carries nothing out', async () => {
  const answer = await request(await listen(() => false));
  expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  expect(answer).toContain('{"error":"HTTPS is required."}');
  expect(served).toBe(0);
});

it.each([
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['192.0.2.7', true],
  ['fd00::1', true],
  ['192.0.2.8', false],
  ['11.0.0.1', false],
  ['fd01::1', false],
  ['', false],
])(
  '%s may speak plain HTTP beside the proxies 10.0.0.0/8, 192.0.2.7 and fd00::/16: %s',
  (address, isTrusted) => {
    expect(createPeerCheck(['10.0.0.0/8', '192.0.2.7', 'fd00::/16'])(address)).toBe(isTrusted);
  },
);

/** What a caller is answered behind a proxy of the network 10.0.0.0/8 that sends this `X-Forwarded-Proto`. */
async function askBehindProxy(options: {
  readonly method?: 'GET' | 'POST';
  readonly url: string;
  readonly protocol?: string;
  readonly proxy?: string;
  readonly baseUrl?: string;
}) {
  const { method = 'GET', url, protocol, proxy = '10.0.0.1', baseUrl = 'https://pay.example.com' } = options;
  const trustProxy = ['10.0.0.0/8'];
  const behind = createBaseServer({ trustProxy, isHttpsOnly: true });
  let carriedOut = 0;
  requireForwardedHttps(behind, { isTrusted: createPeerCheck(trustProxy), baseUrl });
  registerHealth(behind, { isReady: () => ({ ready: true }) });
  for (const path of ['/pay/:id', '/api/v1/wallet', '/merchant/v1/payments']) {
    behind.route({ method: ['GET', 'POST'], url: path, handler: async () => ({ times: ++carriedOut }) });
  }
  const headers = protocol === undefined ? {} : { 'x-forwarded-proto': protocol };
  const {
    statusCode,
    headers: answered,
    body,
  } = await behind.inject({
    method,
    url,
    headers,
    remoteAddress: proxy,
  });
  await behind.close();
  return { statusCode, location: answered['location'], body, carriedOut };
}

it.each(['http', 'HTTP', 'https, http'])(
  'leads a page that a trusted proxy took over plain HTTP (%j) on to HTTPS',
  async (protocol) => {
    const { statusCode, location, carriedOut } = await askBehindProxy({ url: '/pay/x?lang=de', protocol });
    expect([statusCode, location, carriedOut]).toEqual([308, 'https://pay.example.com/pay/x?lang=de', 0]);
  },
);

it('leads nobody to another site, whatever the path', async () => {
  const { statusCode, location } = await askBehindProxy({ url: '//evil.example/x', protocol: 'http' });
  expect([statusCode, location]).toEqual([308, 'https://pay.example.com//evil.example/x']);
});

it.each([
  ['GET', '/api/v1/wallet?amount=1'],
  ['GET', '/%61pi/v1/wallet?amount=1'],
  ['POST', '/api/v1/wallet'],
  ['GET', '/merchant/v1/payments'],
  ['POST', '/merchant/v1/payments'],
  ['POST', '/pay/x'],
] as const)('refuses %s %s that a trusted proxy took over plain HTTP', async (method, url) => {
  const { statusCode, body, carriedOut } = await askBehindProxy({ method, url, protocol: 'http' });
  expect([statusCode, body, carriedOut]).toEqual([403, '{"error":"HTTPS is required."}', 0]);
});

it.each([
  ['the proxy says HTTPS', { url: '/api/v1/wallet', protocol: 'https' }],
  ['the nearest proxy says HTTPS', { url: '/api/v1/wallet', protocol: 'http, https' }],
  ['the proxy says nothing', { url: '/api/v1/wallet' }],
  ['it is about health', { url: '/health/live', protocol: 'http' }],
  ['the peer is no trusted proxy', { url: '/pay/x', protocol: 'http', proxy: '192.0.2.1' }],
  [
    'the service is reached over plain HTTP',
    { url: '/pay/x', protocol: 'http', baseUrl: 'http://localhost' },
  ],
])('serves a request where %s', async (_name, options) => {
  expect((await askBehindProxy(options)).statusCode).toBe(200);
});
