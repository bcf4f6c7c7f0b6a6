import type { FastifyReply, FastifyRequest } from 'fastify';
import { createPasswordLink, readLink, setPasswordByLink } from '../../accounts/password-links.ts';
import { hashSecretToken } from '../../accounts/people-context.ts';
import { acceptInvitation, findInvited } from '../../accounts/users.ts';
import { ServiceError } from '../../domain/errors.ts';
import { parseUserEmail } from '../../domain/person.ts';
import type { Mailer } from '../../domain/ports/mail.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { addressGroupOf, requirePassing } from '../rate-limit.ts';
import { callerOf, DASHBOARD_PATH, type DashboardRoutes } from '../signed-in/context.ts';
import { banner, formTokenField, textField } from '../signed-in/forms.ts';
import { openFormToken, readOwnForm, sendPlainPage, sendSeeOther } from '../signed-in/layout.ts';
import { rememberBrowser } from '../signed-in/new-browser-pages.ts';
import { readOwnSession } from '../signed-in/signed-in-page.ts';

interface LinkRoute {
  Params: { token: string };
}

/** `/dashboard/password/:token`: the page of a link that sets a password. Opening it does not use it up. */
export function registerPasswordLinkPages(routes: DashboardRoutes): void {
  routes.server.get<LinkRoute>('/password/:token', { exposeHeadRoute: true }, (request, reply) =>
    showForm(routes, request, reply, { status: 200, message: nothing }),
  );
  routes.server.post<LinkRoute>('/password/:token', async (request, reply) => {
    const form = readOwnForm(routes, request);
    const address = addressGroupOf(request.ip);
    await requirePassing(routes.context.limits.signInsOfAddress, address);
    const link = await readLink(routes.context, request.params.token, 'password');
    try {
      const isSet = await setPasswordByLink(
        routes.context,
        request.params.token,
        form.text('password'),
        address,
      );
      // The holder of a link from the user's mailbox or the operator is no stranger.
      if (isSet && link !== null) rememberBrowser(routes, reply, link.email);
      if (isSet) return sendSeeOther(reply, `${DASHBOARD_PATH}/sign-in?flash=password-set`);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
      return showForm(routes, request, reply, { status: 400, message: banner('bad', error.message) });
    }
    return sendGone(routes, reply);
  });
}

async function showForm(
  routes: DashboardRoutes,
  request: FastifyRequest<LinkRoute>,
  reply: FastifyReply,
  { status, message }: { readonly status: number; readonly message: Html },
): Promise<FastifyReply> {
  const link = await readLink(routes.context, request.params.token, 'password');
  if (link === null) return sendGone(routes, reply);
  return sendPlainPage(routes, reply, status, {
    title: 'Set your password',
    main: html`${message}
<form class="card" method="post">
${formTokenField(openFormToken(routes, request, reply))}
<input type="hidden" name="email" value="${link.email}" autocomplete="username">
<p>For <strong><bdi>${link.email}</bdi></strong></p>
${textField({
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  hint: 'At least 12 characters. All your sessions end.',
})}
<button class="button primary wide">Set password</button>
</form>`,
  });
}

function sendGone(routes: DashboardRoutes, reply: FastifyReply): FastifyReply {
  return sendPlainPage(routes, reply, 404, {
    title: 'This link does not work',
    main: html`<p>It was already used or replaced, your password or permissions have changed, or it has expired after a day. Ask the operator of this service for a new one.</p>
<p><a class="button" href="${DASHBOARD_PATH}/sign-in">Sign in</a></p>`,
  });
}

/** `/dashboard/forgotten`: requests a link to set a new password by e-mail. Only if e-mail is configured. */
export function registerForgottenPages(routes: DashboardRoutes, mailer: Mailer): void {
  routes.server.get('/forgotten', { exposeHeadRoute: true }, async (request, reply) =>
    sendPlainPage(routes, reply, 200, {
      title: 'Forgotten your password?',
      main: html`<form class="card" method="post" action="${DASHBOARD_PATH}/forgotten">${formTokenField(openFormToken(routes, request, reply))}
${textField({ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username' })}
<button class="button primary wide">Send me a link</button></form>`,
    }),
  );
  routes.server.post('/forgotten', (request, reply) => answerForgotten(routes, mailer, request, reply));
}

/** Answers the same after the same time, whether there is such a user or not: the mail is sent afterwards. */
async function answerForgotten(
  routes: DashboardRoutes,
  mailer: Mailer,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context } = routes;
  const typed = readOwnForm(routes, request).text('email');
  const { address } = callerOf(request);
  await requirePassing(context.limits.signInsOfAddress, address);
  await requirePassing(context.limits.mailsOfUser, hashSecretToken(typed.trim().toLowerCase()));
  void sendLink(routes, mailer, typed).catch((error: unknown) =>
    request.log.warn({ err: error }, 'a link for a new password was not sent'),
  );
  return sendPlainPage(routes, reply, 200, {
    title: 'Check your e-mail',
    main: html`<p>If this address has access, we have sent a link to set a new password to it. The link works once, within a day.</p>
<p><a class="button" href="${DASHBOARD_PATH}/sign-in">Back</a></p>`,
  });
}

