import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorName, ServiceError } from '../payment/errors.ts';
import { rawError, rawErrorText } from './error-reply.ts';

/** Maximum number of requests that wait on a connection behind the current one. */
export const MAX_PIPELINED_WAITING = 16;

/** Time in ms for which input of a refused caller is discarded, so that the caller can still read the response. */
const LINGER_MS = 2_000;

const errorNames: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
};

interface Pipeline {
  current: ServerResponse;
  newest: ServerResponse;
  waiting: number;
}

export type Connections = ReturnType<typeof createConnections>;

/**
 * Applies connection limits in addition to Node's. Runs the requests of a connection sequentially, so that no request
 * runs after the response that closes the connection. Sends refusals in the API's error format, after the pending
 * responses. Tests: `test/http/transport.test.ts`, `test/http/pipelining.test.ts`. `hsts` is the value of
 * Strict-Transport-Security.
 */
export function createConnections({ hsts }: { readonly hsts: string | null }) {
  const pipelines = new WeakMap<Socket, Pipeline>();
  /** Connections with a refused request. Their remaining input is not parsed. */
  const refused = new WeakSet<Socket>();

  /** Writes the error after the pending responses. Earlier, it would be taken for the next response. */
  function refuse(socket: Socket, error: ServiceError): void {
    const current = pipelines.get(socket)?.current;
    const isPending = current !== undefined && !isDone(current);
    if (isPending && current.req.complete) {
      // Checks again, because the next request may be in progress by then.
      current.once('finish', () => refuse(socket, error));
    } else if (!socket.writable || (isPending && current.headersSent)) {
      // Writes nothing, because the bytes would become part of the pending response.
      socket.destroySoon();
    } else {
      socket.write(rawErrorText(error, hsts));
      closeReadably(socket);
    }
  }

  function refuseOnce(socket: Socket, error: ServiceError): void {
    if (socket.destroyed || refused.has(socket)) return;
    refused.add(socket);
    discardInput(socket);
    refuse(socket, error);
  }

  return {
    /** Runs the requests of a connection one after the other. */
    serialize(serve: RequestListener): RequestListener {
      return (request, response) => {
        const { socket } = request;
        // Drops the request, because the response that closes the connection has already been sent.
        if (socket.writableEnded) return;
        const pipeline = pipelines.get(socket);
        if (pipeline === undefined) {
          pipelines.set(socket, { current: response, newest: response, waiting: 0 });
          return serve(request, response);
        }
        if (pipeline.waiting === MAX_PIPELINED_WAITING) {
          const text = 'Too many requests are waiting on this connection.';
          return refuseOnce(socket, new ServiceError('rate_limited', text, { retryAfterSeconds: 1 }));
        }
        const predecessor = pipeline.newest;
        pipeline.newest = response;
        if (isDone(predecessor)) {
          pipeline.current = response;
          return serve(request, response);
        }
        pipeline.waiting++;
        // Node's own listener ran first: it has either assigned the connection to this response or closed it.
        predecessor.once('finish', () => {
          pipeline.waiting--;
          if (socket.writableEnded) return;
          pipeline.current = response;
          serve(request, response);
        });
      };
    },
    refuseUnparsed(error: Error & { code?: string }, socket: Socket): void {
      if (error.code === 'ECONNRESET') return;
      refuseOnce(socket, new ServiceError(errorNames[error.code ?? ''] ?? 'invalid_request'));
    },
    /** Responds to CONNECT. Node would close the connection and drop the pending responses. */
    refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
      // Node has removed its own listeners, including the error listener.
      socket.on('error', () => socket.destroy());
      refuseOnce(socket as Socket, new ServiceError('invalid_request'));
    },
    /** Responds to an unknown `Expect` header, because Node's 417 has no body. Keeps the connection open. */
    answerUnknownExpectation(_request: IncomingMessage, response: ServerResponse): void {
      const { status, headers, body } = rawError(new ServiceError('invalid_request'), hsts);
      const { connection: _, ...others } = headers;
      response.writeHead(status, others).end(body);
    },
  };
}

/** Returns whether Node has detached a response from its connection, after closing the connection if required. */
function isDone(response: ServerResponse): boolean {
  return response.writableEnded && response.socket === null;
}

/** Closes a connection without losing responses: unread input of the caller would otherwise cause a reset. */
function closeReadably(socket: Socket): void {
  socket.on('error', () => {});
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

// The code below depends on undocumented behavior of Node. The tests of `createConnections` fail if it changes.

/**
 * Lets the server respond to callers that closed their half of the connection. Node would close the other half too, so
 * the caller would not learn of a stored payment. `httpAllowHalfOpen` is neither documented nor in the types.
 */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Return value of `onIncoming` that stops the parser. */
const STOP_PARSING = 2;

interface Parser {
  incoming: IncomingMessage | null;
  onIncoming: (() => number) | null;
}

/**
 * Discards the remaining input of a connection without parsing it. The current chunk may hold thousands of requests,
 * and Node has no public API to stop within it. Pausing would be permanent, because the parser has stopped the handle
 * of the socket.
 */
function discardInput(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: Parser | null };
  if (parser) {
    parser.onIncoming = () => {
      // Keeps Node from destroying the connection if the request contains an Upgrade header.
      parser.incoming = null;
      return STOP_PARSING;
    };
  }
  socket.removeAllListeners('data');
  socket.on('data', () => {});
}
