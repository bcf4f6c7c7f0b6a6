import type { OneTimeLink } from '../../accounts/account-store.ts';
import { readLink, setPasswordByLink } from '../../accounts/password-links.ts';
import { openAfterPassword } from '../../accounts/sign-in.ts';
import { html } from '../design/html.ts';
import { addressGroupOf, enforceRateLimitFrom } from '../rate-windows.ts';
import { type AreaRequest, type AreaRoutes, callerOf } from './context.ts';
import { type FormFields, formFields, newPassword } from './forms.ts';
import { rememberBrowser } from './new-browser-pages.ts';
import { goneView, type PageAnswer, type PageView, seeOther, visitorPages } from './pages.ts';
import { sendAfterPassword } from './sign-in-pages.ts';

export const tokenOf = ({ params }: AreaRequest) => params['token'] ?? '';

/** Registers `…/password/:token`, whose form sets a password. Opening the page does not use up the link. */
export function registerPasswordLinkPages(routes: AreaRoutes): void {
  const pages = visitorPages(routes);
  pages.page('/password/:token', showForm);
  pages.form('/password/:token', answerPassword, showForm);
}

async function answerPassword(asked: AreaRequest, form: FormFields): Promise<PageAnswer> {
  const { context, isSecondFactorRequired, area, request } = asked;
  const address = await countPassword(asked);
  const link = await findPasswordLink(asked);
  const user = link && (await setPasswordByLink(context, tokenOf(asked), form.text('new_password'), address));
  if (user === null) return usedUpView(asked);
  const how = { area: area.name, caller: callerOf(request), isSecondFactorRequired };
  const opened = await openAfterPassword(context, user, how);
  // `opened` is null if the password has changed meanwhile.
  if (opened === null) return seeOther('/sign-in');
  // Marks the browser as known, because the link from an email or the operator identifies the user.
  if (opened.stage !== 'open') rememberBrowser(asked, user.email);
  return sendAfterPassword(asked, opened, area.path);
}

export async function countPassword({ context, request }: AreaRequest): Promise<string> {
  await enforceRateLimitFrom(context.limits.signInsOfAddress, request.ip);
  return addressGroupOf(request.ip);
}

async function findPasswordLink(asked: AreaRequest): Promise<OneTimeLink | null> {
  const link = await readLink(asked.context, tokenOf(asked), 'password');
  if (link === null || link.userId === null || asked.area.name === 'dashboard') return link;
  const user = await asked.context.people.findUser(link.userId);
  return user?.isOperator === true ? link : null;
}

async function showForm(asked: AreaRequest): Promise<PageView> {
  const link = await findPasswordLink(asked);
  if (link === null) return usedUpView(asked);
  return {
    title: 'Set your password',
    main: html`<form class="card" method="post">

<input type="hidden" name="email" value="${link.email}" autocomplete="username">
<p>For <strong><bdi>${link.email}</bdi></strong></p>
${formFields(asked, asked.path, newPassword('All your sessions end.'))}
<button class="button primary wide">Set password</button>
</form>`,
  };
}

const usedUpView = ({ area }: AreaRequest) =>
  goneView(html`<p>It was already used or replaced, your password or permissions have changed, or it has expired after a day. ${area.help} for a new one.</p>
<p><a class="button" href="${area.path}/sign-in">Sign in</a></p>`);
