import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorName, ServiceError } from '../payment/errors.ts';
import { rawError, rawErrorText } from './error-reply.ts';

/** Maximum number of requests that wait on one connection behind the one in progress. */
export const MAX_PIPELINED_WAITING = 16;

/** How long further bytes of a refused caller are read and discarded, so that the caller can read the reason. */
const LINGER_MS = 2_000;

const errorNames: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
};

/** The requests of one connection. */
interface Pipeline {
  /** Response to the request in progress, or to the last one. */
  current: ServerResponse;
  /** Response to the newest request. */
  newest: ServerResponse;
  waiting: number;
}

export type Connections = ReturnType<typeof createConnections>;

/**
 * What Node's own limits do not do for a connection. Its requests run one after the other, so that none behind an answer
 * that ends the connection is carried out ("carries out nothing that comes behind an answer which ends the connection" in
 * `test/http/transport.test.ts`). Requests that the parser refuses, and pipelined ones beyond `MAX_PIPELINED_WAITING`, get
 * an answer in the API's error shape, behind the answers that are due ("answers a create before what is wrong behind it on
 * its connection" there, and `test/http/pipelining.test.ts`).
 *
 * @param isHttpsOnly whether callers reach the server by HTTPS only, so that the answers may set
 * Strict-Transport-Security
 */
export function createConnections({ isHttpsOnly }: { readonly isHttpsOnly: boolean }) {
  const pipelines = new WeakMap<Socket, Pipeline>();
  /** Connections on which a request was refused. Later bytes on them are not parsed. */
  const refused = new WeakSet<Socket>();

  /**
   * Writes the reason once the requests before are answered, and closes the connection. HTTP/1.1 answers carry no
   * identifier: the caller would match this error to the previous request, and take a payment for an error.
   */
  function refuse(socket: Socket, error: ServiceError): void {
    const current = pipelines.get(socket)?.current;
    const isPending = current !== undefined && !isDone(current);
    if (isPending && current.req.complete) {
      // By then the next request, if there is one, is in progress.
      current.once('finish', () => refuse(socket, error));
    } else if (!socket.writable || (isPending && current.headersSent)) {
      // Bytes written now would become part of the answer to a request that has not arrived whole.
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
     * Wraps a request listener so that the requests of one connection run one after the other. A caller that waits for
     * each answer before the next request never waits here. The work for a request does not grow with the number of
     * waiting ones, because each waits for its own predecessor.
     */
    serialize(serve: RequestListener): RequestListener {
      return (request, response) => {
        const { socket } = request;
        // The last response of the connection has already been sent.
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
        // Node's own listener runs first: by then it has assigned the connection to this response, or ended it.
        predecessor.once('finish', () => {
          pipeline.waiting--;
          if (socket.writableEnded) return;
          pipeline.current = response;
          serve(request, response);
        });
      };
    },
    /** Answers a request that the HTTP parser refused. */
    refuseUnparsed(error: Error & { code?: string }, socket: Socket): void {
      if (error.code === 'ECONNRESET') return;
      refuseOnce(socket, new ServiceError(errorNames[error.code ?? ''] ?? 'invalid_request'));
    },
    /** Answers CONNECT. Node would cut off the connection together with the answers to earlier requests on it. */
    refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
      // By now Node has removed its own listeners from the connection, including the one for errors.
      socket.on('error', () => socket.destroy());
      refuseOnce(socket as Socket, new ServiceError('invalid_request'));
    },
    /**
     * Answers an unknown `Expect` header. Node itself would answer 417 without a body. The connection stays open: a
     * request that follows on it is carried out and has to get its answer.
     */
    answerUnknownExpectation(_request: IncomingMessage, response: ServerResponse): void {
      const { status, headers, body } = rawError(new ServiceError('invalid_request'), isHttpsOnly);
      const { connection: _, ...others } = headers;
      response.writeHead(status, others).end(body);
    },
  };
}

/** Whether Node has detached a response: only then has it ended a connection that the response closes. */
function isDone(response: ServerResponse): boolean {
  return response.writableEnded && response.socket === null;
}

/**
 * Closes a connection on which the caller may still be sending. Closing it with unread bytes would reset it, and the
 * answers under way would be lost ("answers a caller who goes on sending" in `test/http/transport.test.ts`).
 */
function closeReadably(socket: Socket): void {
  socket.on('error', () => {});
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

// The two functions below use what Node's documentation does not promise. The named tests fail when an upgrade changes it.

/**
 * Answers callers that have closed their half of the connection. Node would close the connection by default, and the
 * service would store a payment whose caller never learns of it. The property `httpAllowHalfOpen` has existed since
 * Node 0.x; neither the documentation nor the types have it. ("answers a caller who has said that no more will come" in
 * `test/http/transport.test.ts`.)
 */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** The return value of `onIncoming` for a request that leaves HTTP: the parser reads no further. */
const STOP_PARSING = 2;

/** The parser of a connection of Node 24's HTTP server. */
interface Parser {
  incoming: IncomingMessage | null;
  onIncoming: (() => number) | null;
}

/**
 * Reads and discards all further bytes of a connection, without parsing them. The rest of a chunk that is being parsed
 * is up to 64 KiB, thousands of requests, and Node has no public way to stop in the middle of it: the next request that
 * the parser finds there ends its work ("keeps little of thousands of requests that wait behind a stream" in
 * `test/http/pipelining.test.ts`). `removeAllListeners('data')` takes the parser away from the socket ("carries out what
 * may wait on one connection" there). Pausing would be for good: the parser has stopped the handle behind the socket.
 */
function discardInput(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: Parser | null };
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
