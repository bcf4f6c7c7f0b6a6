import { askForPasskey } from '../../accounts/passkeys.ts';
import type { User } from '../../accounts/person.ts';
import { confirmTotp, hasSecondFactor, offerTotp, type TotpOffer } from '../../accounts/second-factor.ts';
import { openSession } from '../../accounts/sessions.ts';
import { passSecondFactor } from '../../accounts/sign-in.ts';
import { invalidField } from '../../payment/errors.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { qrCode } from '../design/qr-code.ts';
import { enforceRateLimit } from '../rate-windows.ts';
import {
  type AreaContext,
  type AreaRequest,
  type AreaRoutes,
  type AreaVisit,
  callerOf,
  DASHBOARD_PATH,
  recordWrongFactor,
  requirePassword,
} from './context.ts';
import { banner, type Fields, type FormFields, formFields, refusedForm } from './forms.ts';
import { plainPage, sendSeeOther } from './layout.ts';
import { browserOf, rememberBrowser } from './new-browser-pages.ts';
import {
  createPages,
  type PageAnswer,
  type PageView,
  readOwnSession,
  returnPathOf,
  seeOther,
  visitOf,
} from './pages.ts';

/** Renders the page that follows a confirmed form. Its script asks the browser to create a passkey. */
export function newPasskeyPage(options: object): PageView {
  const asked = { action: `${DASHBOARD_PATH}/security/new-passkey`, options, use: 'make' } as const;
  const words = html`<p>Your browser asks where to keep the passkey.</p>`;
  const button = html`<div class="actions"><button class="button primary">Create the passkey</button></div>`;
  return {
    title: 'Add a passkey',
    main: html`${passkeyForm('card', asked, words, button)}
<noscript><p>Adding a passkey requires JavaScript.</p></noscript>`,
  };
}

/** Renders a form whose script asks the browser for a passkey. */
export function passkeyForm(
  style: 'card' | 'fields',
  { action, options, use = 'use' }: { action: string; options: object; use?: 'make' | 'use' },
  fields: Html,
  button: Html,
): Html {
  return html`<form class="${style}" method="post" action="${action}" data-passkey="${use}" data-options="${JSON.stringify(options)}"
hidden>${fields}<input type="hidden" name="response" value="">
${button}
<p role="status" data-status></p></form>`;
}

export function registerSecondFactorPages(routes: AreaRoutes): void {
  const pages = pendingPages(routes, 'second_factor');
  pages.page('/second-factor', (visit) => showQuestion(visit, visit.query.get('next') ?? '', nothing));
  pages.form('/second-factor', answerCode);
}

async function answerCode(visit: AreaVisit, form: FormFields): Promise<PageAnswer> {
  const { context, cookies, area, request, reply } = visit;
  const next = returnPathOf(area, form.text('next'));
  const how = { area: area.name, caller: callerOf(request) };
  const response = form.text('response');
  const passkey = response === '' ? null : { response };
  const waitSeconds = passkey !== null ? 0 : await countCode(visit, visit.user);
  if (waitSeconds > 0) {
    reply.header('retry-after', String(waitSeconds));
    const text = `Too many wrong codes. Use a passkey if you have one, or try again in ${Math.ceil(waitSeconds / 60)} minutes.`;
    return { ...(await showQuestion(visit, next, banner('bad', text))), status: 429 };
  }
  const opened = await passSecondFactor(context, visit, passkey ?? { code: form.text('code') }, how);
  if (opened === null) {
    await recordWrongFactor(visit);
    const text =
      passkey === null
        ? 'The code is wrong or was already used. Wait for the next one.'
        : 'The passkey was not accepted. Please try again.';
    const refusal = invalidField('The form', text, passkey === null ? 'code' : '');
    const refused = refusedForm(form, refusal, visit.path);
    return {
      ...(await showQuestion({ ...visit, refused }, next, passkey === null ? nothing : banner('bad', text))),
      status: 401,
    };
  }
  cookies.set(reply, 'session', opened.token);
  rememberBrowser(visit, opened.email);
  return sendSeeOther(reply, next);
}

/** Counts an attempt and returns the seconds to wait. An attacker cannot use up the limit of a known browser. */
async function countCode(asked: AreaRequest, { id, email }: User): Promise<number> {
  return asked.context.limits.codesOfUser.take(browserOf(asked, email) === null ? id : `${id} known`);
}

/** Registers pages for users at this stage of the sign-in. Other visitors must sign in. */
function pendingPages<Context extends AreaContext>(
  routes: AreaRoutes<Context>,
  stage: 'second_factor' | 'set_up',
) {
  const { path } = routes.area;
  return createPages<Context, AreaVisit<Context>>(routes, {
    path,
    async admit(asked) {
      const own = await readOwnSession(asked);
      const isPending =
        own?.session.stage === stage &&
        (stage !== 'set_up' || !(await hasSecondFactor(asked.context, own.user)));
      return isPending
        ? { visit: visitOf(asked, own, 'UTC') }
        : { answered: sendSeeOther(asked.reply, `${path}/sign-in`) };
    },
    layout: plainPage,
  });
}

