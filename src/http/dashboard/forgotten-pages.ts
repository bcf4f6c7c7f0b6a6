import type { FastifyReply, FastifyRequest } from 'fastify';
import { createPasswordLink } from '../../accounts/password-link.ts';
import { hashSecretToken } from '../../accounts/secret-token.ts';
import { parseUserEmail } from '../../domain/person.ts';
import type { Mailer } from '../../domain/ports/mailer.ts';
import { html } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import { callerOf } from './caller.ts';
import type { DashboardRoutes } from './context.ts';
import { textField } from './fields.ts';
import { formTokenField } from './form-token.ts';
import { openFormToken, readOwnForm, sendPlainPage } from './public-page.ts';
import { DASHBOARD_PATH } from './sections.ts';

/** `/dashboard/forgotten`: a link to set a new password, by e-mail. Only where e-mail is configured. */
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

/** The answer is the same, after the same time, whether there is such a user or not: the mail is sent afterwards. */
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
    title: 'Look into your mail',
    main: html`<p>If somebody with this address has access, a link to set a new password is on its way to them. It works once and for a day.</p>
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
    text: `Somebody, probably you, asked for a new password for the dashboard at ${context.baseUrl}.

Set it here, within a day:
${context.baseUrl}${DASHBOARD_PATH}/password/${token}

If it was not you, do nothing: the old password stays as it is.
`,
  });
}
