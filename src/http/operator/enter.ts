import type { FastifyReply, FastifyRequest } from 'fastify';
import { readSession } from '../../accounts/read-session.ts';
import { hasSecondFactor } from '../../accounts/second-factor.ts';
import { addressGroupOf } from '../address-group.ts';
import { formTokenOf } from '../dashboard/form-token.ts';
import { sendSeeOther } from '../dashboard/page-headers.ts';
import { signInPath } from '../dashboard/return-path.ts';
import type { OperatorRoutes } from './context.ts';
import type { OperatorVisit } from './visit.ts';

/** Who has come in, or the answer to who may not. */
export type Entry = { readonly visit: OperatorVisit } | { readonly answered: FastifyReply };

/** Where the way in goes on after the password. */
const pages = { second_factor: 'second-factor', set_up: 'set-up' } as const;

/** Lets operators in who have signed in, in live mode by a second factor. */
export async function enter(
  { context, cookies, area, isSecondFactorRequired }: OperatorRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Entry> {
  const token = cookies.read(request.headers, 'session');
  const signedIn = token === null ? null : await readSession(context, token, area.name);
  // Whoever has switched it off since signs in anew, and sets it up again.
  const isUnproven =
    isSecondFactorRequired &&
    signedIn?.session.stage === 'open' &&
    !(await hasSecondFactor(context, signedIn.user));
  if (token === null || signedIn === null || isUnproven) {
    if (token !== null) cookies.remove(reply, 'session');
    return { answered: sendSeeOther(reply, signInPath(area, request)) };
  }
  if (signedIn.session.stage !== 'open') {
    return { answered: sendSeeOther(reply, `${area.path}/${pages[signedIn.session.stage]}`) };
  }
  const visit = {
    ...signedIn,
    actor: { name: signedIn.user.email, userId: signedIn.user.id, address: addressGroupOf(request.ip) },
    formToken: formTokenOf(token),
    params: request.params as Record<string, string>,
    query: new URL(request.url, 'http://localhost').searchParams,
  };
  return { visit };
}
