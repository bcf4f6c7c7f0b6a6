import type { FastifyReply } from 'fastify';
import { SERVICE_LOG } from '../../accounts/audit-entry.ts';
import { offerPasskeySignIn } from '../../accounts/passkeys.ts';
import { endSession, type OpenedSession } from '../../accounts/sessions.ts';
import { recordFailedSignIn, signIn, signInWithPasskey } from '../../accounts/sign-in.ts';
import { ServiceError } from '../../payment/errors.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { enforceRateLimitFrom } from '../rate-windows.ts';
import { type AreaRequest, type AreaRoutes, callerOf } from './context.ts';
import { banner, type FormFields, flashOf, formField } from './forms.ts';
import { sendSeeOther } from './layout.ts';
import { askMore, browserOf, countSignIn, rememberBrowser } from './new-browser-pages.ts';
import {
  type PageAnswer,
  type PageView,
  readOwnSession,
  returnPathOf,
  seeOther,
  visitorPages,
} from './pages.ts';
import { passkeyForm } from './second-factor-pages.ts';

const greetings = {
  ended: banner('plain', 'Your session has ended. Sign in again.'),
  joined:
    'Sign in with the password you chose. If you already had a password, it has not changed: sign in with it, then open the invitation again.',
};

export function registerSignInPages(routes: AreaRoutes): void {
  const pages = visitorPages(routes);
  pages.page('/sign-in', showSignIn);
  pages.form('/sign-in', answerSignIn);
  pages.form('/sign-out', answerSignOut);
}

async function showSignIn(asked: AreaRequest): Promise<PageAnswer> {
  const next = returnPathOf(asked.area, asked.query.get('next') ?? '');
  const signedIn = await readOwnSession(asked);
  if (signedIn?.session.stage === 'open') return sendSeeOther(asked.reply, next);
  return signInView(asked, next, '', flashOf(asked, greetings));
}

function forgotten({ area, context }: AreaRoutes): Html {
  return area.name === 'dashboard' && context.mailer !== null
    ? html`<p class="small"><a href="${area.path}/forgotten">Forgot your password?</a></p>`
    : html`<p class="soft small">Forgot your password? ${area.help} for a link to set a new one.</p>`;
}

function signInView(asked: AreaRequest, next: string, email: string, message: Html): PageView {
  return {
    title: asked.area.signInTitle,
    main: html`${message}
<form class="card" method="post" action="${asked.area.path}/sign-in">
<input type="hidden" name="next" value="${next}">
${formField('email', { label: 'Email address', type: 'email', autocomplete: 'username', value: email })}
${formField('password', { label: 'Password', type: 'password' })}
<button class="button primary wide">Sign in</button>
</form>
${passkeySignIn(asked, next)}
${forgotten(asked)}`,
  };
}

/** Renders a button for sign-in with only a passkey. Hidden without script; empty if passkeys are unavailable. */
function passkeySignIn({ area, context, cookies, reply }: AreaRequest, next: string): Html {
  const offer = offerPasskeySignIn(context);
  if (offer === null) return nothing;
  // The challenge is bound to this browser. If several pages are open, only the last one works.
  cookies.set(reply, 'challenge', offer.sealed);
  return passkeyForm(
    'fields',
    { action: `${area.path}/sign-in`, options: offer.options },
    html`<input type="hidden" name="next" value="${next}">`,
    html`<button class="button wide">Sign in with a passkey</button>`,
  );
}

async function answerPasskey(asked: AreaRequest, form: FormFields, next: string): Promise<PageAnswer> {
  const { context, cookies, area, request } = asked;
  const sealed = cookies.read(request.headers, 'challenge') ?? '';
  const given = { response: form.text('response'), sealed };
  const how = { area: area.name, caller: callerOf(request) };
  await enforceRateLimitFrom(context.limits.signInsOfAddress, request.ip);
  const opened = await signInWithPasskey(context, given, how);
  if (opened !== null) return sendAfterPassword(asked, opened, next);
  traceRefusal(asked, 'second_factor', '');
  const text =
    'This passkey was not accepted. Sign in with your password: the passkey may be asked for after it.';
  return { ...signInView(asked, next, '', banner('bad', text)), status: 401 };
}

function traceRefusal({ context, request }: AreaRequest, step: 'password' | 'second_factor', email: string) {
  context.observeFailure(step);
  request.log.warn(`a sign-in failed: wrong ${step === 'password' ? 'email or password' : 'passkey'}`);
  // Not awaited, because the response time must not reveal whether the user exists.
  void recordFailedSignIn(context, email, callerOf(request).address).catch((error: unknown) =>
    request.log.warn({ err: error }, 'a failed sign-in was not recorded'),
  );
}

async function answerSignIn(asked: AreaRequest, form: FormFields): Promise<PageAnswer> {
  const { context, area, isSecondFactorRequired, request } = asked;
  const [email, next] = [form.text('email'), returnPathOf(area, form.text('next'))];
  if (form.text('response') !== '') return answerPasskey(asked, form, next);
  const how = { area: area.name, caller: callerOf(request), isSecondFactorRequired };
  const isKnown = browserOf(asked, email) !== null;
  let opened: OpenedSession | null;
  try {
    const { stranger, waitSeconds } = await countSignIn(asked, email);
    if (waitSeconds > 0) return askMore(asked, email, waitSeconds);
    opened = await signIn(context, { email, password: form.text('password') }, { ...how, stranger });
  } catch (error) {
    // Offers an emailed link, because other people's attempts must not lock the user out.
    if (isKnown || !(error instanceof ServiceError) || error.errorName !== 'rate_limited') throw error;
    return askMore(asked, email, error.retryAfterSeconds ?? 60, 'network');
  }
  if (opened === null) {
    traceRefusal(asked, 'password', email);
    const message = banner('bad', 'Incorrect email or password.');
    return { ...signInView(asked, next, email, message), status: 401 };
  }
  return sendAfterPassword(asked, opened, next);
}

/** Sets the session cookie and redirects, to the second factor first if one is required. */
export function sendAfterPassword(asked: AreaRequest, opened: OpenedSession, next: string): FastifyReply {
  const { cookies, area, reply } = asked;
  cookies.set(reply, 'session', opened.token);
  if (opened.stage === 'open') {
    rememberBrowser(asked, opened.email);
    return sendSeeOther(reply, next);
  }
  if (opened.stage === 'set_up') return sendSeeOther(reply, `${area.path}/set-up`);
  return sendSeeOther(reply, `${area.path}/second-factor?next=${encodeURIComponent(next)}`);
}

async function answerSignOut(asked: AreaRequest): Promise<PageAnswer> {
  const { context, cookies, area, request, reply } = asked;
  const signedIn = await readOwnSession(asked);
  if (signedIn !== null) {
    const { user, session } = signedIn;
    const actor = { name: user.email, userId: user.id, address: callerOf(request).address };
    const accountId = area.name === 'operator' ? SERVICE_LOG : session.accountId;
    await endSession(context, { ...session, accountId }, actor);
  }
  cookies.remove(reply, 'session');
  return seeOther('/sign-in');
}
