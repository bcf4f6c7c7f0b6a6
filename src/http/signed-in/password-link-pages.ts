import type { FastifyReply } from 'fastify';
import { readLink, setPasswordByLink } from '../../accounts/password-links.ts';
import { openAfterPassword } from '../../accounts/sign-in.ts';
import type { OneTimeLink } from '../../domain/dashboard-session.ts';
import { ServiceError } from '../../domain/errors.ts';
import { html } from '../design/html.ts';
import { addressGroupOf, requirePassing } from '../rate-windows.ts';
import { type AreaRequest, type AreaRoutes, callerOf } from './context.ts';
import { formFields, newPassword, type RefusedForm, refusedForm } from './form-fields.ts';
import { formTokenField } from './forms.ts';
import { openFormToken, readOwnForm, sendPlainPage, sendSeeOther, visitorPages } from './layout.ts';
import { rememberBrowser } from './new-browser-pages.ts';
import { sendAfterPassword } from './sign-in-pages.ts';

/** The token in the path of a one-time link. */
export const tokenOf = ({ request }: AreaRequest) => (request.params as { readonly token: string }).token;

/**
 * `/dashboard/password/:token` and `/operator/password/:token`: the page of a link that sets a password. Opening it does
 * not use it up. It ends at the sign-in of its area; the console's takes links of operators only.
 */
export function registerPasswordLinkPages(routes: AreaRoutes): void {
  const pages = visitorPages(routes);
  pages.page('/password/:token', (asked) => showForm(asked));
  pages.form('/password/:token', (asked) =>
    answerPassword(asked, showForm, async (password, address) => {
      const { context, isSecondFactorRequired, area, request, reply } = asked;
      const link = await findPasswordLink(asked);
      const user = link && (await setPasswordByLink(context, tokenOf(asked), password, address));
      if (user === null) return sendGone(asked);
      const how = { area: area.name, caller: callerOf(request), isSecondFactorRequired };
      const opened = await openAfterPassword(context, user, how);
      // Null when the password has changed once more meanwhile.
      if (opened === null) return sendSeeOther(reply, `${area.path}/sign-in`);
      // The holder of a link from the user's mailbox or the operator is no stranger.
      if (opened.stage !== 'open') rememberBrowser(asked, user.email);
      return sendAfterPassword(asked, opened, area.path);
    }),
  );
}

/** Null for a link that is not valid in this area. */
async function findPasswordLink(asked: AreaRequest): Promise<OneTimeLink | null> {
  const link = await readLink(asked.context, tokenOf(asked), 'password');
  if (link === null || link.userId === null || asked.area.name === 'dashboard') return link;
  const user = await asked.context.people.findUser(link.userId);
  return user?.isOperator === true ? link : null;
}

/** Answers a form with a new password, and shows its page again if the password is refused. */
export async function answerPassword<Asked extends AreaRequest>(
  asked: Asked,
  showAgain: (asked: Asked, refused: RefusedForm) => Promise<FastifyReply>,
  act: (password: string, address: string) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const form = readOwnForm(asked);
  const address = addressGroupOf(asked.request.ip);
  await requirePassing(asked.context.limits.signInsOfAddress, address);
  try {
    return await act(form.text('new_password'), address);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
    return showAgain(asked, refusedForm(form, error, asked.request.url));
  }
}

async function showForm(asked: AreaRequest, refused?: RefusedForm): Promise<FastifyReply> {
  const link = await findPasswordLink(asked);
  if (link === null) return sendGone(asked);
  return sendPlainPage(asked, refused === undefined ? 200 : 400, {
    title: 'Set your password',
    ...(refused && { refused }),
    main: html`<form class="card" method="post">
${formTokenField(openFormToken(asked))}
<input type="hidden" name="email" value="${link.email}" autocomplete="username">
<p>For <strong><bdi>${link.email}</bdi></strong></p>
${formFields({ refused }, asked.request.url, newPassword('At least 12 characters. All your sessions end.'))}
<button class="button primary wide">Set password</button>
</form>`,
  });
}

function sendGone(asked: AreaRequest): FastifyReply {
  return sendPlainPage(asked, 404, {
    title: 'This link does not work',
    main: html`<p>It was already used or replaced, your password or permissions have changed, or it has expired after a day. ${asked.area.help} for a new one.</p>
<p><a class="button" href="${asked.area.path}/sign-in">Sign in</a></p>`,
  });
}
