import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidField, ServiceError } from '../payment/errors.ts';
import type { RequestParameters } from './json-schema.ts';

/** Maximum nesting of objects and arrays; the body is the first level. */
const MAXIMUM_DEPTH = 8;

/** Accepts only `application/json`. Keeps the body as bytes, because a parser's error would close the connection. */
export function acceptJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  server.addContentTypeParser('*', ({ headers }, _payload, done) => {
    // Some clients send an empty body with the content type of a form.
    if (headers['content-length'] === '0') done(null, null);
    else done(new ServiceError('invalid_request', 'The Content-Type must be application/json.'));
  });
}

/**
 * Parses the JSON object in a request's body. Throws `invalid_request` if there is none. Returns a number in the member
 * `asWritten` as text with its original digits, because `JSON.parse` would round them.
 */
export function readJsonObject(
  request: FastifyRequest,
  asWritten?: string,
): Readonly<Record<string, unknown>> {
  requireUtf8Charset(request.headers['content-type']);
  const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
  const object = parseJsonObject(body);
  if (asWritten === undefined || typeof object[asWritten] !== 'number') return object;
  const sourceOf = (_key: string, value: unknown, { source = '' }: { readonly source?: string }) =>
    typeof value === 'number' ? source : value;
  // TypeScript's types lack the reviver's third parameter.
  const written = JSON.parse(body.toString('utf8'), sourceOf as never);
  return { ...object, [asWritten]: plainDecimal(written[asWritten]) };
}

/** Maximum exponent to expand. No valid amount has a larger one, and the limit keeps the text short. */
const MAXIMUM_EXPONENT = 20;
const ZEROS = '0'.repeat(MAXIMUM_EXPONENT);

/** Expands an exponent: "1e2" to "100", "1.005e1" to "10.05". Keeps every digit. */
export function plainDecimal(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = ''] =
    /^(-?)(\d+)(?:\.(\d+))?e([+-]?\d+)$/i.exec(number) ?? [];
  const shift = Number(exponent);
  if (whole === '' || Math.abs(shift) > MAXIMUM_EXPONENT) return number;
  const digits = ZEROS + whole + fraction + ZEROS;
  const point = MAXIMUM_EXPONENT + whole.length + shift;
  const decimals = digits.slice(point, point + Math.max(0, fraction.length - shift));
  return `${sign}${digits.slice(0, point).replace(/^0+(?=\d)/, '')}${decimals && `.${decimals}`}`;
}

function parseJsonObject(body: Buffer): Readonly<Record<string, unknown>> {
  const text = body.toString('utf8');
  // Invalid UTF-8 decodes to this character, which valid text may also contain. Searching for it is cheaper than
  // validating every body.
  if (text.includes('\ufffd') && !isUtf8(body)) {
    throw new ServiceError('invalid_request', 'The body must be UTF-8, without compression.');
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    const problem = text.startsWith('\ufeff')
      ? 'not begin with a byte order mark (EF BB BF): encode it as UTF-8 without one'
      : 'be valid JSON';
    throw new ServiceError('invalid_request', `The body must ${problem}.`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new ServiceError('invalid_request', 'The body must be a JSON object.');
  }
  requireHarmless(parsed, 1);
  return parsed as Readonly<Record<string, unknown>>;
}

/** Refuses other charsets, which would be misread as UTF-8. */
function requireUtf8Charset(contentType: string | undefined): void {
  if (contentType === undefined || contentType === 'application/json') return;
  const charset = /charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];
  if (charset === undefined || /^utf-?8$/i.test(charset)) return;
  throw new ServiceError('invalid_request', 'The body must be UTF-8.');
}

function requireHarmless(value: object, depth: number): void {
  if (depth > MAXIMUM_DEPTH) {
    throw new ServiceError(
      'invalid_request',
      `The body must not be nested more than ${MAXIMUM_DEPTH} levels deep.`,
    );
  }
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    const isObject = typeof inner === 'object' && inner !== null;
    const isPollution =
      key === '__proto__' || (key === 'constructor' && isObject && Object.hasOwn(inner, 'prototype'));
    if (isPollution) throw new ServiceError('invalid_request', `The body must not have the key ${key}.`);
    if (isObject) requireHarmless(inner, depth + 1);
  }
}

/** Parameters of a query string, each given once. */
export type QueryParameters = Readonly<Record<string, string>>;

const plainUrl = /^[\x21-\x7e]*$/;

/** Parses the query of a raw URL. Throws `invalid_request` where lenient parsers would guess. */
export function parseQuery(url: string): QueryParameters {
  const start = url.indexOf('?');
  const parameters: Record<string, string> = Object.create(null);
  if (start === -1) return parameters;
  if (!plainUrl.test(url)) {
    throw new ServiceError('invalid_request', 'The query must be percent-encoded UTF-8.');
  }
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

/** Returns a parameter's name for an error. Hides it unless it looks like a name, because it could be a secret. */
function nameable(name: string): string {
  return /^[A-Za-z_]{1,32}$/.test(name) ? name : 'A parameter';
}

export const queryOf = ({ raw }: FastifyRequest): QueryParameters => parseQuery(raw.url ?? '');

/** Throws `invalid_request` for an unknown parameter, because a misspelled one would otherwise be ignored. */
export function requireKnown(
  given: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, unknown>>,
): void {
  const name = Object.keys(given).find((each) => !Object.hasOwn(known, each));
  if (name !== undefined) throw invalidField(nameable(name), 'is not known here');
}

/** Throws `invalid_request` if there are query parameters. */
export function requireNoQuery(request: FastifyRequest): void {
  requireKnown(queryOf(request), {});
}

/** Throws `invalid_request` if there are parameters. Accepts `[]`, PHP's encoding of an empty array. */
export function requireNoParameters(request: FastifyRequest): void {
  const isEmpty =
    request.body instanceof Buffer && /^\s*(\[\s*\]\s*)?$/.test(request.body.toString('latin1'));
  if (!isEmpty) readParameters(request, {});
  requireNoQuery(request);
}

/** Reads the body's members as text. Throws `invalid_request` for unknown and missing ones, and for a query. */
export function readParameters<Known extends RequestParameters>(request: FastifyRequest, known: Known) {
  const isEmpty = request.body === undefined || request.body === null;
  const body = isEmpty ? {} : readJsonObject(request);
  requireNoQuery(request);
  requireKnown(body, known);
  const read = Object.entries(known).map(([name, { isRequired }]) => {
    const value = body[name] ?? undefined;
    if (value === undefined && isRequired) throw invalidField(name, 'is required');
    if (value !== undefined && typeof value !== 'string') throw invalidField(name, 'must be text');
    return [name, value];
  });
  return Object.fromEntries(read) as {
    readonly [Name in keyof Known]: Known[Name]['isRequired'] extends true ? string : string | undefined;
  };
}
