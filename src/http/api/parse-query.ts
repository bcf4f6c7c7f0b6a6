import { invalidField, ServiceError } from '../../domain/errors.ts';

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
