import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';

/** How deep objects and arrays may be nested; the body itself is the first level. */
const MAXIMUM_DEPTH = 8;

/**
 * Makes a scope of the server read bodies of `application/json` only, as bytes; any other body is 400. The route
 * parses them: an error in a parser would close the caller's connection.
 */
export function acceptJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  server.addContentTypeParser('*', (_request, _payload, done) => {
    done(new ServiceError('invalid_request', 'The Content-Type must be application/json.'));
  });
}

/** The JSON object in a request's body. Throws `invalid_request` when there is none. */
export function readJsonObject(request: FastifyRequest): Readonly<Record<string, unknown>> {
  requireUtf8Charset(request.headers['content-type']);
  return parseJsonObject(request.body instanceof Buffer ? request.body : Buffer.alloc(0));
}

function parseJsonObject(body: Buffer): Readonly<Record<string, unknown>> {
  const text = body.toString('utf8');
  // What is no UTF-8 has become this character, which may also be meant. Looking for it is cheaper than the other question.
  if (text.includes('\ufffd') && !isUtf8(body)) {
    throw new ServiceError('invalid_request', 'The body must be UTF-8.');
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new ServiceError('invalid_request', 'The body must be valid JSON.');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new ServiceError('invalid_request', 'The body must be a JSON object.');
  }
  requireHarmless(parsed, 1);
  return parsed as Readonly<Record<string, unknown>>;
}

/** JSON is UTF-8; whoever says otherwise means other bytes than we would read. */
function requireUtf8Charset(contentType: string | undefined): void {
  if (contentType === undefined || contentType === 'application/json') return;
  const charset = /charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];
  if (charset === undefined || /^utf-?8$/i.test(charset)) return;
  throw new ServiceError('invalid_request', 'The body must be UTF-8.');
}

function requireHarmless(value: object, depth: number): void {
  if (depth > MAXIMUM_DEPTH) {
    throw new ServiceError('invalid_request', `The body must not be nested deeper than ${MAXIMUM_DEPTH}.`);
  }
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    const isPollution = key === '__proto__' || (key === 'constructor' && hasPrototype(inner));
    if (isPollution) throw new ServiceError('invalid_request', `The body must not have the key ${key}.`);
    if (typeof inner === 'object' && inner !== null) requireHarmless(inner, depth + 1);
  }
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}
