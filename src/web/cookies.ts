/**
 * Reads and sets cookies. Own code instead of `@fastify/cookie`, which silently takes the first of two cookies with one
 * name: a session cookie that arrives twice has to be refused, because another host of the same site may have planted one.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

/** The value of a cookie; null when there is none, or more than one. */
export function readCookie(headers: IncomingHttpHeaders, name: string): string | null {
  const beginning = `${name}=`;
  const found = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(beginning));
  return found.length === 1 ? (found[0] as string).slice(beginning.length) : null;
}

/** Where a cookie goes, and for how long; without a lifetime it ends with the browser's session. */
interface CookieScope {
  readonly path: string;
  readonly isSecure: boolean;
  /** 0 removes the cookie. */
  readonly lifetimeSeconds?: number | undefined;
}

/** Sets a cookie that no script can read and that no cross-site form sends. The value must need no encoding. */
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
