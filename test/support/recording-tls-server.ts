import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { TLSSocket, type TlsOptions } from 'node:tls';
import type { TestCertificate } from './certificates.ts';

/** One request as its bytes arrived. */
export interface RecordedRequest {
  /** Request line and header lines, as sent. */
  readonly head: readonly string[];
  readonly body: string;
}

/** What a behavior may do with the connection after the whole request has arrived. */
export interface RequestContext {
  readonly socket: TLSSocket;
  /** The connection below TLS. */
  readonly tcp: Socket;
  readonly request: RecordedRequest;
  /** Aborted when the connection is gone or the server closes. */
  readonly signal: AbortSignal;
}

export interface RecordingTlsServer {
  readonly port: number;
  readonly connections: readonly {
    readonly servername: string | null;
    readonly offeredProtocols: readonly string[];
  }[];
  readonly requests: readonly RecordedRequest[];
  openConnections(): number;
  close(): Promise<void>;
}

/**
 * A TLS server on a free loopback port that reads requests byte by byte and leaves the answer to `behave`, so that it
 * can misbehave in ways no HTTP library allows.
 */
export async function startRecordingTlsServer(
  certificate: TestCertificate,
  behave: (context: RequestContext) => unknown,
  options: TlsOptions = {},
): Promise<RecordingTlsServer> {
  const connections: { servername: string | null; offeredProtocols: readonly string[] }[] = [];
  const requests: RecordedRequest[] = [];
  const open = new Set<Socket>();
  const server = createTcpServer((tcp) => {
    open.add(tcp);
    const gone = new AbortController();
    tcp.on('error', () => {});
    tcp.on('close', () => {
      open.delete(tcp);
      gone.abort();
    });
    const connection = { servername: null as string | null, offeredProtocols: [] as readonly string[] };
    connections.push(connection);
    const socket = new TLSSocket(tcp, {
      isServer: true,
      key: certificate.keyPem,
      cert: certificate.certPem,
      ALPNCallback: ({ servername, protocols }) => {
        // Node says false here where its types say text.
        connection.servername = servername || null;
        connection.offeredProtocols = protocols;
        return ['h2', 'http/1.1'].find((protocol) => protocols.includes(protocol));
      },
      ...options,
    });
    socket.on('error', () => {});
    let received: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (let found = takeRequest(received); found !== null; found = takeRequest(received)) {
        received = found.rest;
        requests.push(found.request);
        behave({ socket, tcp, request: found.request, signal: gone.signal });
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    requests,
    openConnections: () => open.size,
    async close() {
      for (const tcp of open) tcp.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The first complete request in the bytes, and what follows it. */
function takeRequest(received: Buffer): { request: RecordedRequest; rest: Buffer } | null {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const head = received.subarray(0, headEnd).toString('latin1').split('\r\n');
  const length = head
    .map((line) => /^content-length: (\d+)$/i.exec(line)?.[1])
    .find((found) => found !== undefined);
  const end = headEnd + 4 + Number(length ?? 0);
  if (received.length < end) return null;
  const body = received.subarray(headEnd + 4, end).toString('utf8');
  return { request: { head, body }, rest: received.subarray(end) };
}
