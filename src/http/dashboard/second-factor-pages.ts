import type { FastifyReply, FastifyRequest } from 'fastify';
import { passByPasskey, passSecondFactor } from '../../accounts/pass-second-factor.ts';
import { askForPasskey } from '../../accounts/passkeys.ts';
import { readSession, type SignedIn } from '../../accounts/read-session.ts';
import { ServiceError } from '../../domain/errors.ts';
import { type RelyingParty, relyingPartyOf } from '../../domain/passkey.ts';
import type { User } from '../../domain/person.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { callerOf } from './caller.ts';
import type { AreaRoutes } from './context.ts';
import { notice, textField } from './fields.ts';
import { readFormFields } from './form-fields.ts';
import { formTokenField, formTokenOf, isOwnForm } from './form-token.ts';
import { isKnownBrowser, rememberBrowser } from './own-browser.ts';
import { sendSeeOther } from './page-headers.ts';
import { usePasskeyForm } from './passkey-forms.ts';
import { sendPlainPage } from './public-page.ts';
import { returnPathOf } from './return-path.ts';

/** The question for a code, between the password and what it protects. */
export function registerSecondFactorPages(routes: AreaRoutes): void {
  routes.server.get('/second-factor', { exposeHeadRoute: true }, async (request, reply) => {
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
  const next = returnPathOf(routes.area, form.text('next'));
  const how = { area: routes.area.name, caller: callerOf(request) };
  const response = form.text('response');
  const party = partyOf(routes);
  const isPasskey = response !== '' && party !== null;
  const waitSeconds = isPasskey ? 0 : await countCode(routes, request, asked.signedIn.user);
  if (waitSeconds > 0) return sendTooManyCodes(routes, reply, { asked, next, waitSeconds });
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

/**
 * Counts a code, and not a passkey: its signature cannot be guessed, so whoever has the password only must not keep it
 * away. A browser that is known is counted apart from all others, for the same reason. Resolves to seconds to wait.
 */
async function countCode(routes: AreaRoutes, request: FastifyRequest, { id, email }: User): Promise<number> {
  const isKnown = isKnownBrowser(routes, request, email);
  return routes.context.limits.codesOfUser.take(isKnown ? `${id} known` : id);
}

function sendTooManyCodes(
  routes: AreaRoutes,
  reply: FastifyReply,
  {
    waitSeconds,
    ...question
  }: { readonly asked: Asked; readonly next: string; readonly waitSeconds: number },
): Promise<FastifyReply> {
  const text = `Too many codes were tried. Use a passkey if you have one, or try again in ${Math.ceil(waitSeconds / 60)} minutes.`;
  reply.header('retry-after', String(waitSeconds));
  return sendQuestion(routes, reply, { ...question, status: 429, message: notice('bad', text) });
}

interface Asked {
  readonly token: string;
  readonly signedIn: SignedIn;
}

function partyOf({ context }: AreaRoutes): RelyingParty | null {
  return relyingPartyOf(context.passkeyUrl, context.baseUrl);
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
          hint:
            party === null
              ? 'Passkeys do not work at this address.'
              : 'If your passkey is not available, or JavaScript is off.',
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
<button class="button primary wide">Continue</button></form>
<p class="soft small">Lost your device and your recovery codes? ${routes.area.help}.</p>`,
  });
}
