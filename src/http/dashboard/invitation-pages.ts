import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptInvitation, findInvited } from '../../accounts/users.ts';
import { ServiceError } from '../../domain/errors.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { addressGroupOf, requirePassing } from '../rate-limit.ts';
import { readOwnSession } from '../signed-in/admission.ts';
import { DASHBOARD_PATH, type DashboardRoutes } from '../signed-in/context.ts';
import { banner, formTokenField, textField } from '../signed-in/forms.ts';
import { openFormToken, readOwnForm, sendPlainPage, sendSeeOther } from '../signed-in/layout.ts';

interface LinkRoute {
  Params: { token: string };
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
      if (result === 'gone') return sendGone(routes, reply);
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
  if (invited === null) return sendGone(routes, reply);
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

function sendGone(routes: DashboardRoutes, reply: FastifyReply): FastifyReply {
  return sendPlainPage(routes, reply, 404, {
    title: 'This invitation does not work',
    main: html`<p>It was already accepted or withdrawn, or has expired after a week. Ask an owner of the account for a new one.</p>
<p><a class="button" href="${DASHBOARD_PATH}/sign-in">Sign in</a></p>`,
  });
}
