import type { FastifyRequest } from 'fastify';
import type { Area } from './area.ts';

/** What follows an area's path, as this service writes it: nothing that a browser could take for another host. */
const ownEnd = /^(?:\/[\w-]+)*(?:\?[\w\-.~%&=+:@!,]*)?$/;
const MAXIMUM_CHARACTERS = 500;

/** Where to go after signing in; the beginning where a text is no path of the area. */
export function returnPathOf({ path }: Area, text: string): string {
  const isOwn =
    text.length <= MAXIMUM_CHARACTERS && text.startsWith(path) && ownEnd.test(text.slice(path.length));
  return isOwn ? text : path;
}

/** The sign-in page, from which a page that was asked for is gone back to. */
export function signInPath(area: Area, request: FastifyRequest): string {
  const path = request.method === 'GET' ? returnPathOf(area, request.url) : area.path;
  const query = path === area.path ? '' : `?next=${encodeURIComponent(path)}`;
  return `${area.path}/sign-in${query}`;
}
