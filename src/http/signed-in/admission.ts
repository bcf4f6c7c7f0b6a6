import type { FastifyReply, FastifyRequest } from 'fastify';
import { readChosenAccount, readSession, type SignedIn } from '../../accounts/sessions.ts';
import { ServiceError } from '../../domain/errors.ts';
import { type Role, roleIncludes } from '../../domain/person.ts';
import { html } from '../design/html.ts';
import { addressGroupOf } from '../rate-limit.ts';
import {
  type Admission,
  type Area,
  type AreaRoutes,
  type AreaVisit,
  DASHBOARD_PATH,
  type DashboardRoutes,
  type Visit,
} from './context.ts';
import { formTokenField, formTokenOf } from './forms.ts';
import { plainPage, sendDashboardPage, sendSeeOther } from './layout.ts';

/** A session with the token of its cookie. */
export interface OwnSession extends SignedIn {
  readonly token: string;
}

/** The session of a request's cookie; null without a valid one. */
export async function readOwnSession(
  { context, cookies, area }: Pick<AreaRoutes, 'context' | 'cookies' | 'area'>,
  request: FastifyRequest,
  cookie: 'session' | 'viewing' = 'session',
): Promise<OwnSession | null> {
  const token = cookies.read(request.headers, cookie);
  if (token === null) return null;
  const signedIn = await readSession(context, token, cookie === 'viewing' ? 'viewing' : area.name);
  return signedIn === null ? null : { ...signedIn, token };
}

/** The sign-in page, for a request without a valid session; removes the cookie of an ended one. */
export function toSignIn({ cookies, area }: AreaRoutes, request: FastifyRequest, reply: FastifyReply) {
  if (cookies.read(request.headers, 'session') !== null) cookies.remove(reply, 'session');
  return { answered: sendSeeOther(reply, signInPath(area, request)) };
}

/** What all pages of an area know of a request. */
export function visitOf(request: FastifyRequest, own: OwnSession, timeZone: string): AreaVisit {
  const { user, session, token } = own;
  return {
    user,
    session,
    actor: { name: user.email, userId: user.id, address: addressGroupOf(request.ip) },
    formToken: formTokenOf(token),
    params: request.params as Record<string, string>,
    query: new URL(request.url, 'http://localhost').searchParams,
    timeZone,
  };
}

/** Admits members of an account. */
export async function admit(
  routes: Omit<DashboardRoutes, 'admit'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Admission<Visit>> {
  const own = await readOwnSession(routes, request);
  if (own === null) return toSignIn(routes, request, reply);
  if (own.session.stage !== 'open') {
    return { answered: sendSeeOther(reply, `${DASHBOARD_PATH}/second-factor`) };
  }
  const chosen = await readChosenAccount(routes.context, own);
  if (chosen === null) {
    return { answered: sendNoAccount(routes.context.isTestMode, reply, formTokenOf(own.token)) };
  }
  return { visit: { ...visitOf(request, own, chosen.account.timeZone), ...chosen, viewing: null } };
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
function signInPath(area: Area, request: FastifyRequest): string {
  const path =
    request.method === 'GET' || request.method === 'HEAD' ? returnPathOf(area, request.url) : area.path;
  const query = path === area.path ? '' : `?next=${encodeURIComponent(path)}`;
  return `${area.path}/sign-in${query}`;
}
