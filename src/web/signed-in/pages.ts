/*
 * A file of `src/pages/dashboard/` or of a feature registers its pages with `routes.pages(section, role)`, called from
 * `routes.ts`. Handlers run only for members with the role and for forms from this site. They return content or, after
 * a form, `seeOther(path)`. A refused form shows its page again. Treat an id of another account like an unknown one:
 * `throw new ServiceError('not_found')`.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createChallenge } from '../../accounts/passkeys.ts';
import { type Role, roleIncludes } from '../../accounts/person.ts';
import { readChosenAccount, readSession, type SignedIn } from '../../accounts/sessions.ts';
import { ServiceError } from '../../payment/errors.ts';
import { type Html, html } from '../design/html.ts';
import type { Page } from '../design/page-style.ts';
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
  type Visit,
} from './context.ts';
import { type FormFields, readFormFields, refusedForm, requireOwnForm, requireSameAccount } from './forms.ts';
import {
  type PageContent,
  plainPage,
  sendDashboardPage,
  sendPlainPage,
  sendSeeOther,
  signedInPage,
} from './layout.ts';
import type { Section } from './sections-by-role.ts';

export interface PageView extends PageContent {
  readonly status?: number;
}

export interface SeeOther {
  /** Path relative to the area. */
  readonly location: string;
}

export type PageAnswer = PageView | SeeOther | FastifyReply;

export type PageHandler<Asked = Visit> = (asked: Asked) => Promise<PageAnswer>;
export type FormHandler<Asked = Visit> = (asked: Asked, form: FormFields) => Promise<PageAnswer>;

interface PagesFrame<Context extends AreaContext, Asked> {
  readonly path: string;
  readonly admit: (asked: AreaRequest<Context>) => Promise<Admission<Asked>>;
  /** Throws if an admitted user may not open the section. */
  readonly requireAccess?: (asked: Asked) => void;
  /** Throws if a form from this site was not rendered for this visit. */
  readonly requireForm?: (asked: Asked, form: FormFields) => void;
  readonly layout: (content: PageContent, asked: Asked) => Page | Promise<Page>;
}

export function createPages<Context extends AreaContext, Asked extends AreaRequest<Context>>(
  routes: AreaRoutes<Context>,
  { path: home, admit, requireAccess, requireForm, layout }: PagesFrame<Context, Asked>,
) {
  const { server, context } = routes;

  /** Admits a request and sends what the handler returns. The caller checks the form's origin. */
  async function answer(request: FastifyRequest, reply: FastifyReply, act: PageHandler<Asked>) {
    const { pathname: path, searchParams: query } = new URL(request.url, 'http://localhost');
    const params = request.params as Record<string, string>;
    const admission = await admit({ ...routes, request, reply, params, path, query });
    if ('answered' in admission) return admission.answered;
    const asked = admission.visit;
    const send = async (view: PageView) =>
      sendDashboardPage(reply, view.status ?? 200, await layout(view, asked));
    try {
      requireAccess?.(asked);
      const answered = await act(asked);
      // A handler that has sent the reply itself resolves to undefined.
      if (reply.sent) return reply;
      if ('location' in answered) return sendSeeOther(reply, `${home}${answered.location}`);
      return 'main' in answered ? await send(answered) : answered;
    } catch (error) {
      return send(failureView(error, request, reply, home));
    }
  }

  return {
    answer,
    /** Registers a page for `GET` and `HEAD`. HEAD is answered as if the visitor were not signed in. */
    page: (path: string, show: PageHandler<Asked>) =>
      server.get(path, { exposeHeadRoute: true }, (request, reply) => answer(request, reply, show)),
    /** Registers a form (`POST`). `show` renders its page after a refusal. `read` reads a form with a file. */
    form: (
      path: string,
      act: FormHandler<Asked>,
      show?: (asked: Asked) => Promise<PageView>,
      read?: (request: FastifyRequest) => Promise<FormFields>,
    ) =>
      server.post(path, (request, reply) =>
        answer(request, reply, async (asked) => {
          requireOwnForm(request.headers, context.baseUrl);
          const form = (await read?.(request)) ?? readFormFields(request.body);
          requireForm?.(asked, form);
          try {
            return await act(asked, form);
          } catch (error) {
            if (show === undefined || !isRefusal(error)) throw error;
            return showRefused(show, asked, form, error);
          }
        }),
      ),
  };
}

/** Registers pages and forms for visitors who are not signed in. */
export function visitorPages<Context extends AreaContext>(routes: AreaRoutes<Context>) {
  const admit = async (visit: AreaRequest<Context>) => ({ visit });
  return createPages(routes, { path: routes.area.path, admit, layout: plainPage });
}

export async function showRefused<Asked extends AreaRequest>(
  show: (asked: Asked) => Promise<PageView>,
  asked: Asked,
  form: FormFields,
  refusal: ServiceError,
  status = refusal.status,
): Promise<PageView> {
  const refused = refusedForm(form, refusal, asked.path);
  const view = await show({ ...asked, refused });
  return view.status === undefined ? { ...view, refused, status } : view;
}

export function goneView(main: Html, title = 'This link does not work'): PageView {
  return { status: 404, title, main };
}

/** Returns whether an error concerns the submitted values, so that the form is shown again. */
function isRefusal(error: unknown): error is ServiceError {
  return (
    error instanceof ServiceError &&
    ![404, 500].includes(error.status) &&
    !['rate_limited', 'foreign_form', 'role_too_small'].includes(error.errorName)
  );
}

