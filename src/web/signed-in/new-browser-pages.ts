import { hashSecretToken } from '../../accounts/people-context.ts';
import { parseUserEmail, type User } from '../../accounts/person.ts';
import {
  BROWSER_MARK_MS,
  createBrowserLink,
  knownBrowser,
  markBrowser,
  openBrowserLink,
} from '../../accounts/sessions.ts';
import type { Mail, Mailer } from '../../mail/mail.ts';
import { html } from '../design/html.ts';
import { enforceRateLimit, enforceRateLimitFrom, widestNetworkOf } from '../rate-windows.ts';
import { type Area, type AreaRequest, type AreaRoutes, callerOf } from './context.ts';
import { banner, type FormFields } from './forms.ts';
import { goneView, type PageView, visitorPages } from './pages.ts';

export function rememberBrowser({ context, cookies, reply }: AreaRequest, email: string): void {
  cookies.set(reply, 'browser', markBrowser(context.browsers, email, context.nowMs()), BROWSER_MARK_MS);
}

/** Returns which of the user's known browsers sent the request; null if none. */
export function browserOf({ context, cookies, request }: AreaRequest, email: string): string | null {
  const mark = cookies.read(request.headers, 'browser');
  return mark === null ? null : knownBrowser(context.browsers, mark, email, context.nowMs());
}

/**
 * Counts a sign-in attempt by email address, whether or not the user exists. A known browser has its own counter, so
 * other attempts cannot block it. For an unknown browser, resolves to its network and the seconds until a password
 * alone is accepted. Throws `rate_limited` at rates beyond human typing.
 */
export async function countSignIn(asked: AreaRequest, typedEmail: string) {
  const { request } = asked;
  const { limits } = asked.context;
  const { address } = callerOf(request);
  const email = parseUserEmail(typedEmail);
  const browser = email === null ? null : browserOf(asked, email);
  const user = hashSecretToken(email ?? typedEmail.trim().toLowerCase());
  if (browser === null) await enforceRateLimitFrom(limits.signInsOfAddress, request.ip);
  await enforceRateLimit(limits.signInsOfUser, `${user} ${browser ?? address}`);
  const waitSeconds = browser === null ? await limits.strangersOfUser.take(user) : 0;
  return { stranger: browser === null ? widestNetworkOf(request.ip) : null, waitSeconds };
}

const pathOf = ({ path }: Area) => `${path}/new-browser`;
const toSignIn = ({ path }: Area) => html`<p><a class="button" href="${path}/sign-in">Go to sign-in</a></p>`;

/** Registers `…/new-browser`, which emails a link that marks a browser as known in this area. */
export function registerNewBrowserPages(routes: AreaRoutes, mailer: Mailer): void {
  const pages = visitorPages(routes);
  pages.form('/new-browser', (asked, form) => answerAsking(asked, form, mailer));
  pages.page('/new-browser', showLink);
  pages.form('/new-browser/known', answerLink);
}

/** Shows the link's page without changing anything, so that a followed link cannot replace the browser's cookie. */
async function showLink(asked: AreaRequest): Promise<PageView> {
  const { context, area, query } = asked;
  // The token is in the query, because it exceeds the maximum length of a path segment.
  const token = query.get('token') ?? '';
  const email = openBrowserLink(context.browsers, token, context.nowMs());
  if (email === null) return expiredView(asked);
  return {
    title: 'Sign in with this browser?',
    main: html`<form class="card" method="post"
action="${pathOf(area)}/known"><input type="hidden" name="token" value="${token}">
<p>As <strong><bdi>${email}</bdi></strong>. If this is not you, close this page.</p>
<button class="button primary wide">Yes, sign in with this browser</button></form>${toSignIn(area)}`,
  };
}

