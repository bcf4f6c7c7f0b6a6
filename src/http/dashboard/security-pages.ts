import { changePassword, requireOwnPassword } from '../../accounts/change-password.ts';
import { addPasskey, offerPasskey, removePasskey } from '../../accounts/passkeys.ts';
import { recordForUser } from '../../accounts/record-for-user.ts';
import {
  confirmTotp,
  hasSecondFactor,
  offerTotp,
  removeTotp,
  renewRecoveryCodes,
  spendCode,
} from '../../accounts/second-factor.ts';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import { relyingPartyOf } from '../../domain/passkey.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import type { DashboardContext, DashboardRoutes } from './context.ts';
import {
  type DashboardAnswer,
  type DashboardView,
  dashboardForm,
  dashboardPage,
  seeOther,
} from './dashboard-page.ts';
import { notice, passwordField, textField } from './fields.ts';
import type { FormFields } from './form-fields.ts';
import { formTokenField } from './form-token.ts';
import { passkeyCard } from './passkey-forms.ts';
import { DASHBOARD_PATH } from './sections.ts';
import { recoveryCodesPage, totpFields } from './totp-forms.ts';
import type { Visit } from './visit.ts';

const OWN_PATH = `${DASHBOARD_PATH}/security`;
const said: ReadonlyMap<string | null, Html> = new Map([
  ['password', notice('good', 'Your password is changed, and your other sessions have ended.')],
  ['removed', notice('good', 'The authenticator app is off.')],
  ['passkey', notice('good', 'The passkey is added. You are asked for it when you sign in.')],
  ['passkey-removed', notice('good', 'The passkey is removed.')],
]);

/** One's own password and second factor. Every form asks for the password. */
export function registerSecurityPages(routes: DashboardRoutes): void {
  const { context } = routes;
  const own = { section: 'sessions', role: 'viewer' } as const;
  const form = (path: string, act: (visit: Visit, form: FormFields) => Promise<DashboardAnswer>) =>
    dashboardForm(routes, {
      ...own,
      path: `/security/${path}`,
      act: (visit, fields) => withPassword(context, visit, fields, () => act(visit, fields)),
    });
  dashboardPage(routes, {
    ...own,
    path: '/security',
    show: (visit) => showSecurity(context, visit, said.get(visit.query.get('said')) ?? nothing),
  });
  form('password', async (visit, fields) => {
    const change = { password: fields.text('new_password'), sessionId: visit.session.id };
    await changePassword(context, visit.user, change, visit.actor);
    return seeOther('/security?said=password');
  });
  form('second-factor', async (visit, fields) => {
    if (visit.user.totpSecret !== null) throw invalidField('The second factor', 'is on already.');
    const offer = { sealed: fields.text('sealed'), code: fields.text('code') };
    return recoveryCodesPage(await confirmTotp(context, visit.user, offer, visit.actor), OWN_PATH);
  });
  form('recovery-codes', async (visit, fields) => {
    // Who has passkeys only gave one to sign in: the password says that it is still them.
    if (visit.user.totpSecret !== null) await requireCode(context, visit, fields);
    else if (!(await hasSecondFactor(context, visit.user)))
      throw invalidField('Recovery codes', 'need a second factor that they stand in for.');
    const codes = await renewRecoveryCodes(context, visit.user);
    await recordForUser(context, visit.user, visit.actor, 'second_factor.codes_renewed');
    return recoveryCodesPage(codes, OWN_PATH);
  });
  form('passkeys', async (visit, fields) => {
    const party = relyingPartyOf(context.baseUrl);
    if (party === null) throw new ServiceError('not_found');
    const made = { name: fields.text('name'), response: fields.text('response'), party };
    const codes = await addPasskey(context, visit, made, visit.actor);
    return codes === null ? seeOther('/security?said=passkey') : recoveryCodesPage(codes, OWN_PATH);
  });
  form('remove-passkey', async (visit, fields) => {
    await removePasskey(context, visit, fields.text('passkey'), visit.actor);
    return seeOther('/security?said=passkey-removed');
  });
  form('remove-second-factor', async (visit, fields) => {
    await requireCode(context, visit, fields);
    await removeTotp(context, visit.user, visit.actor);
    return seeOther('/security?said=removed');
  });
}

