import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorName, ServiceError } from '../payment/errors.ts';
import { rawError, rawErrorText } from './error-reply.ts';

/** Maximum requests that wait on one connection behind the current one. */
export const MAX_PIPELINED_WAITING = 16;

/** How long further bytes of a refused caller are discarded, so that the caller can read the reason. */
const LINGER_MS = 2_000;

const errorNames: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
};

interface Pipeline {
  /** Response to the current or last request. */
  current: ServerResponse;
  newest: ServerResponse;
  waiting: number;
}

export type Connections = ReturnType<typeof createConnections>;

/**
 * Limits of a connection beyond Node's own. Runs the requests of a connection one after the other, so that no request
 * behind a response that ends the connection is executed ("carries out nothing that comes behind an answer which ends
 * the connection" in `test/http/transport.test.ts`). Responds to requests that the parser refuses, and to pipelined
 * ones beyond `MAX_PIPELINED_WAITING`, in the API's error shape after the pending responses ("answers a create before
 * what is wrong behind it on its connection" there, and `test/http/pipelining.test.ts`).
 *
 * @param isHttpsOnly whether callers use only HTTPS, so that responses may set Strict-Transport-Security
 */
export function createConnections({ isHttpsOnly }: { readonly isHttpsOnly: boolean }) {
  const pipelines = new WeakMap<Socket, Pipeline>();
  /** Connections with a refused request. Later bytes on them are not parsed. */
  const refused = new WeakSet<Socket>();

  /**
   * Writes the reason after the pending responses and closes the connection. Responses of HTTP/1.1 carry no identifier,
   * so an error written earlier would be taken for the response to the previous request.
   */
  function refuse(socket: Socket, error: ServiceError): void {
    const current = pipelines.get(socket)?.current;
    const isPending = current !== undefined && !isDone(current);
    if (isPending && current.req.complete) {
      // Waits once more, because the next request may be in progress by then.
      current.once('finish', () => refuse(socket, error));
    } else if (!socket.writable || (isPending && current.headersSent)) {
      // Writes nothing, because the bytes would become part of the response in progress.
      socket.destroySoon();
    } else {
      socket.write(rawErrorText(error, isHttpsOnly));
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
    /**
     * Wraps a request listener so that the requests of a connection run one after the other. Callers that wait for each
     * response are not delayed. The work for a request is constant, because each waits only for its predecessor.
     */
    serialize(serve: RequestListener): RequestListener {
      return (request, response) => {
        const { socket } = request;
        // The last response of the connection was already sent.
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
        // Node's own listener runs first and has assigned the connection to this response, or ended the connection.
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
      // Node has removed its own listeners, including the one for errors.
      socket.on('error', () => socket.destroy());
      refuseOnce(socket as Socket, new ServiceError('invalid_request'));
    },
    /**
     * Responds to an unknown `Expect` header; Node's own 417 has no body. Keeps the connection open, because a
     * following request is executed and needs its response.
     */
    answerUnknownExpectation(_request: IncomingMessage, response: ServerResponse): void {
      const { status, headers, body } = rawError(new ServiceError('invalid_request'), isHttpsOnly);
      const { connection: _, ...others } = headers;
      response.writeHead(status, others).end(body);
    },
  };
}

/**
 * Whether Node has detached a response from its connection. If the response closes the connection, Node has ended it by
 * then.
 */
function isDone(response: ServerResponse): boolean {
  return response.writableEnded && response.socket === null;
}

/**
 * Closes a connection on which the caller may still be sending. Closing with unread bytes would reset it and lose
 * pending responses ("answers a caller who goes on sending" in `test/http/transport.test.ts`).
 */
function closeReadably(socket: Socket): void {
  socket.on('error', () => {});
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

// What follows depends on undocumented behavior of Node. The named tests fail if an upgrade changes it.

/**
 * Responds to callers that closed their half of the connection. By default, Node would close the other half too, and
 * the service would store a payment whose caller never learns of it. `httpAllowHalfOpen` has existed since Node 0.x,
 * but is neither documented nor in the types. ("answers a caller who has said that no more will come" in
 * `test/http/transport.test.ts`.)
 */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Return value of `onIncoming` that stops the parser. */
const STOP_PARSING = 2;

/** Parser of a connection in Node 24's HTTP server. */
interface Parser {
  incoming: IncomingMessage | null;
  onIncoming: (() => number) | null;
}

/**
 * Discards all further bytes of a connection without parsing them. The rest of the current chunk can be 64 KiB with
 * thousands of requests, and Node has no public way to stop within it, so the parser is stopped at the next request
 * that it finds ("keeps little of thousands of requests that wait behind a stream" in `test/http/pipelining.test.ts`).
 * `removeAllListeners('data')` detaches the parser ("carries out what may wait on one connection" there). A pause would
 * be permanent, because the parser has stopped the socket's handle.
 */
function discardInput(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: Parser | null };
  if (parser) {
    parser.onIncoming = () => {
      // Keeps Node from destroying the connection if the request asks for an upgrade.
      parser.incoming = null;
      return STOP_PARSING;
    };
  }
  socket.removeAllListeners('data');
  socket.on('data', () => {});
}
