import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorName } from '../domain/errors.ts';
import { rawError } from './error-reply.ts';

const names: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Answers what the HTTP parser refused, in our shape, and closes the connection. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // An earlier request of the connection may be in the middle of its answer: anything written now would be taken
  // for a part of it.
  const current = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage;
  const isAnswering = current?.headersSent === true;
  if (socket.writable && !isAnswering) {
    const { status, headers, body } = rawError(names[error.code ?? ''] ?? 'invalid_request');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  }
  socket.destroySoon();
}

/** Answers an `Expect` header we do not know; Node itself would answer 417 without a body. */
export function answerUnknownExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, body } = rawError('invalid_request');
  response.writeHead(status, headers).end(body);
}
