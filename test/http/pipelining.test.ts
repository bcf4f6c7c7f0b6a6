import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { refuseForeignHosts } from '../../src/pages/operator/routes.ts';
import { MAX_PIPELINED_WAITING } from '../../src/web/connections.ts';
import { createBaseServer } from '../../src/web/server.ts';
import { registerHealth } from '../../src/web/well-known.ts';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';
import { createTestCertificateAuthority } from '../support/certificates.ts';
import { waitFor } from '../support/wait-for.ts';

const sockets: Socket[] = [];
const servers: FastifyInstance[] = [];
let service: ApiService;
let port: number;

beforeEach(async () => {
  service = await createApiService({ requestsPerMinute: 1_000_000_000 });
  port = await listen(service.server);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) await server.close();
  await service.close();
});

async function listen(server: FastifyInstance): Promise<number> {
  await server.listen({ host: '127.0.0.1', port: 0 });
  return (server.server.address() as AddressInfo).port;
}

function open(): Socket {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  return socket;
}

interface Reader {
  readonly text: () => string;
  readonly isClosed: () => boolean;
}

function read(socket: Socket): Reader {
  let text = '';
  let isClosed = false;
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => (text += chunk));
  socket.on('close', () => (isClosed = true));
  return { text: () => text, isClosed: () => isClosed };
}

/** What the server answers until it closes the connection. */
async function exchange(bytes: string): Promise<string> {
  const socket = open();
  const { text, isClosed } = read(socket);
  socket.write(bytes);
  await waitFor('the end of the connection', 60_000, isClosed);
  return text();
}

function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