async function showQuestion(visit: AreaVisit, next: string, message: Html): Promise<PageView> {
  const { context, area } = visit;
  const options = await askForPasskey(context, visit);
  const action = `${area.path}/second-factor`;
  const nextField = html`<input type="hidden" name="next" value="${returnPathOf(area, next)}">`;
  const button = html`<button class="button primary wide">Use a passkey</button>`;
  const withoutPasskey =
    context.party === null
      ? 'Passkeys do not work at this URL.'
      : 'Use this if your passkey is not available, or JavaScript is off.';
  return {
    title: options === null ? 'Your code' : 'Your second factor',
    main: html`${message}${options === null ? nothing : passkeyForm('card', { action, options }, nextField, button)}
<form class="card" method="post" action="${action}">${nextField}
${formFields(visit, action, { code: { autocomplete: 'one-time-code', ...codeWords(visit.user, withoutPasskey) } })}
<button class="button primary wide">Continue</button></form>
<p class="soft small">Lost your device and your recovery codes? ${area.help}.</p>`,
  };
}

/** Returns the label and hint of a code's field. Users without an authenticator app have only recovery codes. */
export function codeWords({ totpSecret }: User, recoveryHint: string) {
  return totpSecret === null
    ? { label: 'Recovery code', hint: recoveryHint }
    : { label: 'Code from your authenticator app', hint: 'Six digits, or one of your recovery codes.' };
}

export const totpCode: Fields = { code: { label: 'Code', autocomplete: 'one-time-code' } };

export function totpOffer({ secret, uri, sealed }: TotpOffer, introduction: string): Html {
  return html`<input type="hidden" name="sealed" value="${sealed}">
<p>${introduction}</p>
${qrCode(uri, 'QR code for your authenticator app, with the same key as below')}
<dl class="facts"><div><dt>Key</dt><dd><code>${secret.match(/.{1,4}/g)?.join(' ') ?? secret}</code></dd></div></dl>`;
}

/** Registers `/operator/set-up`, where a user has to set up a required second factor before opening other pages. */
export function registerSetUpPages(routes: AreaRoutes): void {
  const pages = pendingPages(routes, 'set_up');
  pages.page('/set-up', showOffer);
  pages.form('/set-up', answerSetUp, showOffer);
}

/** Replaces the pending session, because a session that began with only a password never becomes a full one. */
async function answerSetUp(visit: AreaVisit, form: FormFields): Promise<PageAnswer> {
  const { context, cookies, area, request, reply, user, session } = visit;
  await enforceRateLimit(context.limits.signInsOfUser, `${user.id} ${session.id}`);
  await requirePassword(visit, form.text('password'));
  const offer = { sealed: form.text('sealed'), code: form.text('code') };
  const codes = await confirmTotp(context, visit, offer, visit.actor);
  const isEnded = await context.sessions.endSession(user.id, session.id);
  const opened = isEnded
    ? await openSession(context, user, { area: area.name, stage: 'open', caller: callerOf(request) })
    : null;
  if (opened === null) return seeOther('/sign-in');
  cookies.set(reply, 'session', opened.token);
  rememberBrowser(visit, user.email);
  return recoveryCodesPage(codes, area.path);
}

async function showOffer(visit: AreaVisit): Promise<PageView> {
  const offer = offerTotp(visit.context, visit.user, visit.refused?.text('sealed'));
  const introduction =
    'Scan this code with an authenticator app on your phone, or enter the key. Then enter the six digits that the app shows.';
  return {
    title: 'Set up your second factor',
    main: html`<p>The console controls other people’s money, so a password alone is not enough.</p>
<form class="card" method="post" action="${visit.path}">${totpOffer(offer, introduction)}
${formFields(visit, visit.path, { password: { label: 'Password', type: 'password' }, ...totpCode })}
<button class="button primary wide">Turn on</button></form>`,
  };
}

/** Renders the only page that shows recovery codes, with a link to `nextPath`. The download needs no script. */
export function recoveryCodesPage(codes: readonly string[], nextPath: string): PageView {
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(codes.join('\n'))}`;
  return {
    title: 'Your recovery codes',
    main: html`<section class="card">
<p class="banner">Store these codes where you can find them without your phone. Each works once instead of a code. They are not shown again.</p>
<ul class="grid" id="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<div class="actions screen-only"><button class="button" type="button" data-copies="codes" hidden>Copy</button>
<a class="button" href="${file}" download="recovery-codes.txt">Download</a>
<a class="button primary" href="${nextPath}">I have saved them</a><span id="copied" role="status"></span></div></section>`,
  };
}
