import type { FastifyRequest } from 'fastify';
import { DASHBOARD_PATH } from './sections.ts';

/** A path of the dashboard as this service writes them: nothing that a browser could take for another host. */
const ownPath = /^\/dashboard(?:\/[\w-]+)*(?:\?[\w\-.~%&=+:@!,]*)?$/;
const MAXIMUM_CHARACTERS = 500;

/** Where to go after signing in; the beginning where a text is no path of the dashboard. */
export function returnPathOf(text: string): string {
  return text.length <= MAXIMUM_CHARACTERS && ownPath.test(text) ? text : DASHBOARD_PATH;
}

/** The sign-in page, from which a page that was asked for is gone back to. */
export function signInPath(request: FastifyRequest): string {
  const path = request.method === 'GET' ? returnPathOf(request.url) : DASHBOARD_PATH;
  const query = path === DASHBOARD_PATH ? '' : `?next=${encodeURIComponent(path)}`;
  return `${DASHBOARD_PATH}/sign-in${query}`;
}
