import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptInvitation, findInvited } from '../../accounts/invite.ts';
import { readSession } from '../../accounts/read-session.ts';
import { ServiceError } from '../../domain/errors.ts';
import { addressGroupOf } from '../address-group.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import type { DashboardRoutes } from './context.ts';
import { notice, textField } from './fields.ts';
import { formTokenField } from './form-token.ts';
import { sendSeeOther } from './page-headers.ts';
import { openFormToken, readOwnForm, sendPlainPage } from './public-page.ts';
import { DASHBOARD_PATH } from './sections.ts';

interface LinkRoute {
  Params: { token: string };
}

/** `/dashboard/invitation/:token`: who was invited becomes a member. Opening it does not use it up. */
export function registerInvitationPages(routes: DashboardRoutes): void {
  routes.server.get<LinkRoute>('/invitation/:token', (request, reply) =>
    showInvitation(routes, request, reply, { status: 200, message: nothing }),
  );
  routes.server.post<LinkRoute>('/invitation/:token', async (request, reply) => {
    const form = readOwnForm(routes, request);
    const address = addressGroupOf(request.ip);
    await requirePassing(routes.context.limits.signInsOfAddress, address);
    const signedInAs = await readOwnUserId(routes, request);
    const password = form.text('password');
    try {
      if (await acceptInvitation(routes.context, request.params.token, { signedInAs, password, address })) {
        return sendSeeOther(
          reply,
          signedInAs === null ? `${DASHBOARD_PATH}/sign-in?said=joined` : DASHBOARD_PATH,
        );
      }
    } catch (error) {
      if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
      return showInvitation(routes, request, reply, { status: 400, message: notice('bad', error.message) });
    }
    return sendGone(routes, reply);
  });
}

async function readOwnUserId(
  { context, cookies }: DashboardRoutes,
  request: FastifyRequest,
): Promise<string | null> {
  const token = cookies.read(request.headers, 'session');
  const signedIn = token === null ? null : await readSession(context, token, 'dashboard');
  return signedIn?.session.stage === 'open' ? signedIn.user.id : null;
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
${
  user !== null && !isThem
    ? html`<p>Sign in with this address to accept.</p><p><a class="button primary wide" href="${DASHBOARD_PATH}/sign-in?next=${encodeURIComponent(`${DASHBOARD_PATH}/invitation/${token}`)}">Sign in</a></p>`
    : html`<form class="card" method="post">${formTokenField(formToken)}
${user !== null ? nothing : passwordFields(link.email)}
<button class="button primary wide">Accept the invitation</button></form>`
}`,
  });
}

function passwordFields(email: string): Html {
  return html`<input type="hidden" name="email" value="${email}" autocomplete="username">
${textField({
  name: 'password',
  label: 'Your new password',
  type: 'password',
  autocomplete: 'new-password',
  hint: 'At least 12 characters.',
})}`;
}

function sendGone(routes: DashboardRoutes, reply: FastifyReply): FastifyReply {
  return sendPlainPage(routes, reply, 404, {
    title: 'This invitation does not work',
    main: html`<p>It was accepted already, withdrawn, or is older than a week. Ask an owner of the account for another.</p>
<p><a class="button" href="${DASHBOARD_PATH}/sign-in">Sign in</a></p>`,
  });
}