function create(headers = ''): string {
  const body = JSON.stringify(validRequest);
  return (
    `POST /api/v1/wallet HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${service.apiKey}\r\n${headers}` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

const countPayments = async () => (await service.store.payments.listPayments({}, null, 100)).length;
const served = MAX_PIPELINED_WAITING + 1;

it('carries out what may wait on one connection, refuses the next request, and closes', async () => {
  for (const requests of [served + 1, 40, 2_000]) {
    const before = await countPayments();
    const answer = await exchange(create().repeat(requests));
    expect(statusesIn(answer)).toEqual([...Array<number>(served).fill(200), 429]);
    expect(answer).toContain('{"error":"Too many requests are waiting on this connection."}');
    expect(answer.toLowerCase().match(/connection: close/g)).toHaveLength(1);
    expect(answer.match(/\r\nretry-after: 1\r\n/gi)).toHaveLength(1);
    expect((await countPayments()) - before).toBe(served);
  }
});

it('carries out as many requests as come, when no more of them wait than may', async () => {
  const socket = open();
  const { text } = read(socket);
  for (let round = 1; round <= 5; round++) {
    socket.write(get('/health/live').repeat(served));
    await waitFor('all answers', 60_000, () => statusesIn(text()).length === round * served);
  }
  expect(new Set(statusesIn(text()))).toEqual(new Set([200]));
});

it.each([
  ['a path that is no URL', get('/%zz'), 400],
  ['an unknown expectation', get('/health/live', 'Expect: the-moon\r\n'), 400],
])('counts a request with %s as well', async (_name, request, status) => {
  const answer = await exchange(create() + request.repeat(40));
  expect(statusesIn(answer)).toEqual([200, ...Array<number>(MAX_PIPELINED_WAITING).fill(status), 429]);
});

it.each([
  ['bytes that are no HTTP', 'no HTTP\r\n\r\n'],
  ['another protocol', get('/', 'Connection: Upgrade\r\nUpgrade: websocket\r\n')],
  ['a tunnel', 'CONNECT localhost:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
])('answers what is due when %s come behind too many requests', async (_name, last) => {
  const answer = await exchange(create().repeat(served + 1) + last);
  expect(statusesIn(answer)).toEqual([...Array<number>(served).fill(200), 429]);
});

it('answers what is due to a caller who goes on sending', async () => {
  const answer = await exchange(create().repeat(40_000));
  expect(statusesIn(answer)).toEqual([...Array<number>(served).fill(200), 429]);
});

it('keeps little of thousands of requests that wait behind a stream', async () => {
  const server = await startServer(false, false);
  const peer = { host: '127.0.0.1', port: await listen(server) };
  setFlagsFromString('--expose-gc');
  const heapUsed = () => {
    (runInNewContext('gc') as () => void)();
    return process.memoryUsage().heapUsed;
  };
  const before = heapUsed();
  for (let connections = 0; connections < 10; connections++) {
    const socket = connect(peer);
    sockets.push(socket);
    const { text } = read(socket);
    socket.write(get('/stream'));
    await waitFor('the stream', 60_000, () => text().includes('retry'));
    await new Promise<void>((resolve) => {
      socket.write('GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(8_000), () => resolve());
    });
  }
  expect((heapUsed() - before) / 10).toBeLessThan(500_000);
  server.server.emit('end streams');
});

const authority = createTestCertificateAuthority();

async function startServer(isTls: boolean, isAdmin: boolean): Promise<FastifyInstance> {
  const { certPem: cert, keyPem: key } = await (await authority).issue({ names: ['127.0.0.1'] });
  const server = createBaseServer({ trustProxy: [], tls: isTls ? { cert, key } : null });
  servers.push(server);
  if (isAdmin) refuseForeignHosts(server, 'http://localhost:3001');
  registerHealth(server, () => ({ ready: true }));
  server.get('/stream', (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.raw.write('retry: 3000\n\n');
    server.server.once('end streams', () => reply.raw.end());
  });
  return server;
}

const ports = [
  ['the public port', false, false],
  ['the admin port', false, true],
  ['the public port with TLS', true, false],
] as const;

it.each(
  ports.flatMap(([name, isTls, isAdmin]) =>
    [500, 2_000, 8_000].flatMap((requests) =>
      [false, true].map((isBehindStream) => ({ name, isTls, isAdmin, requests, isBehindStream })),
    ),
  ),
)(
  'answers others within 100 ms of work while $requests pipelined requests come in at $name, behind a stream: $isBehindStream',
  async ({ isTls, isAdmin, requests, isBehindStream }) => {
    const server = await startServer(isTls, isAdmin);
    const peer = { host: '127.0.0.1', port: await listen(server) };
    const ca = (await authority).caPem;
    const openOne = () => {
      const socket = isTls ? connectTls({ ...peer, ca }) : connect(peer);
      sockets.push(socket);
      return { socket, reader: read(socket) };
    };
    const other = openOne();
    const ask = async () => {
      const before = other.reader.text().length;
      const startedAt = process.threadCpuUsage();
      other.socket.write(get('/health/live'));
      await waitFor('the answer', 60_000, () => other.reader.text().length > before);
      const { user, system } = process.threadCpuUsage(startedAt);
      return (user + system) / 1000;
    };
    await ask();

    const flood = openOne();
    if (isBehindStream) {
      flood.socket.write(get('/stream'));
      await waitFor('the stream', 60_000, () => flood.reader.text().includes('retry'));
    }
    let isSent = false;
    // The shortest requests, of which the most fit into what is read at once.
    flood.socket.write('GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(requests), () => (isSent = true));
    let slowestMs = 0;
    const isOver = () => isSent && (isBehindStream || flood.reader.isClosed());
    while (!isOver()) slowestMs = Math.max(slowestMs, await ask());
    slowestMs = Math.max(slowestMs, await ask());
    expect(slowestMs).toBeLessThan(100);

    server.server.emit('end streams');
    await waitFor('the end of the connection', 60_000, flood.reader.isClosed);
    const statuses = statusesIn(flood.reader.text());
    expect(statuses).toEqual([
      isBehindStream ? 200 : 404,
      ...Array<number>(MAX_PIPELINED_WAITING).fill(404),
      429,
    ]);
  },
);
