import type { FastifyReply, FastifyRequest } from 'fastify';
import { readChosenAccount, readSession } from '../../accounts/read-session.ts';
import { ServiceError } from '../../domain/errors.ts';
import { type Role, roleIncludes } from '../../domain/person.ts';
import { addressGroupOf } from '../address-group.ts';
import { html } from '../design/html.ts';
import type { DashboardRoutes } from './context.ts';
import { formTokenField, formTokenOf } from './form-token.ts';
import { plainPage } from './layout.ts';
import { sendDashboardPage, sendSeeOther } from './page-headers.ts';
import { signInPath } from './return-path.ts';
import { DASHBOARD_PATH } from './sections.ts';
import type { Entry, Visit } from './visit.ts';

/** Lets members of an account in. */
export async function enter(
  { context, cookies, area }: Omit<DashboardRoutes, 'enter'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Entry> {
  const token = cookies.read(request.headers, 'session');
  const signedIn = token === null ? null : await readSession(context, token, area.name);
  if (token === null || signedIn === null) {
    if (token !== null) cookies.remove(reply, 'session');
    return { answered: sendSeeOther(reply, signInPath(area, request)) };
  }
  if (signedIn.session.stage !== 'open') {
    return { answered: sendSeeOther(reply, `${DASHBOARD_PATH}/second-factor`) };
  }
  const chosen = await readChosenAccount(context, signedIn);
  const formToken = formTokenOf(token);
  if (chosen === null) return { answered: sendNoAccount(context.isSandbox, reply, formToken) };
  const visit = {
    ...signedIn,
    ...chosen,
    actor: { name: signedIn.user.email, userId: signedIn.user.id, address: addressGroupOf(request.ip) },
    formToken,
    params: request.params as Record<string, string>,
    query: new URL(request.url, 'http://localhost').searchParams,
    timeZone: chosen.account.timeZone,
    viewing: null,
  };
  return { visit };
}

export function requireRole(visit: Visit, role: Role): void {
  if (!roleIncludes(visit.role, role)) throw new ServiceError('role_too_small');
}

function sendNoAccount(isSandbox: boolean, reply: FastifyReply, formToken: string): FastifyReply {
  const page = plainPage(
    {
      title: 'You are in no account',
      main: html`<p>You are signed in, but no account has you as a member (any more). Ask its owner for an invitation.</p>
<form method="post" action="${DASHBOARD_PATH}/sign-out">${formTokenField(formToken)}<button class="button">Sign out</button></form>`,
    },
    { isSandbox },
  );
  return sendDashboardPage(reply, 403, page);
}
