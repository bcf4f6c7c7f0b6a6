import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createBaseServer } from '../../src/web/server.ts';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';
import { createTestCertificateAuthority } from '../support/certificates.ts';
import { waitFor } from '../support/wait-for.ts';

let service: ApiService;
let port: number;
const sockets: Socket[] = [];

/** For what must end by the server's patience; anything else has the server's own, which no load uses up. */
const impatience = { headersTimeoutMs: 300, requestTimeoutMs: 600 };

async function startService(limits = {}): Promise<void> {
  service = await createApiService({ limits });
  await service.server.listen({ host: '127.0.0.1', port: 0 });
  port = portOf(service.server);
}

beforeEach(() => startService());
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service.close();
});

function portOf({ server }: FastifyInstance): number {
  return (server.address() as AddressInfo).port;
}

function open(): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('utf8');
  sockets.push(socket);
  return socket;
}

/** What the server answers until it closes the connection. */
function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

async function send(request: string): Promise<string> {
  const socket = open();
  const answer = readAll(socket);
  socket.write(request);
  return answer;
}

interface Answer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** Splits one or more answers that carry Content-Length. */
function parseAnswers(text: string): Answer[] {
  const answers: Answer[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const headers = rest.slice(0, end).toLowerCase();
    const length = Number(/content-length: (\d+)/.exec(headers)?.[1]);
    if (end === -1 || Number.isNaN(length)) throw new Error(`an answer without a length: ${rest}`);
    const body = rest.slice(end + 4, end + 4 + length);
    answers.push({ status: Number(headers.slice(9, 12)), headers, body });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

function requireError(text: string, status: number, error: string): Answer {
  const [answer] = parseAnswers(text);
  expect(answer?.status).toBe(status);
  expect(JSON.parse(answer?.body ?? '')).toEqual({ error });
  expect(answer?.headers).toContain('content-type: application/json');
  expect(answer?.headers).toContain("content-security-policy: default-src 'none'; frame-ancestors 'none'");
  return answer as Answer;
}

const close = 'Host: x\r\nConnection: close\r\n';
const withKey = () => `${close}X-API-Key: ${service.apiKey}\r\n`;

it('answers a caller who goes on sending, whatever there is, so that they can read it', async () => {
  for (let round = 0; round < 5; round++) {
    const answer = await send(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(4_000_000)}`);
    requireError(answer, 431, 'The request headers are too large.');
  }
});

it('answers an endless chunk extension with 413', async () => {
  const head = `POST /api/v1/wallet HTTP/1.1\r\n${withKey()}Content-Type: application/json\r\n`;
  const answer = await send(`${head}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(100_000)}`);
  requireError(answer, 413, 'The request body is larger than 16 KiB.');
});

it.each([
  ['what is no HTTP', 'hello\r\n\r\n'],
  ['a tunnel', 'CONNECT shop.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['an unknown method', 'BREW /api/v1/wallet HTTP/1.1\r\nHost: x\r\n\r\n'],
  [
    'both Content-Length and Transfer-Encoding',
    'POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'two different Content-Lengths',
    'POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc',
  ],
  ['a folded header', 'GET /x HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n'],
  [
    'an expectation nobody has',
    'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: the-moon\r\n\r\n',
  ],
])('answers %s with 400 in the error shape', async (_name, request) => {
  requireError(await send(request), 400, 'The request is invalid.');
});

it('answers a create before what is wrong behind it on its connection: a payment is never taken for an error', async () => {
  const body = JSON.stringify(validRequest);
  const create = (headers: string) =>
    `POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.apiKey}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;
  const whole = create(`Content-Length: ${body.length}`) + body;
  const connect = 'CONNECT shop.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const broken of [
    'what is no HTTP\r\n\r\n',
    connect,
    `${create('Transfer-Encoding: chunked')}no length\r\n`,
  ]) {
    const answers = parseAnswers(await send(whole + whole + broken));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
    expect(answers[2]?.headers).toContain('connection: close');
  }
  expect(await service.store.payments.listPayments({}, null, 10)).toHaveLength(6);
});