export interface DashboardRoutes extends AreaRoutes<DashboardContext> {
  /** Registers pages of a section for members with at least this role; null for pages outside all sections. */
  readonly pages: (
    section: Section | null,
    role: Role,
    server?: FastifyInstance,
  ) => ReturnType<typeof createPages<DashboardContext, Visit>>;
}

export function dashboardRoutesOf(
  routes: AreaRoutes<DashboardContext>,
  admit: (asked: AreaRequest<DashboardContext>) => Promise<Admission<Visit>>,
): DashboardRoutes {
  const shown = new Set<Section>();
  return {
    ...routes,
    pages(section, role, server = routes.server) {
      if (section !== null) shown.add(section);
      return createPages<DashboardContext, Visit>(
        { ...routes, server },
        {
          path: DASHBOARD_PATH,
          admit,
          requireAccess(visit) {
            if (!roleIncludes(visit.role, role)) throw new ServiceError('role_too_small');
          },
          requireForm: requireSameAccount,
          layout: (content, visit) => signedInPage(content, visit, section, shown),
        },
      );
    },
  };
}

/** Registers all other paths of an area, with a 404 for signed-in users and the sign-in page for others. */
export function registerNothing(
  { server, context }: AreaRoutes,
  { answer }: Pick<ReturnType<typeof visitorPages>, 'answer'>,
  home: string,
): void {
  server.get('/*', (request, reply) =>
    answer(request, reply, async () => {
      throw new ServiceError('not_found');
    }),
  );
  server.setErrorHandler((thrown, request, reply) => {
    const view = failureView(thrown, request, reply, home);
    return sendPlainPage({ context, reply }, view.status, view);
  });
}

export function seeOther(location: string): SeeOther {
  return { location };
}

/** Renders an error page with a link to the start page. Only the log gets the cause of an internal error. */
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
      return { title: 'Nothing was changed', sentence: error.message };
    case 'rate_limited':
      return {
        title: 'Too many requests',
        sentence: `${waitSentence(error.retryAfterSeconds ?? 60)} Then try again.`,
      };
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

function waitSentence(seconds: number): string {
  return seconds > 90 ? `Wait ${Math.ceil(seconds / 60)} minutes.` : `Wait ${seconds} seconds.`;
}

export async function readOwnSession(
  { context, cookies, area, request }: AreaRequest,
  cookie: 'session' | 'viewing' = 'session',
): Promise<SignedIn | null> {
  const token = cookies.read(request.headers, cookie);
  return token === null ? null : readSession(context, token, cookie === 'viewing' ? 'viewing' : area.name);
}

/** Redirects to the sign-in page, which tells the user if the session has ended. */
export function toSignIn({ cookies, area, request, reply }: AreaRequest) {
  const hasEnded = cookies.read(request.headers, 'session') !== null;
  if (hasEnded) cookies.remove(reply, 'session');
  return { answered: sendSeeOther(reply, signInPath(area, request, hasEnded)) };
}

export function visitOf<Context extends AreaContext>(
  asked: AreaRequest<Context>,
  { user, session }: SignedIn,
  timeZone: string,
): AreaVisit<Context> {
  const actor = { name: user.email, userId: user.id, address: addressGroupOf(asked.request.ip) };
  let made: Promise<Uint8Array<ArrayBuffer>> | undefined;
  const challenge = () => {
    made ??= createChallenge(asked.context, session.id);
    return made;
  };
  return { ...asked, user, session, actor, timeZone, challenge };
}

export async function admit(asked: AreaRequest<DashboardContext>): Promise<Admission<Visit>> {
  const own = await readOwnSession(asked);
  if (own === null) return toSignIn(asked);
  if (own.session.stage !== 'open') {
    return { answered: sendSeeOther(asked.reply, `${DASHBOARD_PATH}/second-factor`) };
  }
  const chosen = await readChosenAccount(asked.context, own);
  if (chosen === null) return { answered: sendNoAccount(asked) };
  return { visit: { ...visitOf(asked, own, chosen.account.timeZone), ...chosen, viewing: null } };
}

function sendNoAccount(asked: AreaRequest): FastifyReply {
  return sendPlainPage(asked, 403, {
    title: 'No account',
    main: html`<p>You are signed in, but you are not a member of any account. Ask an account owner for an invitation.</p>
<form method="post" action="${DASHBOARD_PATH}/sign-out"><button class="button">Sign out</button></form>`,
  });
}

/** Pattern for what follows an area's path. Excludes anything that a browser could treat as another host. */
const ownEnd = /^(?:\/[\w-]+)*(?:\?[\w\-.~%&=+:@!,]*)?$/;
/** Maximum length of a path. A link that connects a shop is the longest. */
const MAXIMUM_CHARACTERS = 2_500;

/** Returns the path to open after sign-in; the start page if the given path is not in the area. */
export function returnPathOf({ path }: Area, text: string): string {
  const isOwn =
    text.length <= MAXIMUM_CHARACTERS && text.startsWith(path) && ownEnd.test(text.slice(path.length));
  return isOwn ? text : path;
}

function signInPath(area: Area, request: FastifyRequest, hasEnded: boolean): string {
  const path =
    request.method === 'GET' || request.method === 'HEAD' ? returnPathOf(area, request.url) : area.path;
  const query = new URLSearchParams({
    ...(path === area.path ? {} : { next: path }),
    ...(hasEnded ? { flash: 'ended' } : {}),
  });
  return `${area.path}/sign-in${query.size === 0 ? '' : `?${query}`}`;
}
