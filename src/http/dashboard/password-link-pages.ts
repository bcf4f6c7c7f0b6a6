import type { FastifyReply, FastifyRequest } from 'fastify';
import { readLink, setPasswordByLink } from '../../accounts/password-link.ts';
import { ServiceError } from '../../domain/errors.ts';
import { addressGroupOf } from '../address-group.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import type { DashboardRoutes } from './context.ts';
import { notice, textField } from './fields.ts';
import { formTokenField } from './form-token.ts';
import { rememberBrowser } from './own-browser.ts';
import { sendSeeOther } from './page-headers.ts';
import { openFormToken, readOwnForm, sendPlainPage } from './public-page.ts';
import { DASHBOARD_PATH } from './sections.ts';

interface LinkRoute {
  Params: { token: string };
}

/** `/dashboard/password/:token`: the link by which a password is set. Opening it does not use it up. */
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
      // Whoever reads the user's mail, or is trusted by the operator, is no stranger.
      if (isSet && link !== null) rememberBrowser(routes, reply, link.email);
      if (isSet) return sendSeeOther(reply, `${DASHBOARD_PATH}/sign-in?said=password-set`);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
      return showForm(routes, request, reply, { status: 400, message: notice('bad', error.message) });
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
    main: html`<p>It was used already, replaced by a newer one, ended by a change of your password or rights, or is older than a day. Ask the operator of this service for another.</p>
<p><a class="button" href="${DASHBOARD_PATH}/sign-in">Sign in</a></p>`,
  });
}
