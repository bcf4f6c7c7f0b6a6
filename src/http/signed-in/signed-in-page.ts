/*
 * How a page joins the dashboard. A file of its own exports one function that registers what belongs together, and
 * `routes.ts` calls it:
 *
 *   export function registerKeyPages(routes: DashboardRoutes): void {
 *     const pages = dashboardPages(routes, 'keys', 'developer');
 *     pages.page('/keys', showKeys);
 *     pages.form('/keys', createOwnKey, showKeys);
 *   }
 *
 * - A handler runs only for a signed-in user with the role in the chosen account (`visit.account`), a form's only for a
 *   form of ours. An id of another account answers as an unknown one: `throw new ServiceError('not_found')`.
 * - It returns what the page shows, or `seeOther(path)` after a form that worked. A refused form shows its page again:
 *   with what was typed, and the errors at the fields.
 * - Every form is `<form method="post" action="…">${formTokenField(visit.formToken)}…`, its fields are `formFields`.
 * - A `ServiceError` becomes a page, anything else a 500 without details. A response that is no page is sent on `reply`.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readChosenAccount, readSession, type SignedIn } from '../../accounts/sessions.ts';
import { ServiceError } from '../../domain/errors.ts';
import { type Role, roleIncludes } from '../../domain/person.ts';
import type { Page } from '../checkout/layout.ts';
import { html } from '../design/html.ts';
import { serviceErrorOf } from '../error-reply.ts';
import { addressGroupOf } from '../rate-windows.ts';
import {
  type Admission,
  type Area,
  type AreaContext,
  type AreaRequest,
  type AreaRoutes,
  type AreaVisit,
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Section,
  type Visit,
} from './context.ts';
import { refusedForm } from './form-fields.ts';
import { type FormFields, formTokenField, formTokenOf, readFormFields, requireOwnForm } from './forms.ts';
import { type PageContent, sendDashboardPage, sendPlainPage, sendSeeOther, signedInPage } from './layout.ts';

/** The content of a page. */
export interface PageView extends PageContent {
  readonly status?: number;
}

/** A redirect to a page of the area. */
export interface SeeOther {
  /** Below the area's path. */
  readonly location: string;
}

/** A page, a redirect, or the reply that was already sent. */
export type PageAnswer = PageView | SeeOther | FastifyReply;

export type SectionPages<Context extends AreaContext, AnyVisit extends AreaVisit> = ReturnType<
  typeof createSectionPages<Context, AnyVisit>
>;

/** The handler of a page of the dashboard, and of a form. */
export type PageHandler = Parameters<SectionPages<DashboardContext, Visit>['page']>[1];
export type FormHandler = Parameters<SectionPages<DashboardContext, Visit>['form']>[1];

/** The differences between the sections of the dashboard and those of the console. */
interface SectionFrame<AnyVisit> {
  /** The path of the area's start page. */
  readonly path: string;
  readonly admit: (request: FastifyRequest, reply: FastifyReply) => Promise<Admission<AnyVisit>>;
  /** Throws if an admitted user may not use the section. */
  readonly requireAccess?: (visit: AnyVisit) => void;
  /** The whole page around its content. */
  readonly layout: (content: PageContent, visit: AnyVisit) => Page;
}

/** Registers the pages and forms of a section. Paths are below the area's, with the names of their variable parts. */
export function createSectionPages<Context extends AreaContext, AnyVisit extends AreaVisit>(
  { server, context, cookies }: AreaRoutes & { readonly context: Context },
  { path: home, admit, requireAccess, layout }: SectionFrame<AnyVisit>,
) {
  /** Answers a request in a scope of its own. The caller checks that a form is ours. */
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    act: (visit: AnyVisit) => Promise<PageAnswer>,
  ): Promise<FastifyReply> {
    const admission = await admit(request, reply);
    if ('answered' in admission) return admission.answered;
    const { visit } = admission;
    const send = (view: PageView) => sendDashboardPage(reply, view.status ?? 200, layout(view, visit));
    try {
      requireAccess?.(visit);
      const answered = await act(visit);
      // Awaiting a sent reply resolves to undefined.
      if (reply.sent) return reply;
      if ('location' in answered) return sendSeeOther(reply, `${home}${answered.location}`);
      return 'main' in answered ? send(answered) : answered;
    } catch (error) {
      return send(failureView(error, request, reply, home));
    }
  }

  return {
    answer,
    /** A page: `GET`, and `HEAD` as for a visitor who is not signed in. */
    page(
      path: string,
      show: (context: Context, visit: AnyVisit, reply: FastifyReply) => Promise<PageAnswer>,
    ): void {
      server.get(path, { exposeHeadRoute: true }, (request, reply) =>
        answer(request, reply, (visit) => show(context, visit, reply)),
      );
    },
    /** The handler of a form: `POST`. `show` is its page, which is shown again after a refusal. */
    form(
      path: string,
      act: (context: Context, visit: AnyVisit, form: FormFields, reply: FastifyReply) => Promise<PageAnswer>,
      show?: (context: Context, visit: AnyVisit) => Promise<PageView>,
    ): void {
      server.post(path, (request, reply) =>
        answer(request, reply, async (visit) => {
          const form = readFormFields(request.body);
          requireOwnForm(request, context.baseUrl, form, cookies.read(request.headers, 'session'));
          try {
            return await act(context, visit, form, reply);
          } catch (error) {
            if (show === undefined || !isRefusal(error)) throw error;
            return showRefused(show, context, visit, { refusal: error, form, status: error.status });
          }
        }),
      );
    },
  };
}

