import { once } from 'node:events';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { createTestCertificateAuthority, type TestCertificate } from '../../support/certificates.ts';
import { freePorts } from '../../support/free-ports.ts';

/** How a receiver misbehaves. */
export type Misbehavior = (typeof misbehaviors)[number];

export const misbehaviors = [
  'no handshake',
  'no answer',
  'dripping headers',
  'endless headers',
  'dripping body',
  'endless body',
  'compressed bomb',
  'endless hints',
  'reset',
] as const;

/** Receivers that misbehave, each on an address of its own of the loopback network. */
export interface BadReceivers {
  /** `address:port` of each. */
  readonly hosts: readonly string[];
  readonly caPem: string;
  /** The most connections that were open at a time, to all of them and to one. */
  readonly most: { open: number; openToOne: number };
  /** Requests by what their path was. */
  readonly requests: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

const NAMES_OF_A_CERTIFICATE = 100;
const DRIP_MS = 500;
const OK_HEAD = 'HTTP/1.1 200 OK\r\n';
const BOMB = gzipSync(Buffer.alloc(32 * 1024 * 1024));
const FILLING = 'x'.repeat(16 * 1024);

/** Starts so many; the kinds take turns. */
export async function startBadReceivers(count: number, kinds: readonly Misbehavior[]): Promise<BadReceivers> {
  const authority = await createTestCertificateAuthority();
  const [port] = (await freePorts(1)) as [number];
  const addresses = Array.from({ length: count }, (_, index) => `127.77.${index >> 7}.${(index & 127) + 1}`);
  const tally = { open: 0, most: { open: 0, openToOne: 0 }, requests: new Map<string, number>() };
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  for (let first = 0; first < count; first += NAMES_OF_A_CERTIFICATE) {
    const names = addresses.slice(first, first + NAMES_OF_A_CERTIFICATE);
    const certificate = await authority.issue({ names });
    for (const [index, address] of names.entries()) {
      const kind = kinds[(first + index) % kinds.length] as Misbehavior;
      servers.push(await listen(address, port, kind, certificate, tally, sockets));
    }
  }
  return {
    hosts: addresses.map((address) => `${address}:${port}`),
    caPem: authority.caPem,
    most: tally.most,
    requests: tally.requests,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

const answers: Readonly<Record<Misbehavior, (socket: Socket) => void>> = {
  'no handshake': () => {},
  'no answer': () => {},
  'dripping headers': (socket) => {
    socket.write(OK_HEAD);
    repeat(socket, () => socket.write('X'));
  },
  'dripping body': (socket) => {
    socket.write(`${OK_HEAD}Content-Length: 1000000\r\n\r\n`);
    repeat(socket, () => socket.write('x'));
  },
  'endless headers': (socket) => {
    socket.write(OK_HEAD);
    pour(socket, `X-Header: ${'x'.repeat(1_000)}\r\n`);
  },
  'endless body': (socket) => {
    socket.write(`${OK_HEAD}\r\n`);
    pour(socket, FILLING);
  },
  'compressed bomb': (socket) => {
    socket.write(`${OK_HEAD}Content-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`);
    socket.end(BOMB);
  },
  'endless hints': (socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  reset: (socket) => socket.destroy(),
};

/** A sender's next connection may be seen before the end of the one whose place it takes, so it counts after that. */
const SEEN_TO_CLOSE_MS = 100;

interface Tally {
  open: number;
  readonly most: { open: number; openToOne: number };
  readonly requests: Map<string, number>;
}

async function listen(
  address: string,
  port: number,
  kind: Misbehavior,
  certificate: TestCertificate,
  tally: Tally,
  sockets: Set<Socket>,
): Promise<Server> {
  let openToThis = 0;
  const server =
    kind === 'no handshake'
      ? createTcpServer()
      : createTlsServer(
          { cert: certificate.certPem, key: certificate.keyPem, ALPNProtocols: ['http/1.1'] },
          (socket) => misbehave(socket, kind, tally),
        );
  server.on('connection', (tcp: Socket) => {
    sockets.add(tcp);
    let isCounted = false;
    const counting = setTimeout(() => {
      isCounted = true;
      tally.most.open = Math.max(tally.most.open, ++tally.open);
      tally.most.openToOne = Math.max(tally.most.openToOne, ++openToThis);
    }, SEEN_TO_CLOSE_MS);
    tcp.on('error', () => {});
    // A connection whose end is not read is never seen to be closed.
    if (kind === 'no handshake') tcp.resume();
    tcp.on('close', () => {
      sockets.delete(tcp);
      clearTimeout(counting);
      if (!isCounted) return;
      tally.open--;
      openToThis--;
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(port, address);
  await once(server, 'listening');
  return server;
}

function misbehave(socket: Socket, kind: Misbehavior, { requests }: Tally): void {
  socket.on('error', () => {});
  let head = '';
  const onData = (chunk: Buffer) => {
    head += chunk.toString('latin1');
    if (!head.includes('\r\n\r\n')) return;
    socket.off('data', onData);
    socket.resume();
    const path = head.split(' ', 2)[1] ?? '';
    requests.set(path, (requests.get(path) ?? 0) + 1);
    answers[kind](socket);
  };
  socket.on('data', onData);
}

/** Again and again, as long as there is somebody. */
function repeat(socket: Socket, act: () => void): void {
  const timer = setInterval(act, DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

/** As much as the other side takes. */
function pour(socket: Socket, text: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', more);
  more();
}
