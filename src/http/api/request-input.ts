import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidField, ServiceError } from '../../domain/errors.ts';

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

/**
 * The same object, with this member as text where it is a number: its digits as they were written, without an exponent.
 * What the parser makes of them is rounded. Only then is the body parsed a second time.
 */
export function withNumberAsWritten(
  request: FastifyRequest,
  object: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> {
  if (typeof object[name] !== 'number') return object;
  return { ...object, [name]: plainDecimal(writtenNumber((request.body as Buffer).toString('utf8'), name)) };
}

/** The source text of a number that is a member of the outermost object; of several by one name, the last. */
function writtenNumber(text: string, name: string): string {
  const written = new Map<unknown, string>();
  const root: unknown = JSON.parse(text, function (this: unknown, key, value, context?: { source?: string }) {
    if (key === name && context?.source !== undefined) written.set(this, context.source);
    return value;
  });
  return written.get(root) as string;
}

/** An exponent beyond this makes no amount, and its zeros are not written out. */
const MAXIMUM_EXPONENT = 20;

/** "100" of "1e2", "10.05" of "1.005e1"; every digit that was written stays. */
export function plainDecimal(number: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(number);
  if (match === null) return number;
  const [, sign = '', whole = '', fraction = '', exponentText = ''] = match;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > MAXIMUM_EXPONENT) return number;
  const digits = `${'0'.repeat(Math.max(0, -exponent))}${whole}${fraction}`;
  const point = Math.max(0, -exponent) + whole.length + exponent;
  const padded = digits.padEnd(point, '0');
  const integer = padded.slice(0, point).replace(/^0+(?=\d)/, '');
  return `${sign}${integer}${point < padded.length ? `.${padded.slice(point)}` : ''}`;
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

/** The parameters of a query string, each given once. */
export type QueryParameters = Readonly<Record<string, string>>;

/** Of every URL without a query. */
export const noParameters: QueryParameters = Object.freeze(Object.create(null));
const plainUrl = /^[\x21-\x7e]*$/;

/**
 * The query parameters of a request's raw URL, strictly: a parameter given twice, bytes that are not UTF-8 and
 * broken percent-encoding are `invalid_request`, where lenient parsers guess.
 */
export function parseQuery(url: string): QueryParameters {
  const start = url.indexOf('?');
  if (start === -1) return noParameters;
  if (!plainUrl.test(url)) {
    throw new ServiceError('invalid_request', 'The query must be percent-encoded UTF-8.');
  }
  const parameters: Record<string, string> = Object.create(null);
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const separator = pair.indexOf('=');
    const name = decode(separator === -1 ? pair : pair.slice(0, separator));
    if (name in parameters) throw invalidField(nameable(name), 'must be given only once');
    if (name === '__proto__')
      throw new ServiceError('invalid_request', 'The query must not have the key __proto__.');
    parameters[name] = separator === -1 ? '' : decode(pair.slice(separator + 1));
  }
  return parameters;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new ServiceError('invalid_request', 'The query must be percent-encoded UTF-8.');
  }
}

/** A name that may be repeated to the caller: an unknown one could be anything, also a secret. */
function nameable(name: string): string {
  return /^[A-Za-z_]{1,32}$/.test(name) ? name : 'A query parameter';
}

/**
 * A parameter of a request, said once: the parser takes its limits and patterns from here, and the OpenAPI document
 * publishes the same.
 */
export interface RequestParameter {
  readonly isRequired: boolean;
  /** Whether `null` in JSON means the same as leaving it out. */
  readonly isNullable: boolean;
  /** JSON Schema of a value that is there, as it stands in a JSON body. */
  readonly schema: ParameterSchema;
  /** The same in a query, where there is only text; left out where nothing differs. */
  readonly querySchema?: ParameterSchema;
  /**
   * What counts where it is absent. Not the keyword of the schema: generators of clients take that for a promise that the
   * field is always there.
   */
  readonly default?: string | boolean;
  /** One or two sentences, in Markdown. */
  readonly description: string;
  readonly example: string | boolean;
}

/** What of JSON Schema (2020-12) the parameters need. */
export interface ParameterSchema {
  readonly type?: 'string' | 'number' | 'boolean';
  readonly pattern?: string;
  readonly not?: { readonly pattern: string };
  readonly minLength?: number;
  /** In code points, as JSON Schema counts. */
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly format?: 'email' | 'uuid';
  readonly anyOf?: readonly ParameterSchema[];
}
