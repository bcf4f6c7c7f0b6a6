/*
 * How a page joins the dashboard. A file of its own exports one function that registers what belongs together, and
 * `routes.ts` calls it:
 *
 *   export function registerKeyPages(routes: DashboardRoutes): void {
 *     dashboardPage(routes, { path: '/keys', section: 'keys', role: 'developer', show: (visit) => showKeys(routes.context, visit) });
 *     dashboardForm(routes, { path: '/keys/:keyId/revoke', section: 'keys', role: 'developer', act: (visit, form) => … });
 *   }
 *
 * - `show` and `act` run only for a signed-in user who has chosen an account (`visit.account`) and has the role in it;
 *   `act` moreover only for a form of ours (origin and token). Everything is for `visit.account.id`: an id of another
 *   account gets the same answer as an unknown one, by throwing `new ServiceError('not_found')`.
 * - They answer with what the page shows (`title`, `main`, and `status` if it is not 200) or with `seeOther(path)`,
 *   which ends a form that worked. A page that is shown again with a message has the status of the error.
 * - Every form is `<form method="post" action="…">${formTokenField(visit.formToken)}…`.
 * - A `ServiceError` that is thrown becomes a page of the dashboard; anything else a 500 without details. A response
 *   that is no page (a CSV, a picture) is sent on the `reply` by `show` itself, which returns it.
 * - The section is the entry of the navigation that is marked; it appears there once a page of it is registered.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { Role } from '../../domain/person.ts';
import { html } from '../design/html.ts';
import { serviceErrorOf } from '../error-reply.ts';
import { requireRole } from './admission.ts';
import { DASHBOARD_PATH, type DashboardRoutes, type Section, type Visit } from './context.ts';
import { type FormFields, isOwnForm, readFormFields } from './forms.ts';
import { type PageContent, plainPage, sendDashboardPage, sendSeeOther, signedInPage } from './layout.ts';

/** The content of a page. */
export interface DashboardView extends PageContent {
  readonly status?: number;
}

/** A redirect. */
export interface SeeOther {
  readonly location: string;
}

/** A page, a redirect, or the reply that was already sent. */
export type DashboardAnswer = DashboardView | SeeOther | FastifyReply;

export interface Route {
  /** Below `/dashboard`, with the names of its variable parts (`/payments/:paymentId`). */
  readonly path: string;
  /** Null for a page outside all sections. */
  readonly section: Section | null;
  /** The minimum role. */
  readonly role: Role;
}

/** Ends a form with a redirect to a page; `path` is below `/dashboard`. */
export function seeOther(path: string): SeeOther {
  return { location: `${DASHBOARD_PATH}${path}` };
}

/** A page: `GET`, and `HEAD` as for a visitor who is not signed in. */
export function dashboardPage(
  routes: DashboardRoutes,
  route: Route & { readonly show: (visit: Visit, reply: FastifyReply) => Promise<DashboardAnswer> },
): void {
  if (route.section !== null) routes.shown.add(route.section);
  routes.server.get(route.path, { exposeHeadRoute: true }, (request, reply) =>
    withVisit(routes, route, request, reply, async (visit) =>
      sendAnswer(routes, route, reply, visit, await route.show(visit, reply)),
    ),
  );
}

/** The handler of a form: `POST`. */
export function dashboardForm(
  routes: DashboardRoutes,
  route: Route & { readonly act: (visit: Visit, form: FormFields) => Promise<DashboardAnswer> },
): void {
  routes.server.post(route.path, (request, reply) =>
    withVisit(routes, route, request, reply, async (visit) => {
      const form = readFormFields(request.body);
      const cookie = routes.cookies.read(request.headers, 'session');
      if (!isOwnForm(request, routes.context.baseUrl, form, cookie)) throw new ServiceError('foreign_form');
      return sendAnswer(routes, route, reply, visit, await route.act(visit, form));
    }),
  );
}

/** Admits a user with the role, and renders thrown errors as pages. */
export async function withVisit(
  routes: DashboardRoutes,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: (visit: Visit) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const admission = await routes.admit(request, reply);
  if ('answered' in admission) return admission.answered;
  const { visit } = admission;
  try {
    requireRole(visit, route.role);
    return await answer(visit);
  } catch (error) {
    return sendFailure(routes, route.section, request, reply, visit, error);
  }
}

/** A page, a redirect, or the reply that was already sent. */
export function sendAnswer(
  { context, shown }: DashboardRoutes,
  { section }: Route,
  reply: FastifyReply,
  visit: Visit,
  answer: DashboardAnswer,
): FastifyReply {
  // Awaiting a sent reply resolves to nothing: it is gone by then.
  if (reply.sent) return reply;
  if ('location' in answer) return sendSeeOther(reply, answer.location);
  if (!('main' in answer)) return answer;
  const page = signedInPage(answer, visit, { isTestMode: context.isTestMode, section, shown });
  return sendDashboardPage(reply, answer.status ?? 200, page);
}

/** A failure as a page: within the dashboard for a signed-in user, else on its own. Internal errors are only logged. */
export function sendFailure(
  { context, shown }: Pick<DashboardRoutes, 'context' | 'shown'>,
  section: Section | null,
  request: FastifyRequest,
  reply: FastifyReply,
  visit: Visit | null,
  thrown: unknown,
): FastifyReply {
  const error = serviceErrorOf(thrown);
  if (error.status >= 500) request.log.error({ err: thrown }, 'a dashboard page failed');
  if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds));
  const content = failureContent(error, DASHBOARD_PATH);
  const { isTestMode } = context;
  const page =
    visit === null
      ? plainPage(content, { isTestMode })
      : signedInPage(content, visit, { isTestMode, section, shown });
  return sendDashboardPage(reply, error.status, page);
}

/** The message of a failure; `path` is the area's path for the link back. */
export function failureContent(error: ServiceError, path: string): PageContent {
  const { title, sentence } = wordsOf(error);
  return {
    title,
    main: html`<p>${sentence}</p><p><a class="button" href="${path}">Go to ${path === DASHBOARD_PATH ? 'dashboard' : 'console'}</a></p>`,
  };
}

function wordsOf(error: ServiceError): { readonly title: string; readonly sentence: string } {
  switch (error.errorName) {
    case 'role_too_small':
      return {
        title: 'You don’t have permission',
        sentence: 'Ask an owner of the account to do it, or to change your role.',
      };
    case 'foreign_form':
      return {
        title: 'Nothing was changed',
        sentence:
          'The form has expired, was opened in another browser, or you have signed in again since. Open the page again. Your browser must accept cookies.',
      };
    case 'rate_limited':
      return { title: 'Too many requests', sentence: error.message };
    default:
  }
  if (error.status === 404) {
    return {
      title: 'Page not found',
      sentence: 'The URL may be incomplete, or the page belongs to another account.',
    };
  }
  if (error.status < 500) return { title: 'That did not work', sentence: error.message };
  return { title: 'Something went wrong on our side', sentence: 'Please try again in a moment.' };
}
