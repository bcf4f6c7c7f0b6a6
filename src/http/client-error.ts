import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorName } from '../domain/errors.ts';
import { rawError, rawErrorText } from './error-reply.ts';
import { closeAfterLastResponse, currentResponse, discardInput } from './node-internals.ts';

const names: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'payload_too_large',
};

/** How long further bytes of the caller are read and discarded, so that the caller can read the reason. */
const LINGER_MS = 2_000;

/**
 * Closes a connection on which the caller may still be sending. Closing it with unread bytes would reset it, and the
 * response under way would be lost.
 */
function closeReadably(socket: Socket): void {
  socket.on('error', () => {});
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

export type ClientErrorAnswers = ReturnType<typeof createClientErrorAnswers>;

/**
 * Answers for requests that never get a reply object.
 *
 * @param isHttpsOnly whether callers reach the server by HTTPS only, so that the answers may set
 * Strict-Transport-Security
 */
export function createClientErrorAnswers(options: { readonly isHttpsOnly: boolean }) {
  /** Connections on which a request was refused. Later bytes on them are not parsed. */
  const refused = new WeakSet<Socket>();

  /**
   * Answers a request that the HTTP parser refused, in the API's error shape, and closes the connection. Requests that
   * arrived whole before this one are answered first. HTTP/1.1 answers carry no identifier: the caller would match this
   * error to the previous request, and take a payment for an error.
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
      // By then the next answer, if there is one, owns the connection.
      current.once('finish', () => refuse(error, socket));
      return;
    }
    // A request may have been answered before all of it arrived. Bytes written now would become part of that answer.
    const isAnswering = current?.headersSent === true;
    if (!socket.writable || isAnswering) {
      socket.destroySoon();
      return;
    }
    socket.write(rawErrorText(names[error.code ?? ''] ?? 'invalid_request', options));
    closeReadably(socket);
  }

  return {
    answer,
    /** Answers CONNECT. Node would cut off the connection together with the answers to earlier requests on it. */
    answerConnect(_request: IncomingMessage, socket: Duplex): void {
      // By now Node has removed its own listeners from the connection, including the one for errors.
      socket.on('error', () => socket.destroy());
      answer(new Error('CONNECT is not served'), socket as Socket);
    },
    /**
     * Answers an unknown `Expect` header. Node itself would answer 417 without a body. The connection stays open: a
     * request that follows on it is carried out and has to get its answer.
     */
    answerUnknownExpectation(_request: IncomingMessage, response: ServerResponse): void {
      const { status, headers, body } = rawError('invalid_request', options);
      const { connection: _, ...others } = headers;
      response.writeHead(status, others).end(body);
    },
    /**
     * Answers a request with more requests pending on its connection than allowed. The pending answers go out first.
     * Later bytes are not parsed, and the connection is closed.
     */
    answerTooManyWaiting({ socket }: IncomingMessage, response: ServerResponse): void {
      refused.add(socket);
      discardInput(socket);
      closeAfterLastResponse(socket, closeReadably);
      const text = 'Too many requests are waiting on this connection.';
      const { status, headers, body } = rawError('rate_limited', options, text);
      response.writeHead(status, { ...headers, 'retry-after': '1' }).end(body);
    },
  };
}