/** The page of a form that was refused. */
export async function showRefused<Context, AnyVisit extends AreaVisit>(
  show: (context: Context, visit: AnyVisit) => Promise<PageView>,
  context: Context,
  visit: AnyVisit,
  { refusal, form, status }: { refusal: ServiceError; form: FormFields; status: number },
): Promise<PageView> {
  const refused = refusedForm(form, refusal, visit.path);
  return { ...(await show(context, { ...visit, refused })), refused, status };
}

/** Whether an error is about what a form asked for, so that its page can be shown again; all others have a page of their own. */
function isRefusal(error: unknown): error is ServiceError {
  return (
    error instanceof ServiceError &&
    ![404, 500].includes(error.status) &&
    !['rate_limited', 'foreign_form', 'role_too_small'].includes(error.errorName)
  );
}

/** The pages of a section of the dashboard, for members with at least this role; null for pages outside all sections. */
export function dashboardPages(
  { context, shown, admit, ...routes }: DashboardRoutes,
  section: Section | null,
  role: Role,
) {
  if (section !== null) shown.add(section);
  return createSectionPages(
    { ...routes, context },
    {
      path: DASHBOARD_PATH,
      admit,
      requireAccess: (visit) => requireRole(visit, role),
      layout: (content, visit) =>
        signedInPage(content, visit, { isTestMode: context.isTestMode, section, shown }),
    },
  );
}

/** Every other path of an area: a signed-in user gets a 404, a visitor the sign-in page. */
export function registerNothing(
  { server }: AreaRoutes,
  pages: Pick<SectionPages<AreaContext, AreaVisit>, 'answer'>,
): void {
  server.get('/*', (request, reply) =>
    pages.answer(request, reply, async () => {
      throw new ServiceError('not_found');
    }),
  );
}

/** Ends a form with a redirect to a page; `path` is below the area's. */
export function seeOther(location: string): SeeOther {
  return { location };
}

/** A failure as a page of its own; `home` is the path of the area's start page. */
export function sendFailure(
  { context }: AreaRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
  home: string,
  thrown: unknown,
): FastifyReply {
  const view = failureView(thrown, request, reply, home);
  return sendPlainPage({ context, reply }, view.status, view);
}

/** The page of a failure, with a link to the start page. Internal errors are only logged. */
function failureView(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  home: string,
): PageContent & { readonly status: number } {
  const error = serviceErrorOf(thrown);
  if (error.status >= 500) request.log.error({ err: thrown }, `a page below ${home} failed`);
  if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds));
  const { title, sentence } = wordsOf(error);
  const start = home === DASHBOARD_PATH ? 'dashboard' : 'console';
  const main = html`<p>${sentence}</p><p><a class="button" href="${home}">Go to ${start}</a></p>`;
  return { title, main, status: error.status };
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

/** A session with the token of its cookie. */
export interface OwnSession extends SignedIn {
  readonly token: string;
}

/** The session of a request's cookie; null without a valid one. */
export async function readOwnSession(
  { context, cookies, area, request }: AreaRequest,
  cookie: 'session' | 'viewing' = 'session',
): Promise<OwnSession | null> {
  const token = cookies.read(request.headers, cookie);
  if (token === null) return null;
  const signedIn = await readSession(context, token, cookie === 'viewing' ? 'viewing' : area.name);
  return signedIn === null ? null : { ...signedIn, token };
}

/** The sign-in page, for a request without a valid session; removes the cookie of an ended one. */
export function toSignIn({ cookies, area, request, reply }: AreaRequest) {
  if (cookies.read(request.headers, 'session') !== null) cookies.remove(reply, 'session');
  return { answered: sendSeeOther(reply, signInPath(area, request)) };
}

/** What all pages of an area know of a request. */
export function visitOf(request: FastifyRequest, own: OwnSession, timeZone: string): AreaVisit {
  const { user, session, token } = own;
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  return {
    user,
    session,
    actor: { name: user.email, userId: user.id, address: addressGroupOf(request.ip) },
    formToken: formTokenOf(token),
    params: request.params as Record<string, string>,
    path: pathname,
    query: searchParams,
    timeZone,
  };
}

/** Admits members of an account. */
export async function admit(
  asked: AreaRequest & { readonly context: DashboardContext },
): Promise<Admission<Visit>> {
  const own = await readOwnSession(asked);
  if (own === null) return toSignIn(asked);
  if (own.session.stage !== 'open') {
    return { answered: sendSeeOther(asked.reply, `${DASHBOARD_PATH}/second-factor`) };
  }
  const chosen = await readChosenAccount(asked.context, own);
  if (chosen === null) return { answered: sendNoAccount(asked, formTokenOf(own.token)) };
  return { visit: { ...visitOf(asked.request, own, chosen.account.timeZone), ...chosen, viewing: null } };
}

function requireRole(visit: Visit, role: Role): void {
  if (!roleIncludes(visit.role, role)) throw new ServiceError('role_too_small');
}

function sendNoAccount(asked: AreaRequest, formToken: string): FastifyReply {
  return sendPlainPage(asked, 403, {
    title: 'No account',
    main: html`<p>You are signed in, but you are not a member of any account. Ask an account owner for an invitation.</p>
<form method="post" action="${DASHBOARD_PATH}/sign-out">${formTokenField(formToken)}<button class="button">Sign out</button></form>`,
  });
}

/** The rest of an area's path, as this service writes it: text that no browser can take for another host. */
const ownEnd = /^(?:\/[\w-]+)*(?:\?[\w\-.~%&=+:@!,]*)?$/;
/** Long enough for the address of a connection. */
const MAXIMUM_CHARACTERS = 2_500;

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
