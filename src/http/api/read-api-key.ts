import type { IncomingMessage } from 'node:http';
import { API_KEY_PREFIX, looksLikeApiKey } from '../../domain/api-key.ts';

/**
 * The API key of a request, or null when it is missing, malformed, sent twice, or sent where it does not belong.
 *
 * The raw headers are read, because Node keeps only the first `Authorization` and joins repeated `X-API-Key`: the
 * specification wants exactly one of them.
 */
export function readApiKey({
  rawHeaders,
  url = '',
}: Pick<IncomingMessage, 'rawHeaders' | 'url'>): string | null {
  let key: string | null = null;
  let headers = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    // The lengths decide nearly always, without making a lower-case copy.
    if (name.length === 13 && name.toLowerCase() === 'authorization') {
      headers++;
      key = bearerToken(rawHeaders[index + 1] as string);
    } else if (name.length === 9 && name.toLowerCase() === 'x-api-key') {
      headers++;
      key = rawHeaders[index + 1] as string;
    }
  }
  // A key in the query ends up in the logs of every proxy: refused even when a good one is in a header.
  if (headers !== 1 || key === null || url.includes(API_KEY_PREFIX)) return null;
  return looksLikeApiKey(key) ? key : null;
}

const BEARER = 'bearer ';

/** What stands behind `Bearer`, in any case, and any number of spaces; null for another scheme. */
function bearerToken(authorization: string): string | null {
  if (authorization.slice(0, BEARER.length).toLowerCase() !== BEARER) return null;
  let start = BEARER.length;
  while (authorization[start] === ' ') start++;
  return authorization.slice(start);
}
