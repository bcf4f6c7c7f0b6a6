import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A hook that carries out the requests of one connection one after the other. An answer may end the connection, and
 * what comes behind it is never answered then: it must not have made a payment. Nobody who waits for an answer before
 * they ask again waits for anything here.
 */
export function waitForTurn(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { socket } = request.raw;
  // What was said already was the last: nothing can be answered any more.
  if (socket.writableEnded) return;
  const current = answerInProgress(socket);
  if (current === undefined || current === reply.raw) done();
  // When one has finished, Node has given the connection to the next answer, or ended it.
  else current?.once('finish', () => waitForTurn(request, reply, done));
}

/** The answer that the connection belongs to; null for none, undefined where there is no real connection. */
function answerInProgress(socket: Socket): ServerResponse | null | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage;
}
