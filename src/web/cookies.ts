/**
 * Reads and sets cookies. `@fastify/cookie` silently takes the first of two cookies with one name; a duplicate session
 * cookie has to be refused, because another host of the same site may have planted one.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Value of a cookie; null if it is missing or repeated. */
export function readCookie(headers: IncomingHttpHeaders, name: string): string | null {
  const beginning = `${name}=`;
  const found = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(beginning));
  return found.length === 1 ? (found[0] as string).slice(beginning.length) : null;
}

/** Path and lifetime of a cookie; without a lifetime it ends with the browser's session. */
interface CookieScope {
  readonly path: string;
  readonly isSecure: boolean;
  /** 0 removes the cookie. */
  readonly lifetimeSeconds?: number | undefined;
}

/** Sets an HttpOnly cookie that no cross-site form sends. The value must need no encoding. */
export function setCookie(
  reply: FastifyReply,
  name: string,
  value: string,
  { path, isSecure, lifetimeSeconds }: CookieScope,
): void {
  const lifetime = lifetimeSeconds === undefined ? '' : `; Max-Age=${lifetimeSeconds}`;
  const secure = isSecure ? '; Secure' : '';
  void reply.header(
    'set-cookie',
    `${name}=${value}; Path=${path}${lifetime}; HttpOnly; SameSite=Lax${secure}`,
  );
}
