import type { FastifyReply, FastifyRequest } from 'fastify';
import { endSession } from '../../accounts/sessions.ts';
import { signIn } from '../../accounts/sign-in.ts';
import { SERVICE_LOG } from '../../domain/audit-entry.ts';
import { type Html, html } from '../design/html.ts';
import { type AreaRoutes, callerOf } from './context.ts';
import {
  banner,
  flashOf,
  formTokenField,
  passwordField,
  readFormFields,
  requireOwnForm,
  textField,
} from './forms.ts';
import { openFormToken, readOwnForm, sendPlainPage, sendSeeOther } from './layout.ts';
import { countSignIn, rememberBrowser, sendAskMore } from './new-browser-pages.ts';
import { readOwnSession, returnPathOf } from './signed-in-page.ts';

/** Messages about the previous action, by its name in the address. */
const greetings = {
  'password-set': 'Your password is set. Sign in with it.',
  joined:
    'Sign in with the password you chose. If you already had a password, it has not changed: sign in with it, then open the invitation again.',
};

/** Signing in with e-mail and password, and signing out. */
export function registerSignInPages(routes: AreaRoutes): void {
  routes.server.get('/sign-in', { exposeHeadRoute: true }, (request, reply) =>
    showSignIn(routes, request, reply),
  );
  routes.server.post('/sign-in', (request, reply) => answerSignIn(routes, request, reply));
  routes.server.post('/sign-out', (request, reply) => answerSignOut(routes, request, reply));
}

async function showSignIn(
  routes: AreaRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = new URL(request.url, 'http://localhost').searchParams;
  const next = returnPathOf(routes.area, query.get('next') ?? '');
  const signedIn = await readOwnSession(routes, request);
  if (signedIn?.session.stage === 'open') return sendSeeOther(reply, next);
  const message = flashOf({ query }, greetings);
  return sendSignIn(routes, request, reply, { status: 200, next, email: '', message });
}

/** The contact for help. */
function forgotten({ area, context }: AreaRoutes): Html {
  return area.hasForgottenPage && context.mailer !== null
    ? html`<p class="small"><a href="${area.path}/forgotten">Forgotten your password?</a></p>`
    : html`<p class="soft small">Forgotten your password? ${area.help} for a link to set a new one.</p>`;
}

interface SignInForm {
  readonly status: number;
  readonly next: string;
  readonly email: string;
  readonly message: Html;
}

function sendSignIn(
  routes: AreaRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
  { status, next, email, message }: SignInForm,
): FastifyReply {
  return sendPlainPage(routes, reply, status, {
    title: routes.area.signInTitle,
    main: html`${message}
<form class="card" method="post" action="${routes.area.path}/sign-in">
${formTokenField(openFormToken(routes, request, reply))}<input type="hidden" name="next" value="${next}">
${textField({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', value: email })}
${passwordField()}
<button class="button primary wide">Sign in</button>
</form>
${forgotten(routes)}`,
  });
}

async function answerSignIn(
  routes: AreaRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, cookies } = routes;
  const form = readOwnForm(routes, request);
  const [email, next] = [form.text('email'), returnPathOf(routes.area, form.text('next'))];
  const { isKnownBrowser, waitSeconds } = await countSignIn(routes, request, email);
  if (waitSeconds > 0) return sendAskMore(routes, request, reply, { email, waitSeconds });

  const opened = await signIn(
    context,
    { email, password: form.text('password') },
    {
      area: routes.area.name,
      caller: callerOf(request),
      isKnownBrowser,
      isSecondFactorRequired: routes.isSecondFactorRequired,
    },
  );
  if (opened === null) {
    const message = banner('bad', 'Incorrect email or password.');
    return sendSignIn(routes, request, reply, { status: 401, next, email, message });
  }
  cookies.set(reply, 'session', opened.token);
  if (opened.stage === 'open') {
    rememberBrowser(routes, reply, opened.email);
    return sendSeeOther(reply, next);
  }
  if (opened.stage === 'set_up') return sendSeeOther(reply, `${routes.area.path}/set-up`);
  return sendSeeOther(reply, `${routes.area.path}/second-factor?next=${encodeURIComponent(next)}`);
}

async function answerSignOut(
  routes: AreaRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, cookies, area } = routes;
  const form = readFormFields(request.body);
  requireOwnForm(request, context.baseUrl, form, cookies.read(request.headers, 'session'));
  const signedIn = await readOwnSession(routes, request);
  if (signedIn !== null) {
    const { user, session } = signedIn;
    const actor = { name: user.email, userId: user.id, address: callerOf(request).address };
    const accountId = area.name === 'operator' ? SERVICE_LOG : session.accountId;
    await endSession(context, { userId: user.id, sessionId: session.id, accountId }, actor);
  }
  cookies.remove(reply, 'session');
  return sendSeeOther(reply, `${area.path}/sign-in`);
}
