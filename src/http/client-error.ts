import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorName } from '../domain/errors.ts';
import { rawError } from './error-reply.ts';

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
  // The parser, which has given up.
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.on('error', () => {});
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Answers to what never becomes a request with a reply object. */
export interface ClientErrorAnswers {
  /** To what the HTTP parser refused, in our shape; closes the connection. */
  readonly answer: (error: Error & { code?: string }, socket: Socket) => void;
  /** To an `Expect` header we do not know; Node itself would answer 417 without a body. */
  readonly answerUnknownExpectation: (request: IncomingMessage, response: ServerResponse) => void;
}

/** @param isHttpsOnly whether callers reach the server by HTTPS only, so that browsers may be told to insist on it */
export function createClientErrorAnswers(options: { readonly isHttpsOnly: boolean }): ClientErrorAnswers {
  return {
    answer(error, socket) {
      if (error.code === 'ECONNRESET' || socket.destroyed) return;
      // An earlier request of the connection may be in the middle of its answer: anything written now would be taken
      // for a part of it.
      const current = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage;
      const isAnswering = current?.headersSent === true;
      if (socket.writable && !isAnswering) {
        const { status, headers, body } = rawError(names[error.code ?? ''] ?? 'invalid_request', options);
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
        closeReadably(socket);
      } else socket.destroySoon();
    },
    answerUnknownExpectation(_request, response) {
      const { status, headers, body } = rawError('invalid_request', options);
      response.writeHead(status, headers).end(body);
    },
  };
}
