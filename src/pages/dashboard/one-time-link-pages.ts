import { acceptInvitation, findInvited } from '../../accounts/invitations.ts';
import { createPasswordLink } from '../../accounts/password-links.ts';
import type { Mailer } from '../../mail/mail.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { type AreaRequest, DASHBOARD_PATH, type DashboardContext } from '../../web/signed-in/context.ts';
import { type FormFields, formField, formFields, newPassword } from '../../web/signed-in/forms.ts';
import { mailLink } from '../../web/signed-in/new-browser-pages.ts';
import {
  type DashboardRoutes,
  goneView,
  type PageAnswer,
  type PageView,
  readOwnSession,
  seeOther,
  visitorPages,
} from '../../web/signed-in/pages.ts';
import { countPassword, tokenOf } from '../../web/signed-in/password-link-pages.ts';

type LinkRequest = AreaRequest<DashboardContext>;

/** Registers `/dashboard/forgotten`, which emails a password link. Only called if email is configured. */
export function registerForgottenPages(routes: DashboardRoutes, mailer: Mailer): void {
  const pages = visitorPages(routes);
  pages.page('/forgotten', async () => ({
    title: 'Forgot your password?',
    main: html`<form class="card" method="post" action="${DASHBOARD_PATH}/forgotten">
${formField('email', { label: 'Email address', type: 'email', autocomplete: 'username' })}
<button class="button primary wide">Send me a link</button></form>`,
  }));
  pages.form('/forgotten', (asked, form) => answerForgotten(asked, form, mailer));
}

async function answerForgotten(asked: LinkRequest, form: FormFields, mailer: Mailer): Promise<PageView> {
  const { context } = asked;
  await mailLink(asked, mailer, form.text('email'), '', async (user) => ({
    to: user.email,
    subject: 'Set a new password',
    text: `A new password was requested for the dashboard at ${context.baseUrl}.

Set it here within a day:
${context.baseUrl}${DASHBOARD_PATH}/password/${await createPasswordLink(context, user, 'forgotten')}

If you did not request it, ignore this email. Your password stays unchanged.
`,
  }));
  return {
    title: 'Check your email',
    main: html`<p>If this address has access, we have sent a link to set a new password to it. The link works once, within a day.</p>
<p><a class="button" href="${DASHBOARD_PATH}/sign-in">Back</a></p>`,
  };
}

/** Registers `/dashboard/invitation/:token`, where a person becomes a member. Opening the page keeps the link valid. */
export function registerInvitationPages(routes: DashboardRoutes): void {
  const pages = visitorPages(routes);
  pages.page('/invitation/:token', showInvitation);
  pages.form('/invitation/:token', answerInvitation, showInvitation);
}

async function answerInvitation(asked: LinkRequest, form: FormFields): Promise<PageAnswer> {
  const address = await countPassword(asked);
  const how = { signedInAs: await readOwnUserId(asked), password: form.text('new_password'), address };
  const result = await acceptInvitation(asked.context, tokenOf(asked), how);
  if (result === 'gone') return invitationGoneView;
  return seeOther(result === 'accepted' ? '' : '/sign-in?flash=joined');
}

async function readOwnUserId(asked: LinkRequest): Promise<string | null> {
  const own = await readOwnSession(asked);
  return own?.session.stage === 'open' ? own.user.id : null;
}

async function showInvitation(asked: LinkRequest): Promise<PageView> {
  const invited = await findInvited(asked.context, tokenOf(asked));
  if (invited === null) return invitationGoneView;
  const { link, accountName, user } = invited;
  const isThem = user !== null && (await readOwnUserId(asked)) === user.id;
  return {
    title: 'You are invited',
    main: html`
<p><strong><bdi>${link.email}</bdi></strong> is invited to <strong><bdi>${accountName}</bdi></strong> as ${link.role === 'owner' ? 'an' : 'a'} ${link.role}.</p>
${isThem ? acceptForm(nothing) : waysToAccept(asked, link.email)}`,
  };
}

/** Renders the same content for every email address, so that it does not reveal whether a user exists. */
function waysToAccept(asked: LinkRequest, email: string): Html {
  return html`<section class="card"><h2>I already have a password</h2><p>Sign in with this email address, then accept.</p>
<a class="button wide" href="${DASHBOARD_PATH}/sign-in?next=${encodeURIComponent(asked.path)}">Sign in</a></section>
${acceptForm(html`<h2>I am new here</h2><input type="hidden" name="email" value="${email}" autocomplete="username">
${formFields(asked, asked.path, newPassword())}`)}`;
}

function acceptForm(fields: Html): Html {
  return html`<form class="card" method="post">${fields}
<button class="button primary wide">Accept the invitation</button></form>`;
}

const invitationGoneView = goneView(
  html`<p>It was already accepted or withdrawn, or has expired after a week. Ask an owner of the account for a new one.</p>
<p><a class="button" href="${DASHBOARD_PATH}/sign-in">Sign in</a></p>`,
  'This invitation does not work',
);
