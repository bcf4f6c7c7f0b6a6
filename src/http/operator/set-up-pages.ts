import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireOwnPassword } from '../../accounts/password-links.ts';
import { confirmTotp, hasSecondFactor, offerTotp } from '../../accounts/second-factor.ts';
import { openSession } from '../../accounts/sessions.ts';
import { ServiceError } from '../../domain/errors.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import { callerOf } from '../signed-in/context.ts';
import { banner, formTokenField, formTokenOf, readFormFields, requireOwnForm } from '../signed-in/forms.ts';
import { sendPlainPage, sendSeeOther } from '../signed-in/layout.ts';
import { rememberBrowser } from '../signed-in/new-browser-pages.ts';
import { readPending, recoveryCodesPage, totpFields } from '../signed-in/second-factor-pages.ts';
import type { OwnSession } from '../signed-in/signed-in-page.ts';
import { OPERATOR_PATH, type OperatorRoutes } from './operator-page.ts';

/** `/operator/set-up`: sets up the second factor, before any other page if it is required. */
export function registerSetUpPages(routes: OperatorRoutes): void {
  routes.server.get('/set-up', { exposeHeadRoute: true }, async (request, reply) => {
    const asked = await readAsked(routes, request);
    if (asked === null) return sendSeeOther(reply, `${OPERATOR_PATH}/sign-in`);
    return sendOffer(routes, reply, asked, { status: 200, message: nothing, sealed: '' });
  });
  routes.server.post('/set-up', (request, reply) => answerSetUp(routes, request, reply));
}

/** Opens a new session in place of the pending one: a session that began with a password alone never becomes open. */
async function answerSetUp(
  routes: OperatorRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { context, cookies } = routes;
  const asked = await readAsked(routes, request);
  if (asked === null) return sendSeeOther(reply, `${OPERATOR_PATH}/sign-in`);
  const form = readFormFields(request.body);
  requireOwnForm(request, context.baseUrl, form, asked.token);
  const { user, session } = asked;
  await requirePassing(context.limits.signInsOfUser, `${user.id} ${session.id}`);
  const caller = callerOf(request);
  const actor = { name: user.email, userId: user.id, address: caller.address };
  try {
    await requireOwnPassword(context, user, form.text('password'));
    const offer = { sealed: form.text('sealed'), code: form.text('code') };
    const codes = await confirmTotp(context, asked, offer, actor);
    const isEnded = await context.sessions.endSession(user.id, session.id);
    const opened = isEnded
      ? await openSession(context, user, { area: 'operator', stage: 'open', caller })
      : null;
    if (opened === null) return sendSeeOther(reply, `${OPERATOR_PATH}/sign-in`);
    cookies.set(reply, 'session', opened.token);
    rememberBrowser(routes, reply, user.email);
    return sendPlainPage(routes, reply, 200, recoveryCodesPage(codes, OPERATOR_PATH));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
    const sealed = form.text('sealed');
    return sendOffer(routes, reply, asked, { status: 400, message: banner('bad', error.message), sealed });
  }
}

/** A user who has given the password, has no second factor of any kind, and has to set one up. */
async function readAsked(routes: OperatorRoutes, request: FastifyRequest): Promise<OwnSession | null> {
  const own = await readPending(routes, request, 'set_up');
  return own === null || (await hasSecondFactor(routes.context, own.user)) ? null : own;
}

function sendOffer(
  routes: OperatorRoutes,
  reply: FastifyReply,
  { user, token }: OwnSession,
  { status, message, sealed }: { readonly status: number; readonly message: Html; readonly sealed: string },
): FastifyReply {
  const offer = offerTotp(routes.context, user, sealed);
  const introduction =
    'Scan this code with an authenticator app on your phone, or enter the key. Then enter the six digits that the app shows.';
  return sendPlainPage(routes, reply, status, {
    title: 'Set up your second factor',
    main: html`${message}
<p>The console controls other people’s money, so a password alone is not enough.</p>
<form class="card" method="post" action="${OPERATOR_PATH}/set-up">${formTokenField(formTokenOf(token))}${totpFields(offer, { introduction, passwordId: 'password' })}
<button class="button primary wide">Switch on</button></form>`,
  });
}