it('carries out nothing that comes behind an answer which ends the connection', async () => {
  const create = (headers: string, body: string) =>
    `POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.apiKey}\r\n${headers}` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const json = 'Content-Type: application/json\r\n';
  const good = create(json, JSON.stringify(validRequest));
  const tooLarge = create(json, ' '.repeat(17_000));
  for (const [first, status] of [
    [create('Content-Type: text/plain\r\n', JSON.stringify(validRequest)), 400],
    [tooLarge, 413],
  ] as const) {
    expect(parseAnswers(await send(first + good + good)).map((answer) => answer.status)).toEqual([status]);
  }
  expect(await service.store.payments.listPayments({}, null, 10)).toEqual([]);
});

it('carries out the requests of a connection one after the other', async () => {
  const log: string[] = [];
  service.world.quote = async () => {
    log.push('begins');
    await setImmediate();
    log.push('ends');
    return { deliveryUnits: null, minimumUsdCents: null };
  };
  const query = new URLSearchParams({ ...validRequest, provider: 'wert' });
  const create = (end: string) =>
    `GET /api/v1/wallet?${query} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.apiKey}\r\n${end}\r\n`;
  const answers = parseAnswers(await send(create('') + create('') + create('Connection: close\r\n')));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(log).toEqual(['begins', 'ends', 'begins', 'ends', 'begins', 'ends']);
});

it('answers a request without Host with 400 in the error shape', async () => {
  const answer = await send('GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n');
  requireError(answer, 400, 'The Host header is missing.');
});

it.each([
  ['two Host headers', 'Host: x\r\nHost: y\r\n'],
  ['the same Host twice', 'Host: x\r\nhost: x\r\n'],
])('answers %s with 400 in the error shape, and creates nothing', async (_name, hosts) => {
  const answer = await send(
    `GET /api/v1/wallet?${new URLSearchParams(validRequest)} HTTP/1.1\r\n${hosts}X-API-Key: ${service.apiKey}\r\nConnection: close\r\n\r\n`,
  );
  requireError(answer, 400, 'The Host header appears more than once.');
  expect(await service.store.payments.listPayments({}, null, 10)).toEqual([]);
});

it.each([
  ['/api/v1/wallet', 'application/json', 400, 'The body must be valid JSON.'],
  ['/api/v1/wallet', 'text/plain', 400, 'The Content-Type must be application/json.'],
  [
    '/api/v1/wallet',
    'json',
    400,
    'The Content-Type of the body is not supported. The API accepts application/json.',
  ],
  ['/nowhere', 'application/json', 404, 'Not found. Check the path and the id.'],
])('answers a POST to %s with Content-Type %s and no body at all', async (path, type, status, text) => {
  const answer = await send(`POST ${path} HTTP/1.1\r\n${withKey()}Content-Type: ${type}\r\n\r\n`);
  requireError(answer, status, text);
});

it('answers a path that is no URL with 400 in the error shape', async () => {
  requireError(await send(`GET /pay/%zz HTTP/1.1\r\n${close}\r\n`), 400, 'The path is not a valid URL path.');
});

it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])(
  'answers %s with 405 and Allow where other methods are served, without side effect',
  async (method) => {
    const override = `X-HTTP-Method-Override: POST\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n`;
    const wallet = requireError(
      await send(`${method} /api/v1/wallet HTTP/1.1\r\n${withKey()}${override}\r\nab`),
      405,
      'The method is not allowed for this path.',
    );
    expect(wallet.headers).toContain('allow: get, post');
    const status = await send(`${method} /api/v1/payment-status?x=1 HTTP/1.1\r\n${withKey()}\r\n`);
    expect(parseAnswers(status)[0]?.headers).toContain('allow: get');
    const nowhere = await send(`${method} /api/v1/nothing HTTP/1.1\r\n${withKey()}\r\n`);
    requireError(nowhere, 404, 'Not found. Check the path and the id.');
  },
);

