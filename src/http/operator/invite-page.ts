import { findExistingAccount } from '../../accounts/manage-accounts.ts';
import { requireOwnPassword } from '../../accounts/password-links.ts';
import { invalidField } from '../../domain/errors.ts';
import { parseUserEmail } from '../../domain/person.ts';
import { collectFieldErrors, errorSummary, type FieldErrors, noErrors } from '../dashboard/field-errors.ts';
import { invitationFields, sendInvitation, takeInvitationPage } from '../dashboard/people-pages.ts';
import { confirmedForm, requireConfirmedForm } from '../dashboard/security-pages.ts';
import { html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import { banner, type FormFields, passwordField } from '../signed-in/forms.ts';
import { type PageAnswer, type PageView, seeOther } from '../signed-in/signed-in-page.ts';
import {
  OPERATOR_PATH,
  type OperatorContext,
  type OperatorRoutes,
  type OperatorVisit,
  operatorPages,
} from './operator-page.ts';

/** By the ids of their inputs. */
const labels = {
  email: 'E-mail address',
  password: 'Your password',
  'code-to-confirm': 'Second factor',
};

/** What a refused form shows again. */
interface Refused {
  readonly form: FormFields;
  readonly errors: FieldErrors;
  /** A failure without a field. */
  readonly failure?: string;
}

/**
 * `/operator/accounts/:accountId/invite`: invites a person to an account. It asks for the operator's password and second
 * factor, because a member can act in the merchant's name (decision 0118).
 */
export function registerInvitePages(routes: OperatorRoutes): void {
  const pages = operatorPages(routes, 'accounts');
  const path = '/accounts/:accountId/invite';
  pages.page(path, (context, visit) => showForm(context, visit));
  pages.form(path, answerInvite, (context, visit, { message, problem }, form) =>
    showForm(context, visit, {
      form,
      errors: new Map(problem === null ? [] : [['email', message]]),
      failure: message,
    }),
  );
  pages.page('/accounts/:accountId/invited', async (context, visit) => {
    const back = `/accounts/${accountIdOf(visit)}`;
    return (await takeInvitationPage(context, visit, `${OPERATOR_PATH}${back}`)) ?? seeOther(back);
  });
}

function accountIdOf({ params }: OperatorVisit): string {
  return params['accountId'] ?? '';
}

async function answerInvite(
  context: OperatorContext,
  visit: OperatorVisit,
  form: FormFields,
): Promise<PageAnswer> {
  const account = await findExistingAccount(context, accountIdOf(visit));
  // By session: a session without the password must not use up the tries of the user's others.
  await requirePassing(context.limits.signInsOfUser, `${visit.user.id} ${visit.session.id}`);
  const errors = await collectFieldErrors({
    email() {
      if (parseUserEmail(form.text('email')) === null) throw invalidField('email', 'is not valid.');
    },
    password: () => requireOwnPassword(context, visit.user, form.text('password')),
  });
  // A code works once: it is asked of a form that is otherwise right.
  const proof =
    errors.size > 0
      ? noErrors
      : await collectFieldErrors({ 'code-to-confirm': () => requireConfirmedForm(context, visit, form) });
  if (errors.size + proof.size > 0)
    return {
      ...(await showForm(context, visit, { form, errors: new Map([...errors, ...proof]) })),
      status: 400,
    };
  const outcome = await sendInvitation(context, visit, account, context.publicUrl, form);
  if (outcome === 'sent') return seeOther(`/accounts/${account.id}?flash=invited`);
  if (outcome === 'kept') return seeOther(`/accounts/${account.id}/invited`);
  return { ...(await showForm(context, visit, { form, errors: noErrors, ...outcome })), status: 502 };
}

async function showForm(
  context: OperatorContext,
  visit: OperatorVisit,
  refused?: Refused,
): Promise<PageView> {
  const account = await findExistingAccount(context, accountIdOf(visit));
  const path = `${OPERATOR_PATH}/accounts/${account.id}`;
  const errors = refused?.errors ?? noErrors;
  const { failure } = refused ?? {};
  const form = await confirmedForm(context, visit, {
    action: `${path}/invite`,
    fields: html`${invitationFields(refused?.form, errors.get('email'))}
${passwordField({ label: labels.password, error: errors.get('password') })}`,
    codeError: errors.get('code-to-confirm'),
    button: context.mailer === null ? 'Create a link' : 'Send the invitation',
    more: html`<a class="button" href="${path}">Cancel</a>`,
  });
  return {
    title: 'Invite a person',
    main: html`${failure !== undefined ? banner('bad', failure) : errors.size > 0 ? errorSummary('Nobody was invited.', labels, errors) : nothing}
<section class="card"><p>The person gets a role in <strong><bdi>${account.name}</bdi></strong>. The invitation works once, within a week. The account’s audit log records it with your name.</p>
${form}</section>`,
  };
}
