/** Replaces `@fastify/cookie`, which accepts the first of two cookies of one name. Another host may have set it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

export function readCookie(headers: IncomingHttpHeaders, name: string): string | null {
  const beginning = `${name}=`;
  const found = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(beginning));
  return found.length === 1 ? (found[0] as string).slice(beginning.length) : null;
}

/** Without a lifetime, the cookie ends with the browser's session. */
interface CookieScope {
  readonly path: string;
  readonly isSecure: boolean;
  readonly lifetimeSeconds?: number | undefined;
}

/** Sets an HttpOnly cookie that browsers omit from cross-site POST requests. The value must not need encoding. */
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
