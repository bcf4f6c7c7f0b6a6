import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { refuseForeignHosts } from '../../src/pages/operator/routes.ts';
import { createPeerCheck, requireForwardedHttps, requireHttps } from '../../src/web/require-https.ts';
import { createBaseServer } from '../../src/web/server.ts';
import { registerHealth } from '../../src/web/well-known.ts';
import { read } from '../docs/markdown.ts';
import { waitFor } from '../support/wait-for.ts';

let server: FastifyInstance;
let served: number;
const sockets: Socket[] = [];

beforeEach(() => {
  served = 0;
  server = createBaseServer({ trustProxy: [] });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

async function listen(isTrusted: (address: string) => boolean): Promise<number> {
  requireHttps(server, isTrusted);
  server.post('/api/v1/wallet', async () => {
    served++;
    return 'served';
  });
  registerHealth(server, () => ({ ready: true }));
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}

function open(port: number): Socket {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => {});
  sockets.push(socket);
  return socket;
}

const create = 'POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';

/** Sends requests and returns all that comes back before the connection ends. */
function request(port: number, text = create.replace('Host', 'Connection: close\r\nHost')): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = open(port);
    socket.on('data', (chunk) => (answer += chunk.toString('utf8')));
    socket.on('close', () => resolve(answer));
    socket.write(text);
  });
}

it('tells everybody else that HTTPS is required, and carries nothing out', async () => {
  const port = await listen(() => false);
  for (const text of [create, create.replace('wallet', 'wallet?health/live'), `${create}${create}`]) {
    const answer = await request(port, text);
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(answer).toContain('{"error":"HTTPS is required."}');
  }
  for (const path of ['/', '/health/live/../../x', '/health', '/health/other', '/pay/x'])
    expect(await request(port, `GET ${path} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 403 /);
  expect(served).toBe(0);
});

it('answers checks of its health to everybody, and ends the connection with each', async () => {
  const port = await listen(() => false);
  for (const path of ['/health/live', '/health/ready', '/health/ready?probe=1']) {
    for (const method of ['GET', 'HEAD']) {
      for (const end of ['HTTP/1.0\r\n\r\n', 'HTTP/1.1\r\nHost: 10.1.2.3:3000\r\n\r\n']) {
        const answer = await request(port, `${method} ${path} ${end}`);
        expect(answer, `${method} ${path} ${end}`).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      }
    }
    expect(await request(port, `POST ${path} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 403 /);
  }
  const both = await request(port, `GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n${create}`);
  expect(both).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*{"status":"live"}/);
  expect(served).toBe(0);
});

it('keeps few connections of one address that may only check the health, and gives its place to the next', async () => {
  const port = await listen(() => false);
  const idle = Array.from({ length: 8 }, () => open(port));
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  const live = 'GET /health/live HTTP/1.0\r\n\r\n';
  await waitFor('a refusal', 5_000, async () => (await request(port, live)).startsWith('HTTP/1.1 403'));
  idle[0]?.destroy();
  await waitFor('an answer', 5_000, async () => (await request(port, live)).startsWith('HTTP/1.1 200'));
});

it('answers the probes of the manifest for Kubernetes, which ask each pod by its address', async () => {
  const found = read('deploy/kubernetes.yaml').matchAll(
    /(\w+)Probe:\n +httpGet: \{ path: (\S+), port: (\w+) \}/g,
  );
  const probes = [...found].map(([, kind, path = '', port]) => ({ kind, path, port }));
  expect(probes.map(({ kind, port }) => `${kind} ${port}`)).toEqual([
    'readiness http',
    'startup http',
    'liveness http',
    'readiness admin',
    'startup admin',
    'liveness admin',
  ]);
  refuseForeignHosts(server, 'http://localhost:3001');
  const port = await listen(() => false);
  for (const { path } of probes) {
    for (const host of ['10.1.2.3:3000', 'checkout.example']) {
      const probe = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: kube-probe/1.31\r\nConnection: close\r\n\r\n`;
      expect(await request(port, probe), path).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    }
  }
});

it('the machine itself and proxies may speak plain HTTP, and nobody else', () => {
  const isTrusted = createPeerCheck(['10.0.0.0/8', '192.0.2.7', 'fd00::/16']);
  const trusted = '127.0.0.1 127.8.9.10 ::1 ::ffff:127.0.0.1 10.1.2.3 ::ffff:10.1.2.3 192.0.2.7 fd00::1';
  for (const address of trusted.split(' ')) expect([address, isTrusted(address)]).toEqual([address, true]);
  for (const address of ['192.0.2.8', '11.0.0.1', 'fd01::1', ''])
    expect([address, isTrusted(address)]).toEqual([address, false]);
});

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
  const behind = createBaseServer({ trustProxy, hsts: 'max-age=31536000' });
  let carriedOut = 0;
  requireForwardedHttps(behind, { isTrusted: createPeerCheck(trustProxy), baseUrl });
  registerHealth(behind, () => ({ ready: true }));
  for (const path of ['/pay/:id', '/api/v1/wallet', '/merchant/v1/payments'])
    behind.route({ method: ['GET', 'POST'], url: path, handler: async () => ({ times: ++carriedOut }) });
  const headers = protocol === undefined ? {} : { 'x-forwarded-proto': protocol };
  const answer = await behind.inject({ method, url, headers, remoteAddress: proxy });
  await behind.close();
  const { statusCode, body } = answer;
  return { statusCode, location: answer.headers['location'], body, carriedOut };
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