async function sendLink({ context }: DashboardRoutes, mailer: Mailer, typed: string): Promise<void> {
  const email = parseUserEmail(typed);
  const user = email === null ? null : await context.people.findUserByEmail(email);
  if (user === null) return;
  const token = await createPasswordLink(context, user, 'forgotten');
  await mailer.send({
    to: user.email,
    subject: 'Set a new password',
    text: `A new password was requested for the dashboard at ${context.baseUrl}.

Set it here within a day:
${context.baseUrl}${DASHBOARD_PATH}/password/${token}

If you did not request it, ignore this e-mail. Your password stays unchanged.
`,
  });
}

/** `/dashboard/invitation/:token`: makes the invited person a member. Opening it does not use it up. */
export function registerInvitationPages(routes: DashboardRoutes): void {
  routes.server.get<LinkRoute>('/invitation/:token', { exposeHeadRoute: true }, (request, reply) =>
    showInvitation(routes, request, reply, { status: 200, message: nothing }),
  );
  routes.server.post<LinkRoute>('/invitation/:token', async (request, reply) => {
    const form = readOwnForm(routes, request);
    const address = addressGroupOf(request.ip);
    await requirePassing(routes.context.limits.signInsOfAddress, address);
    const signedInAs = await readOwnUserId(routes, request);
    const password = form.text('password');
    try {
      const how = { signedInAs, password, address };
      const result = await acceptInvitation(routes.context, request.params.token, how);
      if (result === 'gone') return sendInvitationGone(routes, reply);
      return sendSeeOther(
        reply,
        result === 'accepted' ? DASHBOARD_PATH : `${DASHBOARD_PATH}/sign-in?flash=joined`,
      );
    } catch (error) {
      if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
      return showInvitation(routes, request, reply, { status: 400, message: banner('bad', error.message) });
    }
  });
}

async function readOwnUserId(routes: DashboardRoutes, request: FastifyRequest): Promise<string | null> {
  const own = await readOwnSession(routes, request);
  return own?.session.stage === 'open' ? own.user.id : null;
}

async function showInvitation(
  routes: DashboardRoutes,
  request: FastifyRequest<LinkRoute>,
  reply: FastifyReply,
  { status, message }: { readonly status: number; readonly message: Html },
): Promise<FastifyReply> {
  const { token } = request.params;
  const invited = await findInvited(routes.context, token);
  if (invited === null) return sendInvitationGone(routes, reply);
  const { link, accountName, user } = invited;
  const isThem = user !== null && (await readOwnUserId(routes, request)) === user.id;
  const formToken = openFormToken(routes, request, reply);
  return sendPlainPage(routes, reply, status, {
    title: 'You are invited',
    main: html`${message}
<p><strong><bdi>${link.email}</bdi></strong> is invited to <strong><bdi>${accountName}</bdi></strong> as ${link.role}.</p>
${isThem ? acceptForm(formToken, nothing) : waysToAccept(formToken, link.email, `${DASHBOARD_PATH}/invitation/${token}`)}`,
  });
}

/** The same page for every address: it must not reveal whether a user has the address. */
function waysToAccept(formToken: string, email: string, path: string): Html {
  return html`<section class="card"><h2>You have a password here</h2><p>Sign in with this e-mail address, then accept.</p>
<a class="button wide" href="${DASHBOARD_PATH}/sign-in?next=${encodeURIComponent(path)}">Sign in</a></section>
${acceptForm(formToken, html`<h2>You are new here</h2>${passwordFields(email)}`)}`;
}

function acceptForm(formToken: string, fields: Html): Html {
  return html`<form class="card" method="post">${formTokenField(formToken)}${fields}
<button class="button primary wide">Accept the invitation</button></form>`;
}

function passwordFields(email: string): Html {
  return html`<input type="hidden" name="email" value="${email}" autocomplete="username">
${textField({
  name: 'password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  hint: 'At least 12 characters.',
})}`;
}

function sendInvitationGone(routes: DashboardRoutes, reply: FastifyReply): FastifyReply {
  return sendPlainPage(routes, reply, 404, {
    title: 'This invitation does not work',
    main: html`<p>It was already accepted or withdrawn, or has expired after a week. Ask an owner of the account for a new one.</p>
<p><a class="button" href="${DASHBOARD_PATH}/sign-in">Sign in</a></p>`,
  });
}
