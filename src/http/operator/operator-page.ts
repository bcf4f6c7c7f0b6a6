/*
 * How a page joins the console: a file of its own exports one function that registers what belongs together, and
 * `routes.ts` calls it. It is as in the dashboard (`../dashboard/dashboard-page.ts`), but for who gets here: operators,
 * and in live mode such as have a second factor.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { failureContent } from '../dashboard/failure-page.ts';
import { type FormFields, readFormFields } from '../dashboard/form-fields.ts';
import { isOwnForm } from '../dashboard/form-token.ts';
import { type PageContent, plainPage } from '../dashboard/layout.ts';
import { sendDashboardPage, sendSeeOther } from '../dashboard/page-headers.ts';
import { serviceErrorOf } from '../error-reply.ts';
import type { OperatorRoutes } from './context.ts';
import { enter } from './enter.ts';
import { operatorLayout } from './layout.ts';
import { OPERATOR_PATH } from './operator-area.ts';
import type { Section } from './sections.ts';
import type { OperatorVisit } from './visit.ts';

/** What a page shows. */
export interface OperatorView extends PageContent {
  readonly status?: number;
}

/** A page, or where to go next. */
export type OperatorAnswer = OperatorView | { readonly location: string };

interface Route {
  /** Below `/operator`, with the names of its variable parts. */
  readonly path: string;
  /** Null for a page that is in no section. */
  readonly section: Section | null;
}

/** Ends a form by leading to a page; `path` is below `/operator`. */
export function seeOther(path: string): OperatorAnswer {
  return { location: `${OPERATOR_PATH}${path}` };
}

/** A page: `GET`. */
export function operatorPage(
  routes: OperatorRoutes,
  route: Route & { readonly show: (visit: OperatorVisit) => Promise<OperatorAnswer> },
): void {
  routes.server.get(route.path, (request, reply) =>
    withVisit(routes, route, request, reply, (visit) => route.show(visit)),
  );
}

/** What a form does: `POST`. */
export function operatorForm(
  routes: OperatorRoutes,
  route: Route & {
    readonly act: (visit: OperatorVisit, form: FormFields, reply: FastifyReply) => Promise<OperatorAnswer>;
  },
): void {
  routes.server.post(route.path, (request, reply) =>
    withVisit(routes, route, request, reply, (visit) => {
      const form = readFormFields(request.body);
      const cookie = routes.cookies.read(request.headers, 'session');
      if (!isOwnForm(request, routes.context.baseUrl, form, cookie)) throw new ServiceError('foreign_form');
      return route.act(visit, form, reply);
    }),
  );
}

async function withVisit(
  routes: OperatorRoutes,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: (visit: OperatorVisit) => Promise<OperatorAnswer>,
): Promise<FastifyReply> {
  const entry = await enter(routes, request, reply);
  if ('answered' in entry) return entry.answered;
  const { visit } = entry;
  try {
    const answered = await answer(visit);
    if ('location' in answered) return sendSeeOther(reply, answered.location);
    return sendView(routes, reply, visit, route.section, answered);
  } catch (error) {
    return sendOperatorFailure(routes, request, reply, { visit, section: route.section }, error);
  }
}

function sendView(
  routes: OperatorRoutes,
  reply: FastifyReply,
  visit: OperatorVisit,
  section: Section | null,
  view: OperatorView,
): FastifyReply {
  const { isSandbox, publicUrl } = routes.context;
  const page = operatorLayout(view, visit, { isSandbox, section, publicUrl });
  return sendDashboardPage(reply, view.status ?? 200, page);
}

/** A failure as a page: within the console for who has come in, else alone. What is ours to repair is logged only. */
export function sendOperatorFailure(
  routes: OperatorRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
  within: { readonly visit: OperatorVisit; readonly section: Section | null } | null,
  thrown: unknown,
): FastifyReply {
  const error = serviceErrorOf(thrown);
  if (error.status >= 500) request.log.error({ err: thrown }, 'a page of the console failed');
  if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds));
  const content = failureContent(error, routes.area.path);
  if (within !== null)
    return sendView(routes, reply, within.visit, within.section, { ...content, status: error.status });
  return sendDashboardPage(reply, error.status, plainPage(content, { isSandbox: routes.context.isSandbox }));
}
