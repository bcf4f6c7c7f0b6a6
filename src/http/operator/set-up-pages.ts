import type { FastifyReply } from 'fastify';
import { requireOwnPassword } from '../../accounts/password-links.ts';
import { confirmTotp, hasSecondFactor, offerTotp } from '../../accounts/second-factor.ts';
import { openSession } from '../../accounts/sessions.ts';
import { ServiceError } from '../../domain/errors.ts';
import { html } from '../design/html.ts';
import { requirePassing } from '../rate-windows.ts';
import { type AreaRequest, callerOf } from '../signed-in/context.ts';
import { formFields, type RefusedForm, refusedForm } from '../signed-in/form-fields.ts';
import { formTokenField, formTokenOf } from '../signed-in/forms.ts';
import { readOwnForm, sendPlainPage, sendSeeOther, visitorPages } from '../signed-in/layout.ts';
import { rememberBrowser } from '../signed-in/new-browser-pages.ts';
import { readPending, recoveryCodesPage, totpCode, totpOffer } from '../signed-in/second-factor-pages.ts';
import type { OwnSession } from '../signed-in/signed-in-page.ts';
import { OPERATOR_PATH, type OperatorRoutes } from './operator-page.ts';

const SET_UP_PATH = `${OPERATOR_PATH}/set-up`;

/** `/operator/set-up`: sets up the second factor, before any other page if it is required. */
export function registerSetUpPages(routes: OperatorRoutes): void {
  const pages = visitorPages(routes);
  pages.page('/set-up', async (asked) => {
    const own = await readWithoutFactor(asked);
    if (own === null) return sendSeeOther(asked.reply, `${OPERATOR_PATH}/sign-in`);
    return sendOffer(asked, own);
  });
  pages.form('/set-up', answerSetUp);
}

/** Opens a new session in place of the pending one: a session that began with a password alone never becomes open. */
async function answerSetUp(asked: AreaRequest): Promise<FastifyReply> {
  const { context, cookies, request, reply } = asked;
  const own = await readWithoutFactor(asked);
  if (own === null) return sendSeeOther(reply, `${OPERATOR_PATH}/sign-in`);
  const form = readOwnForm(asked, 'session');
  const { user, session } = own;
  await requirePassing(context.limits.signInsOfUser, `${user.id} ${session.id}`);
  const caller = callerOf(request);
  const actor = { name: user.email, userId: user.id, address: caller.address };
  try {
    await requireOwnPassword(context, user, form.text('password'));
    const offer = { sealed: form.text('sealed'), code: form.text('code') };
    const codes = await confirmTotp(context, own, offer, actor);
    const isEnded = await context.sessions.endSession(user.id, session.id);
    const opened = isEnded
      ? await openSession(context, user, { area: 'operator', stage: 'open', caller })
      : null;
    if (opened === null) return sendSeeOther(reply, `${OPERATOR_PATH}/sign-in`);
    cookies.set(reply, 'session', opened.token);
    rememberBrowser(asked, user.email);
    return sendPlainPage(asked, 200, recoveryCodesPage(codes, OPERATOR_PATH));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
    return sendOffer(asked, own, refusedForm(form, error, SET_UP_PATH));
  }
}

/** A user who has given the password, has no second factor of any kind, and has to set one up. */
async function readWithoutFactor(asked: AreaRequest): Promise<OwnSession | null> {
  const own = await readPending(asked, 'set_up');
  return own === null || (await hasSecondFactor(asked.context, own.user)) ? null : own;
}

function sendOffer(asked: AreaRequest, { user, token }: OwnSession, refused?: RefusedForm): FastifyReply {
  const offer = offerTotp(asked.context, user, refused?.text('sealed'));
  const introduction =
    'Scan this code with an authenticator app on your phone, or enter the key. Then enter the six digits that the app shows.';
  return sendPlainPage(asked, refused === undefined ? 200 : 400, {
    title: 'Set up your second factor',
    ...(refused && { refused }),
    main: html`<p>The console controls other people’s money, so a password alone is not enough.</p>
<form class="card" method="post" action="${SET_UP_PATH}">${formTokenField(formTokenOf(token))}${totpOffer(offer, introduction)}
${formFields({ refused }, SET_UP_PATH, { password: { label: 'Password', type: 'password' }, ...totpCode })}
<button class="button primary wide">Switch on</button></form>`,
  });
}