/** Asks for the password first, and tells a refusal on the page itself. */
async function withPassword(
  context: DashboardContext,
  visit: Visit,
  form: FormFields,
  act: () => Promise<DashboardAnswer>,
): Promise<DashboardAnswer> {
  await requirePassing(context.limits.signInsOfUser, visit.user.id);
  try {
    await requireOwnPassword(context, visit.user, form.text('password'));
    return await act();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
    return { ...(await showSecurity(context, visit, notice('bad', error.message))), status: 400 };
  }
}

async function requireCode(context: DashboardContext, visit: Visit, form: FormFields): Promise<void> {
  await requirePassing(context.limits.codesOfUser, visit.user.id);
  if (await spendCode(context, visit.user, form.text('code'))) return;
  throw invalidField('The code', 'is wrong, or was used already. Wait for the next one.');
}

async function showSecurity(context: DashboardContext, visit: Visit, message: Html): Promise<DashboardView> {
  const party = relyingPartyOf(context.baseUrl);
  const passkeys = await context.people.listPasskeys(visit.user.id);
  const options = party === null ? null : await offerPasskey(context, visit, party);
  return {
    title: 'Password and second factor',
    main: html`${message}
<form class="card" method="post" action="${OWN_PATH}/password"><h2>Password</h2>${formTokenField(visit.formToken)}
${passwordField({ label: 'Password you have now' })}
${textField({ name: 'new_password', label: 'New password', type: 'password', autocomplete: 'new-password', hint: 'At least 12 characters. Your other sessions end.' })}
<div class="actions"><button class="button primary">Change password</button></div></form>
${visit.user.totpSecret === null ? offerForm(context, visit) : manageForms(visit)}
${passkeyCard(visit, passkeys, options)}${passkeys.length > 0 && visit.user.totpSecret === null ? codesCard(visit) : nothing}`,
  };
}

function codesCard(visit: Visit): Html {
  return html`<section class="card"><h2>Recovery codes</h2><p>They stand in for a passkey that is lost. New ones take the place of those you have.</p>
<details><summary>New recovery codes</summary><form class="fields" method="post" action="${OWN_PATH}/recovery-codes">${formTokenField(visit.formToken)}
${passwordField({ id: 'password-for-codes' })}
<div class="actions"><button class="button primary">Make new codes</button></div></form></details></section>`;
}

function offerForm(context: DashboardContext, visit: Visit): Html {
  const offer = offerTotp(context, visit.user);
  const introduction =
    'With an authenticator app on your phone, a stolen password is not enough. Scan this, or type the key, then give the six digits that the app shows.';
  return html`<form class="card" method="post" action="${OWN_PATH}/second-factor"><h2>Authenticator app: off</h2>${formTokenField(visit.formToken)}${totpFields(offer, { introduction, passwordId: 'password-for-second-factor' })}
<div class="actions"><button class="button primary">Switch on</button></div></form>`;
}

function manageForms(visit: Visit): Html {
  return html`<section class="card"><h2>Authenticator app: on</h2><p>You are asked for a code of your authenticator app when you sign in.</p>
<details><summary>New recovery codes</summary>${codeForm(visit, 'recovery-codes', 'Make new codes', 'primary')}</details>
<details><summary>Switch it off</summary>${codeForm(visit, 'remove-second-factor', 'Switch off', 'danger')}</details></section>`;
}

function codeForm(visit: Visit, path: string, label: string, tone: string): Html {
  return html`<form class="fields" method="post" action="${OWN_PATH}/${path}">${formTokenField(visit.formToken)}
${passwordField({ id: `password-for-${path}` })}
${textField({ name: 'code', id: `code-for-${path}`, label: 'Code', autocomplete: 'one-time-code' })}
<div class="actions"><button class="button ${tone}">${label}</button></div></form>`;
}
