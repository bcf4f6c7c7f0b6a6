import type { Account } from '../../accounts/account.ts';
import type { OneTimeLink } from '../../accounts/account-store.ts';
import { changeMember, invite, withdrawInvitation } from '../../accounts/invitations.ts';
import { hashSecretToken } from '../../accounts/people-context.ts';
import { isRole, type Member, parseUserEmail, type Role, roles, type User } from '../../accounts/person.ts';
import { keepForNextPage, takeForPage } from '../../accounts/sessions.ts';
import { type Mail, MailNotSentError } from '../../mail/mail.ts';
import { invalidField, ServiceError } from '../../payment/errors.ts';
import { actions, dataTable } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { enforceRateLimit } from '../../web/rate-windows.ts';
import { type AreaVisit, DASHBOARD_PATH, type Visit } from '../../web/signed-in/context.ts';
import { moment, onOff } from '../../web/signed-in/format.ts';
import * as forms from '../../web/signed-in/forms.ts';
import {
  type DashboardRoutes,
  type FormHandler,
  type PageAnswer,
  type PageView,
  seeOther,
  showRefused,
} from '../../web/signed-in/pages.ts';
import { confirmedForm, requirePasswordAndFactor } from './security-pages.ts';

const PEOPLE_PATH = `${DASHBOARD_PATH}/people`;
const INVITATION = 'invitation';
const NO_ROLE = 'none';
const flashMessages = {
  changed: 'Role updated.',
  removed: 'The member is removed.',
  invited: 'The invitation is sent. It works once, within a week.',
  withdrawn: 'The invitation is withdrawn.',
};
const roleWords: Record<Role, string> = {
  viewer: 'Viewer: reads payments',
  developer: 'Developer: also manages keys and payment links',
  owner: 'Owner: manages everything, including people and settings',
};

export function registerPeoplePages(routes: DashboardRoutes): void {
  const pages = routes.pages('people', 'owner');
  pages.page('/people', showPeople);
  const showInvited = async (visit: Visit) =>
    (await takeInvitationPage(visit, PEOPLE_PATH)) ?? seeOther('/people');
  pages.page('/people/invited', showInvited);
  pages.form('/people/invite', answerInvite, showPeople);
  pages.form('/people/invitations/:invitationId/withdraw', async ({ context, account, params, actor }) => {
    await withdrawInvitation(context, account.id, params['invitationId'] ?? '', actor);
    return seeOther('/people?flash=withdrawn');
  });
  pages.page('/people/:userId', showMember);
  pages.form('/people/:userId', answerChange, showMember);
}

const answerInvite: FormHandler = (visit, form) =>
  sendInvitation(visit, visit.account, visit.context.baseUrl, form, {
    sent: '/people?flash=invited',
    kept: '/people/invited',
    show: showPeople,
  });

/** Invites a person, by email if configured, so that only the mailbox owner gets the link. */
export async function sendInvitation<Asked extends AreaVisit>(
  visit: Asked,
  account: Pick<Account, 'id' | 'name'>,
  baseUrl: string,
  form: forms.FormFields,
  next: { readonly sent: string; readonly kept: string; readonly show: (visit: Asked) => Promise<PageView> },
): Promise<PageAnswer> {
  const { user, session, actor, context } = visit;
  await requirePasswordAndFactor(visit, form, {
    email() {
      if (parseUserEmail(form.text('email')) === null) throw invalidField('email', 'is not valid.');
    },
    role: () => roleIn(form),
  });
  const asked = { email: form.text('email'), role: roleIn(form) };
  const mailbox = hashSecretToken(asked.email.trim().toLowerCase());
  const { limits, mailer } = context;
  await enforceRateLimit(limits.invitationsOfAccount, account.id);
  if (mailer !== null) await enforceRateLimit(limits.mailsOfUser, `invitation ${mailbox}`);
  const { email, token } = await invite(context, account.id, asked, actor);
  const link = `${baseUrl}${DASHBOARD_PATH}/invitation/${token}`;
  if (mailer === null) {
    await keepForNextPage(context, session.id, INVITATION, `${email} ${link}`);
    return seeOther(next.kept);
  }
  try {
    await mailer.send(invitationMail({ account, user }, { email, link }));
    return seeOther(next.sent);
  } catch (error) {
    const failure =
      error instanceof MailNotSentError
        ? 'The email could not be sent. Check the address, or try again later.'
        : 'The mail server did not confirm the email. Invite again if it does not arrive.';
    return showRefused(next.show, visit, form, new ServiceError('invalid_request', failure), 502);
  }
}

function invitationMail(
  { account, user }: { readonly account: Pick<Account, 'name'>; readonly user: Pick<User, 'email'> },
  { email, link }: { readonly email: string; readonly link: string },
): Mail {
  return {
    to: email,
    subject: 'Invitation to a dashboard',
    text: `${user.email} invites you to the dashboard of ${account.name}.

Accept within a week:
${link}

If you do not expect this invitation, ignore this email.
`,
  };
}