async function answerLink(asked: AreaRequest, form: FormFields): Promise<PageView> {
  const { context, area } = asked;
  const email = openBrowserLink(context.browsers, form.text('token'), context.nowMs());
  if (email === null) return expiredView(asked);
  rememberBrowser(asked, email);
  return {
    title: 'This browser is confirmed',
    main: html`<p>You can sign in with it, even while sign-ins from new browsers are blocked.</p>${toSignIn(area)}`,
  };
}

const expiredView = ({ area }: AreaRequest) =>
  goneView(html`<p>It has expired after one hour, or is incomplete.</p>${toSignIn(area)}`);

const reasonsToAsk = {
  user: 'Too many failed sign-ins for this address, from browsers that have not signed in with it before.',
  network: 'Too many sign-ins at the moment from browsers that have not been used before.',
} as const;

export function askMore(
  asked: AreaRequest,
  email: string,
  waitSeconds: number,
  reason: keyof typeof reasonsToAsk = 'user',
): PageView {
  const { context, area, reply } = asked;
  const hasMail = context.mailer !== null;
  reply.header('retry-after', String(waitSeconds));
  return {
    status: 429,
    title: 'Confirm that it’s you',
    main: html`${banner('warn', reasonsToAsk[reason])}
<p>You can still sign in with a browser that you have used before.
${hasMail ? 'To use this browser, we send a link to your email address. Open it here, then sign in.' : withoutMail(area, waitSeconds)}</p>
${
  hasMail &&
  html`<form class="card" method="post" action="${pathOf(area)}"><input type="hidden" name="email" value="${email}">
<button class="button primary wide">Send me a link</button></form>`
}
${toSignIn(area)}`,
  };
}

function withoutMail({ name, help }: Area, waitSeconds: number): string {
  const wait = `This browser can sign in in ${Math.ceil(waitSeconds / 60)} minutes`;
  return name === 'operator'
    ? `${wait}. The operator can unblock it immediately by restarting the service. With email configured, the service sends you a link instead.`
    : `${wait}, or immediately with a link to set a new password. ${help} for one.`;
}

async function answerAsking(asked: AreaRequest, form: FormFields, mailer: Mailer): Promise<PageView> {
  const { context, area } = asked;
  await mailLink(asked, mailer, form.text('email'), 'browser ', async (user) => {
    if (area.name === 'operator' && !user.isOperator) return null;
    const token = createBrowserLink(context.browsers, user.email, context.nowMs());
    return {
      to: user.email,
      subject: 'Sign in with a new browser',
      text:
        `Many passwords were tried for your access to ${area.name === 'operator' ? 'the operator’s console' : 'the dashboard'} at ${context.baseUrl}, ` +
        `in browsers that you have not signed in with before. None of them was let in because of this email.

To sign in with a new browser, open this link in it within an hour:
${context.baseUrl}${pathOf(area)}?token=${token}

You still need your password. Do not share the link. If this was not you, ignore this email.
`,
    };
  });
  return {
    title: 'Check your email',
    main: html`<p>If this address has access, we have sent a link to it. Open the link in this browser within an hour, and sign in.</p>${toSignIn(area)}`,
  };
}

/** Emails a link to a user. Runs after the response, whose timing must not reveal whether the user exists. */
export async function mailLink(
  { context, request }: AreaRequest,
  mailer: Mailer,
  typed: string,
  purpose: string,
  mailOf: (user: User) => Promise<Mail | null>,
): Promise<void> {
  await enforceRateLimitFrom(context.limits.linksOfAddress, request.ip);
  await enforceRateLimit(
    context.limits.mailsOfUser,
    `${purpose}${hashSecretToken(typed.trim().toLowerCase())}`,
  );
  const send = async () => {
    const email = parseUserEmail(typed);
    const user = email === null ? null : await context.people.findUserByEmail(email);
    const mail = user && (await mailOf(user));
    if (mail !== null) await mailer.send(mail);
  };
  void send().catch((error: unknown) => request.log.warn({ err: error }, 'a link was not sent by email'));
}
