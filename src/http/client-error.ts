import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorName } from '../domain/errors.ts';
import { rawError } from './error-reply.ts';

const names: Readonly<Record<string, ErrorName>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Connections on which something was refused: what else comes on them is not looked at. */
const refused = new WeakSet<Socket>();

/**
 * Answers what the HTTP parser refused, in our shape, and closes the connection. Requests that came whole before it
 * get their answers first: answers have no names, and the caller would take ours for that to the request before,
 * a payment made for an error.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || refused.has(socket)) return;
  refused.add(socket);
  // Its parser is of no more use, and would refuse each further byte anew.
  socket.pause();
  refuse(error, socket);
}

function refuse(error: Error & { code?: string }, socket: Socket): void {
  const current = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
  if (current?.req.complete === true && !current.writableFinished) {
    // The next answer, if there is one, has taken its place by then.
    current.once('finish', () => refuse(error, socket));
    return;
  }
  // A request may have been answered before all of it was there: anything written into that would be taken for a part.
  const isAnswering = current?.headersSent === true;
  if (socket.writable && !isAnswering) {
    const { status, headers, body } = rawError(names[error.code ?? ''] ?? 'invalid_request');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  }
  socket.destroySoon();
}

/**
 * Answers CONNECT, whose connection Node would cut off, with the answers to earlier requests on it. By then it has
 * taken its own listeners from the connection, also that for errors.
 */
export function answerConnect(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  answerClientError(new Error('CONNECT is not served'), socket as Socket);
}

/**
 * Answers an `Expect` header we do not know; Node itself would answer 417 without a body. The connection stays: a
 * request that came behind this one is carried out all the same, and has to get its answer.
 */
export function answerUnknownExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, body } = rawError('invalid_request');
  const { connection: _, ...others } = headers;
  response.writeHead(status, others).end(body);
}