it.each([
  '/',
  '/api/v1',
  '/api/v2/wallet',
  '/API/v1/wallet',
  '/api/v1/wallet/',
  '//api/v1/wallet',
  '/api/v1/..%2fwallet',
])('answers %s with 404 in the error shape', async (path) => {
  const answer = await send(
    `POST ${path} HTTP/1.1\r\n${withKey()}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\nab`,
  );
  requireError(answer, 404, 'Not found. Check the path and the id.');
});

it('sees raw header names in any case and repeated headers', async () => {
  const read = (headers: string) =>
    send(`GET /api/v1/payment-status HTTP/1.1\r\n${close}${headers}\r\n`).then(
      (text) => parseAnswers(text)[0]?.status,
    );
  const key = service.apiKey;
  expect(await read(`x-ApI-kEy:  ${key}  \r\n`)).toBe(400);
  expect(await read(`AUTHORIZATION: bearer   ${key}\r\n`)).toBe(400);
  expect(await read(`X-API-Key: ${key}\r\nx-api-key: ${key}\r\n`)).toBe(401);
  expect(await read(`Authorization: Bearer ${key}\r\nauthorization: Bearer ${key}\r\n`)).toBe(401);
  expect(await read(`Authorization: Bearer ${key}\r\nX-API-Key: ${key}\r\n`)).toBe(401);
});

