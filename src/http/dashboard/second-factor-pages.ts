import type { FastifyReply, FastifyRequest } from 'fastify';
import { passSecondFactor } from '../../accounts/pass-second-factor.ts';
import { readSession, type SignedIn } from '../../accounts/read-session.ts';
import { ServiceError } from '../../domain/errors.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import { callerOf } from './caller.ts';
import type { AreaRoutes } from './context.ts';
import { notice, textField } from './fields.ts';
import { readFormFields } from './form-fields.ts';
import { formTokenField, formTokenOf, isOwnForm } from './form-token.ts';
import { rememberBrowser } from './own-browser.ts';
import { sendSeeOther } from './page-headers.ts';
import { sendPlainPage } from './public-page.ts';
import { returnPathOf } from './return-path.ts';

/** The question for a code, between the password and what it protects. */
export function registerSecondFactorPages(routes: AreaRoutes): void {
  routes.server.get('/second-factor', async (request, reply) => {
    const asked = await readAsked(routes, request);
    if (asked === null) return sendSeeOther(reply, `${routes.area.path}/sign-in`);
    const next = new URL(request.url, 'http://localhost').searchParams.get('next') ?? '';
    return sendQuestion(routes, reply, { status: 200, token: asked.token, next, message: nothing });
  });
  routes.server.post('/second-factor', (request, reply) => answerCode(routes, request, reply));
}

async function answerCode(
  routes: AreaRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, cookies } = routes;
  const asked = await readAsked(routes, request);
  if (asked === null) return sendSeeOther(reply, `${routes.area.path}/sign-in`);
  const form = readFormFields(request.body);
  if (!isOwnForm(request, context.baseUrl, form, asked.token)) throw new ServiceError('foreign_form');
  await requirePassing(context.limits.codesOfUser, asked.signedIn.user.id);
  const next = returnPathOf(routes.area, form.text('next'));
  const how = { area: routes.area.name, caller: callerOf(request) };
  const opened = await passSecondFactor(context, asked.signedIn, form.text('code'), how);
  if (opened === null) {
    const message = notice('bad', 'The code is wrong, or was used already. Wait for the next one.');
    return sendQuestion(routes, reply, { status: 401, token: asked.token, next, message });
  }
  cookies.set(reply, 'session', opened.token);
  rememberBrowser(routes, reply, opened.email);
  return sendSeeOther(reply, next);
}

/** Whoever has given the password and is asked for the code; null for everybody else. */
async function readAsked(
  { context, cookies, area }: AreaRoutes,
  request: FastifyRequest,
): Promise<{ readonly token: string; readonly signedIn: SignedIn } | null> {
  const token = cookies.read(request.headers, 'session');
  const signedIn = token === null ? null : await readSession(context, token, area.name);
  return token === null || signedIn?.session.stage !== 'second_factor' ? null : { token, signedIn };
}

function sendQuestion(
  routes: AreaRoutes,
  reply: FastifyReply,
  {
    status,
    token,
    next,
    message,
  }: { readonly status: number; readonly token: string; readonly next: string; readonly message: Html },
): FastifyReply {
  return sendPlainPage(routes, reply, status, {
    title: 'Your code',
    main: html`${message}
<form class="card" method="post" action="${routes.area.path}/second-factor">${formTokenField(formTokenOf(token))}<input type="hidden" name="next" value="${returnPathOf(routes.area, next)}">
${textField({ name: 'code', label: 'Code from your authenticator app', autocomplete: 'one-time-code', hint: 'Six digits, or one of your recovery codes.' })}
<button class="button primary wide">Go on</button></form>
<p class="soft small">Lost your device and your recovery codes? ${routes.area.help}.</p>`,
  });
}
