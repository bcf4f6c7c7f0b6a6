import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorName } from '../domain/errors.ts';
import { rawError } from './error-reply.ts';
import { closeAfterLastResponse, currentResponse, discardInput } from './node-internals.ts';

const names: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
};

/** How long what a caller still sends is read and thrown away, so that they can read why. */
const LINGER_MS = 2_000;

/**
 * Closes a connection on which the other side may still be sending. Closed with unread bytes on it, it would be
 * reset, and the answer that is on its way lost.
 */
function closeReadably(socket: Socket): void {
  socket.on('error', () => {});
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Answers to what never becomes a request with a reply object. */
export interface ClientErrorAnswers {
  /** To what the HTTP parser refused, in our shape; closes the connection. */
  readonly answer: (error: Error & { code?: string }, socket: Socket) => void;
  /** To CONNECT, whose connection Node would cut off with the answers to earlier requests on it. */
  readonly answerConnect: (request: IncomingMessage, socket: Duplex) => void;
  /**
   * To an `Expect` header we do not know; Node itself would answer 417 without a body. The connection stays: a request
   * that came behind this one is carried out all the same, and has to get its answer.
   */
  readonly answerUnknownExpectation: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * To a request with more before it on its connection than may wait. The answers that are due go out first; what comes
   * behind is not looked at, and the connection is closed.
   */
  readonly answerTooManyWaiting: (request: IncomingMessage, response: ServerResponse) => void;
}

/** @param isHttpsOnly whether callers reach the server by HTTPS only, so that browsers may be told to insist on it */
export function createClientErrorAnswers(options: { readonly isHttpsOnly: boolean }): ClientErrorAnswers {
  /** Connections on which something was refused: what else comes on them is not looked at. */
  const refused = new WeakSet<Socket>();

  /**
   * Requests that came whole before it get their answers first: answers have no names, and the caller would take ours
   * for that to the request before, a payment made for an error.
   */
  function answer(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === 'ECONNRESET' || socket.destroyed || refused.has(socket)) return;
    refused.add(socket);
    discardInput(socket);
    refuse(error, socket);
  }

  function refuse(error: Error & { code?: string }, socket: Socket): void {
    const current = currentResponse(socket);
    if (current?.req.complete === true && !current.writableFinished) {
      // The next answer, if there is one, has taken its place by then.
      current.once('finish', () => refuse(error, socket));
      return;
    }
    // A request may have been answered before all of it was there: anything written into that would be taken for a
    // part of it.
    const isAnswering = current?.headersSent === true;
    if (!socket.writable || isAnswering) {
      socket.destroySoon();
      return;
    }
    const { status, headers, body } = rawError(names[error.code ?? ''] ?? 'invalid_request', options);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
    closeReadably(socket);
  }

  return {
    answer,
    answerConnect(_request, socket) {
      // By now Node has taken its own listeners from the connection, also that for errors.
      socket.on('error', () => socket.destroy());
      answer(new Error('CONNECT is not served'), socket as Socket);
    },
    answerUnknownExpectation(_request, response) {
      const { status, headers, body } = rawError('invalid_request', options);
      const { connection: _, ...others } = headers;
      response.writeHead(status, others).end(body);
    },
    answerTooManyWaiting({ socket }, response) {
      refused.add(socket);
      discardInput(socket);
      closeAfterLastResponse(socket, closeReadably);
      const text = 'Too many requests are waiting on this connection.';
      const { status, headers, body } = rawError('rate_limited', options, text);
      response.writeHead(status, headers).end(body);
    },
  };
}
