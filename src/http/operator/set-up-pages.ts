import { requireOwnPassword } from '../../accounts/password-links.ts';
import { confirmTotp, offerTotp } from '../../accounts/second-factor.ts';
import { openSession } from '../../accounts/sessions.ts';
import { html } from '../design/html.ts';
import { requirePassing } from '../rate-windows.ts';
import { callerOf } from '../signed-in/context.ts';
import { formFields } from '../signed-in/form-fields.ts';
import { type FormFields, formTokenField } from '../signed-in/forms.ts';
import { rememberBrowser } from '../signed-in/new-browser-pages.ts';
import { pendingPages, recoveryCodesPage, totpCode, totpOffer } from '../signed-in/second-factor-pages.ts';
import { type PageAnswer, type PageView, seeOther } from '../signed-in/signed-in-page.ts';
import { OPERATOR_PATH, type OperatorRoutes, type OperatorVisit } from './operator-page.ts';

const SET_UP_PATH = `${OPERATOR_PATH}/set-up`;

/** `/operator/set-up`: sets up the second factor, before any other page if it is required. */
export function registerSetUpPages(routes: OperatorRoutes): void {
  const pages = pendingPages(routes, 'set_up');
  pages.page('/set-up', showOffer);
  pages.form('/set-up', answerSetUp, showOffer);
}

/** Opens a new session in place of the pending one: a session that began with a password alone never becomes open. */
async function answerSetUp(visit: OperatorVisit, form: FormFields): Promise<PageAnswer> {
  const { context, cookies, request, reply, user, session } = visit;
  await requirePassing(context.limits.signInsOfUser, `${user.id} ${session.id}`);
  await requireOwnPassword(context, user, form.text('password'));
  const offer = { sealed: form.text('sealed'), code: form.text('code') };
  const codes = await confirmTotp(context, visit, offer, visit.actor);
  const isEnded = await context.sessions.endSession(user.id, session.id);
  const opened = isEnded
    ? await openSession(context, user, { area: 'operator', stage: 'open', caller: callerOf(request) })
    : null;
  if (opened === null) return seeOther('/sign-in');
  cookies.set(reply, 'session', opened.token);
  rememberBrowser(visit, user.email);
  return recoveryCodesPage(codes, OPERATOR_PATH);
}

async function showOffer(visit: OperatorVisit): Promise<PageView> {
  const offer = offerTotp(visit.context, visit.user, visit.refused?.text('sealed'));
  const introduction =
    'Scan this code with an authenticator app on your phone, or enter the key. Then enter the six digits that the app shows.';
  return {
    title: 'Set up your second factor',
    main: html`<p>The console controls other people’s money, so a password alone is not enough.</p>
<form class="card" method="post" action="${SET_UP_PATH}">${formTokenField(visit.formToken)}${totpOffer(offer, introduction)}
${formFields(visit, SET_UP_PATH, { password: { label: 'Password', type: 'password' }, ...totpCode })}
<button class="button primary wide">Switch on</button></form>`,
  };
}
