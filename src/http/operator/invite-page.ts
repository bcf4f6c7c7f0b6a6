import { findExistingAccount } from '../../accounts/manage-accounts.ts';
import { requireOwnPassword } from '../../accounts/password-links.ts';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import { parseUserEmail } from '../../domain/person.ts';
import { inviteFields, sendInvitation, takeInvitationPage } from '../dashboard/people-pages.ts';
import { confirmedForm, requireConfirmedForm } from '../dashboard/security-pages.ts';
import { html } from '../design/html.ts';
import { requirePassing } from '../rate-windows.ts';
import { checkFields } from '../signed-in/form-fields.ts';
import { type FormHandler, type PageView, seeOther, showRefused } from '../signed-in/pages.ts';
import { OPERATOR_PATH, type OperatorRoutes, type OperatorVisit } from './operator-page.ts';

/**
 * `/operator/accounts/:accountId/invite`: invites a person to an account. It asks for the operator's password and second
 * factor, because a member can act in the merchant's name (decision 0118).
 */
export function registerInvitePages(routes: OperatorRoutes): void {
  const pages = routes.pages('accounts');
  const path = '/accounts/:accountId/invite';
  pages.page(path, showForm);
  pages.form(path, answerInvite, showForm);
  pages.page('/accounts/:accountId/invited', async (visit) => {
    const back = `/accounts/${accountIdOf(visit)}`;
    return (await takeInvitationPage(visit, `${OPERATOR_PATH}${back}`)) ?? seeOther(back);
  });
}

function accountIdOf({ params }: OperatorVisit): string {
  return params['accountId'] ?? '';
}

const answerInvite: FormHandler<OperatorVisit> = async (visit, form) => {
  const { context } = visit;
  const account = await findExistingAccount(context, accountIdOf(visit));
  // By session: a session without the password must not use up the tries of the user's others.
  await requirePassing(context.limits.signInsOfUser, `${visit.user.id} ${visit.session.id}`);
  await checkFields({
    email() {
      if (parseUserEmail(form.text('email')) === null) throw invalidField('email', 'is not valid.');
    },
    password: () => requireOwnPassword(context, visit.user, form.text('password')),
  });
  // A code works once: it is asked of a form that is otherwise right.
  await requireConfirmedForm(visit, form);
  const outcome = await sendInvitation(visit, account, context.publicUrl, form);
  if (outcome === 'sent') return seeOther(`/accounts/${account.id}?flash=invited`);
  if (outcome === 'kept') return seeOther(`/accounts/${account.id}/invited`);
  const refusal = new ServiceError('invalid_request', outcome.failure);
  return showRefused(showForm, visit, form, refusal, 502);
};

async function showForm(visit: OperatorVisit): Promise<PageView> {
  const account = await findExistingAccount(visit.context, accountIdOf(visit));
  const path = `${OPERATOR_PATH}/accounts/${account.id}`;
  const form = await confirmedForm(visit, {
    action: `${path}/invite`,
    fields: { ...inviteFields, password: { label: 'Your password', type: 'password' } },
    button: visit.context.mailer === null ? 'Create a link' : 'Send the invitation',
    more: html`<a class="button" href="${path}">Cancel</a>`,
  });
  return {
    title: 'Invite a person',
    main: html`<section class="card"><p>The person gets a role in <strong><bdi>${account.name}</bdi></strong>. The invitation works once, within a week. The account’s audit log records it with your name.</p>
${form}</section>`,
  };
}
