import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';

/**
 * Everything the service uses of Node's HTTP server that Node's documentation does not promise, each with the reason.
 * All of it is here, so that an upgrade of Node has one file to check. `test/http/transport.test.ts` and
 * `test/http/pipelining.test.ts` fail when one of them no longer works.
 */

/** Undocumented fields of a connection of Node 24's HTTP server. */
interface HttpSocket extends Socket {
  /** The response that owns the connection; null between two requests. */
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { incoming: IncomingMessage | null; onIncoming: (() => number) | null } | null;
}

/**
 * The response that owns a connection, or null. Bytes written to the socket for a request that the parser refused must
 * not precede or enter a response that is due. Node has no public name for it.
 */
export function currentResponse(socket: Socket): ServerResponse | null {
  return (socket as HttpSocket)._httpMessage ?? null;
}

/**
 * Answers callers that have closed their half of the connection. Node would close the connection by default, and the
 * service would store a payment whose caller never learns of it. The property `httpAllowHalfOpen` has existed since
 * Node 0.x; neither the documentation nor the types have it.
 */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** The return value of `onIncoming` for a request that leaves HTTP: the parser reads no further. */
const STOP_PARSING = 2;

/**
 * Reads and discards all further bytes of a connection, without parsing them. The rest of a chunk that is being parsed
 * is up to 64 KiB, thousands of requests, and Node has no public way to stop in the middle of it: the next request that
 * the parser finds there ends its work. `removeAllListeners('data')` takes the parser away from the socket.
 * (Pausing would be for good: the parser has stopped the handle behind the socket.)
 */
export function discardInput(socket: Socket): void {
  const { parser } = socket as HttpSocket;
  if (parser) {
    parser.onIncoming = () => {
      // Without this Node would destroy the connection if the request asks for another protocol.
      parser.incoming = null;
      return STOP_PARSING;
    };
  }
  socket.removeAllListeners('data');
  socket.on('data', () => {});
}

/**
 * Calls `close` instead of letting Node close a connection after its last response. Node calls `destroySoon`, which
 * resets a connection on which the caller is still sending, and the responses under way are lost.
 */
export function closeAfterLastResponse(socket: Socket, close: (socket: Socket) => void): void {
  socket.destroySoon = () => close(socket);
}

/**
 * Serves only the connections for which `admit` returns true. It replaces the server's own listeners, because an
 * additional listener cannot keep the server from parsing the bytes.
 */
export function filterConnections(server: NetServer, admit: (socket: Socket) => boolean): void {
  const serve = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (admit(socket)) for (const listener of serve) listener.call(server, socket);
  });
}
