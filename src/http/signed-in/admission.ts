import type { FastifyReply, FastifyRequest } from 'fastify';
import { readChosenAccount, readSession } from '../../accounts/sessions.ts';
import { ServiceError } from '../../domain/errors.ts';
import { type Role, roleIncludes } from '../../domain/person.ts';
import { html } from '../design/html.ts';
import { addressGroupOf } from '../rate-limit.ts';
import { type Admission, type Area, DASHBOARD_PATH, type DashboardRoutes, type Visit } from './context.ts';
import { formTokenField, formTokenOf } from './forms.ts';
import { plainPage, sendDashboardPage, sendSeeOther } from './layout.ts';

/** Admits members of an account. */
export async function admit(
  { context, cookies, area }: Omit<DashboardRoutes, 'admit'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Admission<Visit>> {
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
  if (chosen === null) return { answered: sendNoAccount(context.isTestMode, reply, formToken) };
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

function sendNoAccount(isTestMode: boolean, reply: FastifyReply, formToken: string): FastifyReply {
  const page = plainPage(
    {
      title: 'No account',
      main: html`<p>You are signed in, but you are not a member of any account. Ask an account owner for an invitation.</p>
<form method="post" action="${DASHBOARD_PATH}/sign-out">${formTokenField(formToken)}<button class="button">Sign out</button></form>`,
    },
    { isTestMode },
  );
  return sendDashboardPage(reply, 403, page);
}

/** The rest of an area's path, as this service writes it: text that no browser can take for another host. */
const ownEnd = /^(?:\/[\w-]+)*(?:\?[\w\-.~%&=+:@!,]*)?$/;
const MAXIMUM_CHARACTERS = 500;

/** The path after sign-in; the area's start page if a text is no path of the area. */
export function returnPathOf({ path }: Area, text: string): string {
  const isOwn =
    text.length <= MAXIMUM_CHARACTERS && text.startsWith(path) && ownEnd.test(text.slice(path.length));
  return isOwn ? text : path;
}

/** The sign-in page, which leads back to the requested page. */
export function signInPath(area: Area, request: FastifyRequest): string {
  const path =
    request.method === 'GET' || request.method === 'HEAD' ? returnPathOf(area, request.url) : area.path;
  const query = path === area.path ? '' : `?next=${encodeURIComponent(path)}`;
  return `${area.path}/sign-in${query}`;
}