it('finishes a request in progress when it closes, and closes idle connections at once', async () => {
  let release = () => {};
  const entered = new Promise<void>((resolve) => {
    service.world.quote = () => {
      resolve();
      return new Promise((answer) => {
        release = () => answer({ deliveryUnits: null, minimumUsdCents: null });
      });
    };
  });
  const idle = open();
  const idleClosed = readAll(idle);
  idle.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');

  const body = JSON.stringify({ ...validRequest, provider: 'wert' });
  const busy = open();
  const answer = readAll(busy);
  busy.write(
    `POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.apiKey}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  await entered;
  const closed = service.server.close();
  // While the other is still in progress, so long before the drain time of 10 s cuts that one off.
  expect(await idleClosed).toContain('200 OK');
  release();
  expect(parseAnswers(await answer)[0]?.status).toBe(200);
  // Not after the keep-alive time of 72 s, which the test does not have.
  await closed;
});

it('answers a caller who has said that no more will come, however long the answer takes', async () => {
  const isHalfClosed = new Promise<void>((resolve) => {
    service.server.server.once('connection', (socket: Socket) => socket.once('end', resolve));
  });
  service.world.quote = async () => {
    await isHalfClosed;
    return { deliveryUnits: null, minimumUsdCents: null };
  };
  const body = JSON.stringify({ ...validRequest, provider: 'wert' });
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  const answer = readAll(socket.setEncoding('utf8'));
  socket.once('end', () => socket.end());
  socket.end(
    `POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX-API-Key: ${service.apiKey}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const [created] = parseAnswers(await answer);
  expect(created?.status).toBe(200);
  const [stored] = await service.store.payments.listPayments({}, null, 10);
  expect(JSON.parse(created?.body ?? '').payment_id).toBe(stored?.id);
});

it('closes connections beyond its limit at once, and serves again when there is room', async () => {
  const server = createBaseServer({ trustProxy: [], limits: { connections: 3 } });
  server.get('/', async () => ({ ok: true }));
  await server.listen({ host: '127.0.0.1', port: 0 });
  const ask = () => {
    const socket = connect(portOf(server), '127.0.0.1');
    sockets.push(socket);
    socket.setEncoding('utf8');
    const answer = readAll(socket).catch(() => '');
    socket.write(`GET / HTTP/1.1\r\n${close}\r\n`);
    return answer;
  };
  const idle = [1, 2, 3].map(() => connect(portOf(server), '127.0.0.1'));
  sockets.push(...idle);
  await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  expect(await ask()).toBe('');
  idle[0]?.destroy();
  await waitFor('room for another', 60_000, async () => (await ask()).includes('{"ok":true}'));
  for (const socket of idle) socket.destroy();
  await server.close();
});

it.each([
  ['plain HTTP', false],
  ['TLS', true],
])('cuts a caller by %s who reads no answer, and not one whose answer moves', async (_name, isTls) => {
  const authority = await createTestCertificateAuthority();
  const { certPem: cert, keyPem: key } = await authority.issue({ names: ['127.0.0.1'] });
  const tls = isTls ? { cert, key } : null;
  const server = createBaseServer({ trustProxy: [], tls, limits: { stalledMs: 200 } });
  // Larger than what the buffers between the two ends take.
  server.get('/large', async () => Buffer.alloc(64_000_000));
  const slow = new PassThrough();
  const drops = setInterval(() => slow.write('.'), 20);
  server.get('/slow', (_request, reply) => reply.send(slow));
  await server.listen({ host: '127.0.0.1', port: 0 });
  const ask = (path: string): Socket => {
    const peer = { port: portOf(server), host: '127.0.0.1' };
    const socket = isTls ? connectTls({ ...peer, ca: authority.caPem }) : connect(peer);
    sockets.push(socket.on('error', () => {}));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return socket;
  };
  const countConnections = () =>
    new Promise<number>((resolve) => server.server.getConnections((_error, count) => resolve(count)));

  let pieces = 0;
  ask('/slow').on('data', () => pieces++);
  ask('/large').pause();
  await waitFor('both connections', 60_000, async () => (await countConnections()) === 2);
  await waitFor('the end of one', 60_000, async () => (await countConnections()) === 1);
  const seen = pieces;
  await waitFor('more of the other answer', 60_000, () => pieces > seen + 20);
  clearInterval(drops);
  await waitFor(
    'the end of the other, as nothing moves there',
    60_000,
    async () => !(await countConnections()),
  );
  await server.close();
});

it('cuts what does not end within the drain time', async () => {
  const server = createBaseServer({ trustProxy: [], limits: { drainTimeoutMs: 100 } });
  let entered = () => {};
  const isInside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  server.get('/never', () => {
    entered();
    return new Promise<void>(() => {});
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect(portOf(server), '127.0.0.1');
  sockets.push(socket);
  const ended = readAll(socket);
  socket.write('GET /never HTTP/1.1\r\nHost: x\r\n\r\n');
  await isInside;
  await server.close();
  expect(await ended).toBe('');
});

it('speaks HTTPS with its own certificate, TLS 1.2 at least, HTTP/1.1 only', async () => {
  const authority = await createTestCertificateAuthority();
  const { certPem, keyPem } = await authority.issue({ names: ['localhost'] });
  const listen = async (limits = {}) => {
    const tls = { cert: certPem, key: keyPem };
    const server = createBaseServer({ trustProxy: [], tls, hsts: 'max-age=31536000', limits });
    server.get('/', async () => ({ ok: true }));
    await server.listen({ host: '127.0.0.1', port: 0 });
    return server;
  };
  const server = await listen();
  const impatient = await listen(impatience);
  const ask = async (server: FastifyInstance, request: string) => {
    const socket = connectTls({
      host: '127.0.0.1',
      port: portOf(server),
      servername: 'localhost',
      ca: authority.caPem,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    sockets.push(socket);
    socket.setEncoding('utf8');
    const answer = readAll(socket);
    socket.write(request);
    const text = await answer;
    return { text, protocol: socket.alpnProtocol };
  };
  const { text, protocol } = await ask(server, `GET / HTTP/1.1\r\n${close}\r\n`);
  expect(text).toContain('{"ok":true}');
  expect(text).toContain('strict-transport-security: max-age=31536000');
  expect(protocol).toBe('http/1.1');
  const late = (await ask(impatient, 'GET / HTTP/1.1\r\nX-Slow: ')).text;
  const { headers } = requireError(late, 408, 'The complete request did not arrive in time.');
  expect(headers).toContain('strict-transport-security: max-age=31536000');
  await Promise.all([server.close(), impatient.close()]);
});