/** Renders the kept invitation link; null if there is none, for example after the first call. */
export async function takeInvitationPage(
  { session, context }: AreaVisit,
  back: string,
): Promise<PageView | null> {
  const [email, link] = (await takeForPage(context, session.id, INVITATION))?.split(' ') ?? [];
  if (email === undefined || link === undefined) return null;
  const about = html`<p>Send this link to <strong><bdi>${email}</bdi></strong>. It works once, within a week. It is not shown again.</p>`;
  return forms.shownOncePage('Invitation', link, back, { about, label: 'Link', done: 'Done' });
}

const answerChange: FormHandler = async (visit, form) => {
  const { userId } = await requireMember(visit);
  const role = form.text('role') === NO_ROLE ? null : roleIn(form);
  await requirePasswordAndFactor(visit, form, {});
  await changeMember(visit.context, { accountId: visit.account.id, userId, role }, visit.actor);
  return seeOther(role === null ? '/people?flash=removed' : '/people?flash=changed');
};

async function requireMember({ context, account, params }: Visit): Promise<Member> {
  const members = await context.people.listMembers(account.id);
  const member = members.find(({ userId }) => userId === params['userId']);
  if (member === undefined) throw new ServiceError('not_found');
  return member;
}

async function showMember(visit: Visit): Promise<PageView> {
  const { userId, email, role } = await requireMember(visit);
  const form = await confirmedForm(visit, {
    action: `${PEOPLE_PATH}/${userId}`,
    fields: {
      role: {
        label: 'Role',
        type: 'select',
        options: [...roles, NO_ROLE],
        wordsOf: (option) => (isRole(option) ? roleWords[option] : 'None: remove the member'),
        value: role,
      },
    },
    button: 'Save',
    more: html`<a class="button" href="${PEOPLE_PATH}">Cancel</a>`,
  });
  return {
    title: 'Change a member',
    main: html`<section class="card"><p><strong><bdi>${email}</bdi></strong>, a member of <strong><bdi>${visit.account.name}</bdi></strong>.</p>
${form}</section>`,
  };
}

function roleIn(form: forms.FormFields): Role {
  const role = form.text('role');
  if (!isRole(role)) throw invalidField('The role', 'does not exist', 'role');
  return role;
}

async function showPeople(visit: Visit): Promise<PageView> {
  const { context } = visit;
  const [members, invitations] = await Promise.all([
    context.people.listMembers(visit.account.id),
    context.sessions.listInvitations(visit.account.id, context.nowMs()),
  ]);
  const form = await confirmedForm(visit, {
    action: `${PEOPLE_PATH}/invite`,
    title: 'Invite a member',
    fields: inviteFields,
    button: context.mailer === null ? 'Create a link' : 'Send the invitation',
  });
  return {
    title: 'People',
    main: html`${forms.flashOf(visit, flashMessages)}
${memberTable(members, visit.timeZone, visit.user.id)}
${invitations.length === 0 ? nothing : invitationTable(invitations, visit)}
${form}`,
  };
}

export const inviteFields: forms.Fields = {
  email: { label: 'Email address', type: 'email' },
  role: { label: 'Role', type: 'select', options: roles, wordsOf: (role) => roleWords[role as Role] },
};

/** @param ownId id of the viewing member, who may change roles; absent for other viewers */
export function memberTable(members: readonly Member[], timeZone: string, ownId?: string): Html {
  return dataTable('Members', members, {
    'Email address': ({ userId, email }) =>
      html`<bdi>${email}</bdi>${userId === ownId ? html` <span class="badge">you</span>` : nothing}`,
    'Second factor': ({ hasSecondFactor }) => onOff(hasSecondFactor),
    Since: ({ createdAtMs }) => moment(createdAtMs, timeZone),
    Role: ({ role }) => role,
    ...(ownId !== undefined && { Action: actions(changeLink) }),
  });
}

function changeLink({ userId, email }: Member): Html {
  return html`<a class="button compact" href="${PEOPLE_PATH}/${userId}">Change<span class="quiet"> the role of ${email}</span></a>`;
}

function invitationTable(invitations: readonly OneTimeLink[], visit: Visit): Html {
  return html`<h2>Invited</h2>${dataTable('Invitations', invitations, {
    'Email address': ({ email }) => html`<bdi>${email}</bdi>`,
    Role: ({ role }) => role,
    Until: ({ expiresAtMs }) => moment(expiresAtMs, visit.timeZone),
    Action: actions(
      ({ id, email }) =>
        html`<form method="post"
action="${PEOPLE_PATH}/invitations/${id}/withdraw"><button class="button compact danger">Withdraw<span class="quiet">
the invitation of ${email}</span></button></form>`,
    ),
  })}`;
}
