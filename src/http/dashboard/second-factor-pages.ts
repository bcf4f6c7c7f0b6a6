import type { FastifyReply, FastifyRequest } from 'fastify';
import { passByPasskey, passSecondFactor } from '../../accounts/pass-second-factor.ts';
import { askForPasskey } from '../../accounts/passkeys.ts';
import { readSession, type SignedIn } from '../../accounts/read-session.ts';
import { hasPasskeys } from '../../domain/dashboard-session.ts';
import { ServiceError } from '../../domain/errors.ts';
import { type RelyingParty, relyingPartyOf } from '../../domain/passkey.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import { callerOf } from './caller.ts';
import type { AreaRoutes } from './context.ts';
import { notice, textField } from './fields.ts';
import { readFormFields } from './form-fields.ts';
import { formTokenField, formTokenOf, isOwnForm } from './form-token.ts';
import { rememberBrowser } from './own-browser.ts';
import { sendSeeOther } from './page-headers.ts';
import { usePasskeyForm } from './passkey-forms.ts';
import { sendPlainPage } from './public-page.ts';
import { returnPathOf } from './return-path.ts';

/** The question for a code, between the password and what it protects. */
export function registerSecondFactorPages(routes: AreaRoutes): void {
  routes.server.get('/second-factor', async (request, reply) => {
    const asked = await readAsked(routes, request);
    if (asked === null) return sendSeeOther(reply, `${routes.area.path}/sign-in`);
    const next = new URL(request.url, 'http://localhost').searchParams.get('next') ?? '';
    return sendQuestion(routes, reply, { status: 200, asked, next, message: nothing });
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
  const response = form.text('response');
  const party = partyOf(routes);
  const isPasskey = response !== '' && party !== null;
  const opened = isPasskey
    ? await passByPasskey(context, asked.signedIn, { response, party }, how)
    : await passSecondFactor(context, asked.signedIn, form.text('code'), how);
  if (opened === null) {
    const text = isPasskey
      ? 'The passkey was not accepted. Please try again.'
      : 'The code is wrong, or was used already. Wait for the next one.';
    return sendQuestion(routes, reply, { status: 401, asked, next, message: notice('bad', text) });
  }
  cookies.set(reply, 'session', opened.token);
  rememberBrowser(routes, reply, opened.email);
  return sendSeeOther(reply, next);
}

interface Asked {
  readonly token: string;
  readonly signedIn: SignedIn;
}

function partyOf({ area, context }: AreaRoutes): RelyingParty | null {
  return hasPasskeys(area.name) ? relyingPartyOf(context.baseUrl) : null;
}

/** Whoever has given the password and is asked for the second factor; null for everybody else. */
async function readAsked(
  { context, cookies, area }: AreaRoutes,
  request: FastifyRequest,
): Promise<Asked | null> {
  const token = cookies.read(request.headers, 'session');
  const signedIn = token === null ? null : await readSession(context, token, area.name);
  return token === null || signedIn?.session.stage !== 'second_factor' ? null : { token, signedIn };
}

async function sendQuestion(
  routes: AreaRoutes,
  reply: FastifyReply,
  {
    status,
    asked: { token, signedIn },
    next,
    message,
  }: { readonly status: number; readonly asked: Asked; readonly next: string; readonly message: Html },
): Promise<FastifyReply> {
  const party = partyOf(routes);
  const options = party === null ? null : await askForPasskey(routes.context, signedIn, party);
  const form = {
    action: `${routes.area.path}/second-factor`,
    formToken: formTokenOf(token),
    next: returnPathOf(routes.area, next),
  };
  const field =
    signedIn.user.totpSecret === null
      ? {
          label: 'Recovery code',
          hint: 'Where your passkey is not at hand, or your browser runs no scripts.',
        }
      : {
          label: 'Code from your authenticator app',
          hint: 'Six digits, or one of your recovery codes.',
        };
  return sendPlainPage(routes, reply, status, {
    title: options === null ? 'Your code' : 'Your second factor',
    main: html`${message}${options === null ? nothing : usePasskeyForm({ ...form, options })}
<form class="card" method="post" action="${form.action}">${formTokenField(form.formToken)}<input type="hidden" name="next" value="${form.next}">
${textField({ name: 'code', autocomplete: 'one-time-code', ...field })}
<button class="button primary wide">Go on</button></form>
<p class="soft small">Lost your device and your recovery codes? ${routes.area.help}.</p>`,
  });
}
