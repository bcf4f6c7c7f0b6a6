import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

/**
 * `session`: who is signed in. `visitor`: whose form it is, before anybody is. `browser`: that its user has signed in
 * with it before. `viewing`: which account an operator looks at.
 */
export type CookieName = 'session' | 'visitor' | 'browser' | 'viewing';

/** The browser keeps them for itself, for this host alone and, unless they are to last longer, until it is closed. */
export interface Cookies {
  /** Null when there is none, or more than one: another host of the same site may have added its own. */
  read(headers: IncomingHttpHeaders, name: CookieName): string | null;
  set(reply: FastifyReply, name: CookieName, value: string, lifetimeMs?: number): void;
  remove(reply: FastifyReply, name: CookieName): void;
}

/**
 * Over HTTPS a cookie's name begins with `__Host-`, by which browsers promise that no other host has set it. Over plain
 * HTTP, which is served on loopback only, they would not take it.
 *
 * @param prefix tells the areas apart: a browser does not tell ports apart
 */
export function createCookies(baseUrl: string, prefix: 'card_checkout' | 'card_checkout_operator'): Cookies {
  const isSecure = baseUrl.startsWith('https:');
  const nameOf = (name: CookieName) => `${isSecure ? '__Host-' : ''}${prefix}_${name}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read(headers, name) {
      const beginning = `${nameOf(name)}=`;
      const found = (headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(beginning));
      return found.length === 1 ? (found[0] as string).slice(beginning.length) : null;
    },
    set(reply, name, value, lifetimeMs) {
      const lasting = lifetimeMs === undefined ? '' : `; Max-Age=${Math.floor(lifetimeMs / 1000)}`;
      reply.header('set-cookie', `${nameOf(name)}=${value}; ${attributes}${lasting}`);
    },
    remove: (reply, name) => void reply.header('set-cookie', `${nameOf(name)}=; ${attributes}; Max-Age=0`),
  };
}
