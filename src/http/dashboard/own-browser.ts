import type { FastifyReply, FastifyRequest } from 'fastify';
import { BROWSER_MARK_MS, knownBrowser, markBrowser } from '../../accounts/known-browsers.ts';
import { hashSecretToken } from '../../accounts/secret-token.ts';
import { parseUserEmail } from '../../domain/person.ts';
import { requirePassing } from '../rate-limit.ts';
import { callerOf } from './caller.ts';
import type { AreaContext, AreaRoutes } from './context.ts';
import type { Cookies } from './cookies.ts';

/** Makes the browser known as one of the user with this address. */
export function rememberBrowser(
  {
    context,
    cookies,
  }: { readonly context: Pick<AreaContext, 'browsers' | 'nowMs'>; readonly cookies: Cookies },
  reply: FastifyReply,
  email: string,
): void {
  cookies.set(reply, 'browser', markBrowser(context.browsers, email, context.nowMs()), BROWSER_MARK_MS);
}

/** Whether the user with this address has signed in with the browser before. */
export function isKnownBrowser(
  { context, cookies }: Pick<AreaRoutes, 'context' | 'cookies'>,
  request: FastifyRequest,
  email: string,
): boolean {
  const mark = cookies.read(request.headers, 'browser');
  return mark !== null && knownBrowser(context.browsers, mark, email, context.nowMs()) !== null;
}

/** How somebody stands who tries to sign in. */
interface Try {
  /** Whether this user has signed in with the browser before. */
  readonly isKnownBrowser: boolean;
  /** For which a browser that is not known is asked for more than the password; 0 where it may go on. */
  readonly waitSeconds: number;
}

/**
 * Counts a try to sign in, by what was typed, whether there is such a user or not. A browser that is known counts for
 * itself alone, so that no stranger's tries stand in its way, from its own address neither. Throws `rate_limited` where
 * nobody could be typing.
 */
export async function countSignIn(
  { context, cookies }: AreaRoutes,
  request: FastifyRequest,
  typedEmail: string,
): Promise<Try> {
  const { limits, browsers, nowMs } = context;
  const { address } = callerOf(request);
  const email = parseUserEmail(typedEmail);
  const mark = cookies.read(request.headers, 'browser');
  const browser = mark === null || email === null ? null : knownBrowser(browsers, mark, email, nowMs());
  const user = hashSecretToken(email ?? typedEmail.trim().toLowerCase());
  if (browser === null) await requirePassing(limits.signInsOfAddress, address);
  await requirePassing(limits.signInsOfUser, `${user} ${browser ?? address}`);
  const waitSeconds = browser === null ? await limits.strangersOfUser.take(user) : 0;
  return { isKnownBrowser: browser !== null, waitSeconds };
}
