import {
  addPasskey,
  askForPasskey,
  createChallenge,
  offerPasskey,
  removePasskey,
  usePasskey,
} from '../../accounts/passkeys.ts';
import { changePassword, requireOwnPassword } from '../../accounts/password-links.ts';
import { recordForUser } from '../../accounts/people-context.ts';
import {
  confirmSecondFactor,
  confirmTotp,
  consumeCode,
  hasSecondFactor,
  isConfirmed,
  offerTotp,
  removeTotp,
  renewRecoveryCodes,
} from '../../accounts/second-factor.ts';
import { endSession } from '../../accounts/sessions.ts';
import { type DashboardSession, isSessionAlive } from '../../domain/dashboard-session.ts';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import { relyingPartyOf } from '../../domain/person.ts';
import { dataTable } from '../design/data-table.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import {
  type AreaContext,
  type AreaVisit,
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import { moment } from '../signed-in/format.ts';
import {
  banner,
  type FormFields,
  flashOf,
  formTokenField,
  newPasswordField,
  passwordField,
  textField,
} from '../signed-in/forms.ts';
import {
  codeWords,
  confirmPasskeyForm,
  type ProofField,
  passkeyCard,
  recoveryCodesPage,
  totpFields,
} from '../signed-in/second-factor-pages.ts';
import { dashboardPages, type PageAnswer, type PageView, seeOther } from '../signed-in/signed-in-page.ts';

const OWN_PATH = `${DASHBOARD_PATH}/security`;
const flashMessages = {
  password: 'Your password is changed. Your other sessions have ended.',
  removed: 'The authenticator app is off.',
  passkey: 'The passkey is added. You use it when you sign in.',
  'passkey-removed': 'The passkey is removed.',
  ended: 'The session has ended.',
};

/** The content of a page besides the forms. */
interface Shown {
  readonly message: Html;
  /** The app's secret that the previous page offered; the app may have it already. */
  readonly sealed?: string;
  /** The confirmation of a passkey used just now (`confirmSecondFactor`). */
  readonly confirmation?: string;
}

/**
 * The user's own password, second factors and sessions. Every form of the first two asks for the password. Forms that change second factors also
 * ask for an existing one: an unattended session and a password must not suffice to replace them.
 */
export function registerSecurityPages(routes: DashboardRoutes): void {
  const { context } = routes;
  const pages = dashboardPages(routes, 'security', 'viewer');
  const form = (path: string, act: (visit: Visit, form: FormFields) => Promise<PageAnswer>) =>
    pages.form(
      `/security/${path}`,
      async (_context, visit, fields) => {
        // By session: a session without the password must not use up the tries of the user's others.
        await requirePassing(context.limits.signInsOfUser, `${visit.user.id} ${visit.session.id}`);
        await requireOwnPassword(context, visit.user, fields.text('password'));
        return act(visit, fields);
      },
      (_context, visit, { message }, fields) =>
        showSecurity(context, visit, {
          message: banner('bad', message),
          sealed: fields.text('sealed'),
          confirmation: fields.text('confirmation'),
        }),
    );
  pages.page('/security', (_context, visit) =>
    showSecurity(context, visit, { message: flashOf(visit, flashMessages) }),
  );
  pages.form('/security/confirm', confirm);
  pages.form('/sessions/:sessionId/end', async (_context, visit) => {
    const session = {
      id: visit.params['sessionId'] ?? '',
      userId: visit.user.id,
      accountId: visit.account.id,
    };
    await endSession(context, session, visit.actor);
    return seeOther('/security?flash=ended');
  });
  form('password', async (visit, fields) => {
    await changePassword(context, visit, fields.text('new_password'), visit.actor);
    return seeOther('/security?flash=password');
  });
  form('second-factor', async (visit, fields) => {
    if (visit.user.totpSecret !== null) throw invalidField('The second factor', 'is already on.');
    await requireSecondFactor(context, visit, fields, 'factor_code');
    const offer = { sealed: fields.text('sealed'), code: fields.text('code') };
    return recoveryCodesPage(await confirmTotp(context, visit, offer, visit.actor), OWN_PATH);
  });
  form('recovery-codes', async (visit, fields) => {
    if (!(await hasSecondFactor(context, visit.user)))
      throw invalidField('Recovery codes', 'require a second factor.');
    await requireSecondFactor(context, visit, fields);
    const codes = await renewRecoveryCodes(context, visit);
    await recordForUser(context, visit.user, visit.actor, 'second_factor.codes_renewed');
    return recoveryCodesPage(codes, OWN_PATH);
  });
  form('passkeys', async (visit, fields) => {
    const party = relyingPartyOf(context.passkeyUrl, context.baseUrl);
    if (party === null) throw new ServiceError('not_found');
    await requireSecondFactor(context, visit, fields);
    const made = { name: fields.text('name'), response: fields.text('response'), party };
    const codes = await addPasskey(context, visit, made, visit.actor);
    return codes === null ? seeOther('/security?flash=passkey') : recoveryCodesPage(codes, OWN_PATH);
  });
  form('remove-passkey', async (visit, fields) => {
    await requireSecondFactor(context, visit, fields);
    await removePasskey(context, visit, fields.text('passkey'), visit.actor);
    return seeOther('/security?flash=passkey-removed');
  });
  form('remove-second-factor', async (visit, fields) => {
    await requireSecondFactor(context, visit, fields);
    await removeTotp(context, visit.user, visit.actor, { user: visit.user, sessionId: visit.session.id });
    return seeOther('/security?flash=removed');
  });
}

/** Shows the page with forms that need no code for some minutes, after the use of a passkey. */
async function confirm(context: DashboardContext, visit: Visit, form: FormFields): Promise<PageView> {
  const party = relyingPartyOf(context.passkeyUrl, context.baseUrl);
  if (party === null) throw new ServiceError('not_found');
  if (!(await usePasskey(context, visit, form.text('response'), party))) {
    const message = banner('bad', 'The passkey was not accepted. Please try again.');
    return { ...(await showSecurity(context, visit, { message })), status: 400 };
  }
  const message = banner('good', 'Confirmed. You can change your second factors for five minutes.');
  const confirmation = confirmSecondFactor(context, visit.session.id);
  return showSecurity(context, visit, { message, confirmation });
}

/**
 * Throws a 400 unless the form has a code, or a passkey was used just now; requires nothing of a user without a second
 * factor.
 */
async function requireSecondFactor(
  context: AreaContext,
  visit: AreaVisit,
  form: FormFields,
  codeField = 'code',
): Promise<void> {
  if (!(await hasSecondFactor(context, visit.user))) return;
  if (isConfirmed(context, visit.session.id, form.text('confirmation'))) return;
  const code = form.text(codeField);
  if (code === '') throw invalidField('A second factor', 'is needed: a code or a passkey.');
  // Counted apart from sign-in codes: an attacker with only the password must not use these up.
  await requirePassing(context.limits.codesOfUser, `${visit.user.id} signed in`);
  if (await consumeCode(context, visit.user, code)) return;
  throw invalidField('The code', 'is wrong or was already used. Wait for the next one.');
}

/** A form that the user confirms with an existing second factor, see `requireConfirmedForm`. `more` follows its button. */
export async function confirmedForm(
  context: AreaContext,
  visit: AreaVisit,
  form: {
    readonly action: string;
    readonly fields: Html;
    readonly button: string;
    readonly more?: Html;
    /** The error of the submitted code. */
    readonly codeError?: string | undefined;
  },
): Promise<Html> {
  const party = relyingPartyOf(context.passkeyUrl, context.baseUrl);
  const passkey = party === null ? null : await askForPasskey(context, visit, party);
  const isNeeded = await hasSecondFactor(context, visit.user);
  const code = isNeeded
    ? codeField(visit, passkey === null ? null : 'Leave it empty to use a passkey.', form.codeError)
    : nothing;
  const options =
    passkey === null ? nothing : html` data-passkey="use" data-options="${JSON.stringify(passkey)}"`;
  return html`<form class="fields" method="post" action="${form.action}"${options}>${formTokenField(visit.formToken)}${form.fields}
${code}<input type="hidden" name="response" value="">
<div class="actions"><button class="button primary">${form.button}</button>${form.more ?? nothing}</div>
<p role="status" data-status></p></form>`;
}

/** The field for a code. `passkeyHint` says how to use a passkey instead; null without one. */
function codeField(visit: AreaVisit, passkeyHint: string | null, error?: string): Html {
  const { label, hint } = codeWords(visit.user, 'One of your recovery codes.');
  return textField({
    label,
    hint: passkeyHint === null ? hint : `${hint} ${passkeyHint}`,
    name: 'code',
    id: 'code-to-confirm',
    autocomplete: 'one-time-code',
    isOptional: passkeyHint !== null,
    error,
  });
}

/** Throws `invalid_request` for a form of `confirmedForm` without the user's second factor. */
export async function requireConfirmedForm(
  context: AreaContext,
  visit: AreaVisit,
  form: FormFields,
): Promise<void> {
  const response = form.text('response');
  const party = relyingPartyOf(context.passkeyUrl, context.baseUrl);
  if (response === '' || party === null) return requireSecondFactor(context, visit, form);
  if (!(await usePasskey(context, visit, response, party)))
    throw invalidField('The passkey', 'was not accepted. Please try again.');
}

async function showSecurity(context: DashboardContext, visit: Visit, shown: Shown): Promise<PageView> {
  const party = relyingPartyOf(context.passkeyUrl, context.baseUrl);
  const passkeys = await context.people.listPasskeys(visit.user.id);
  // One challenge for both forms: the first submission uses it up.
  const challenge = party === null ? null : await createChallenge(context, visit.session.id);
  const offer =
    party === null || challenge === null ? null : await offerPasskey(context, visit, party, challenge);
  const proof = proofOf(context, visit, passkeys.length > 0, shown.confirmation ?? '');
  const question =
    party === null || challenge === null || proof.isGiven
      ? null
      : await askForPasskey(context, visit, party, challenge);
  return {
    title: 'Security',
    main: html`${shown.message}
<form class="card" method="post" action="${OWN_PATH}/password"><h2>Password</h2>${formTokenField(visit.formToken)}
${passwordField({ label: 'Current password' })}
${newPasswordField('At least 12 characters. Your other sessions end.', 'new_password')}
<div class="actions"><button class="button primary">Change password</button></div></form>
${question === null ? nothing : confirmationCard(visit, question)}
${visit.user.totpSecret === null ? offerForm(context, visit, proof, shown.sealed) : manageForms(visit, proof)}
${passkeyCard(visit, passkeys, offer, proof.field)}${passkeys.length > 0 && visit.user.totpSecret === null ? codesCard(visit, proof) : nothing}
${await sessionsCard(context, visit)}`,
  };
}

/** The extra fields of the forms that change second factors, besides the password. */
interface Proof {
  /** Whether a passkey was used just now. */
  readonly isGiven: boolean;
  readonly field: ProofField;
}

function proofOf(context: DashboardContext, visit: Visit, hasPasskeys: boolean, confirmation: string): Proof {
  if (visit.user.totpSecret === null && !hasPasskeys) return { isGiven: true, field: () => nothing };
  if (isConfirmed(context, visit.session.id, confirmation)) {
    const field = html`<input type="hidden" name="confirmation" value="${confirmation}">`;
    return { isGiven: true, field: () => field };
  }
  const words = codeWords(visit.user, 'Not needed after you confirm with a passkey.');
  return {
    isGiven: false,
    field: (id, name = 'code') => textField({ ...words, name, id, autocomplete: 'one-time-code' }),
  };
}

function confirmationCard(visit: Visit, options: object): Html {
  return html`<section class="card"><h2>Change your second factors</h2>
<p>Each change requires an existing second factor. Confirm with a passkey here, or enter a code with the change.</p>
${confirmPasskeyForm(`${OWN_PATH}/confirm`, visit.formToken, options)}</section>`;
}

function codesCard(visit: Visit, proof: Proof): Html {
  return html`<section class="card"><h2>Recovery codes</h2><p>Recovery codes replace a lost passkey. New codes replace the existing ones.</p>
${newCodesForm(visit, proof)}</section>`;
}

function newCodesForm(visit: Visit, proof: Proof): Html {
  return html`<details><summary>New recovery codes</summary>${factorForm(visit, proof, { path: 'recovery-codes', label: 'Create new codes', tone: 'primary' })}</details>`;
}

function offerForm(context: DashboardContext, visit: Visit, proof: Proof, sealed = ''): Html {
  const offer = offerTotp(context, visit.user, sealed);
  const introduction =
    'With an authenticator app on your phone, a stolen password is not enough. Scan this, or type the key, then give the six digits that the app shows.';
  return html`<form class="card" method="post" action="${OWN_PATH}/second-factor"><h2>Authenticator app: off</h2>${formTokenField(visit.formToken)}${totpFields(offer, { introduction, passwordId: 'password-for-second-factor' })}
${proof.field('factor-code-for-second-factor', 'factor_code')}
<div class="actions"><button class="button primary">Switch on</button></div></form>`;
}

function manageForms(visit: Visit, proof: Proof): Html {
  return html`<section class="card"><h2>Authenticator app: on</h2><p>You enter a code from your authenticator app when you sign in.</p>
${newCodesForm(visit, proof)}
<details><summary>Switch it off</summary>${factorForm(visit, proof, { path: 'remove-second-factor', label: 'Switch off', tone: 'danger' })}</details></section>`;
}

function factorForm(
  visit: Visit,
  proof: Proof,
  { path, label, tone }: { readonly path: string; readonly label: string; readonly tone: string },
): Html {
  return html`<form class="fields" method="post" action="${OWN_PATH}/${path}">${formTokenField(visit.formToken)}
${passwordField({ id: `password-for-${path}` })}
${proof.field(`code-for-${path}`)}
<div class="actions"><button class="button ${tone}">${label}</button></div></form>`;
}

async function sessionsCard(context: DashboardContext, visit: Visit): Promise<Html> {
  const sessions = await context.sessions.listSessions(visit.user.id);
  const alive = sessions.filter(
    (session) => session.stage === 'open' && isSessionAlive(session, context.nowMs()),
  );
  return html`<section class="card"><h2>Sessions</h2><p>The browsers in which you are signed in. A session ends after twelve hours without use, and after a week at the latest. If you do not recognize a session, end it and change your password.</p>
${dataTable({
  label: 'Sessions',
  columns: ['Browser', 'Address', 'Started', 'Last active', { name: 'Action', holds: 'actions' }],
  rows: alive.map((session) => sessionRow(session, visit)),
})}</section>`;
}

function sessionRow(session: DashboardSession, visit: Visit): (Html | string)[] {
  const isOwn = session.id === visit.session.id;
  const browser = describeBrowser(session.userAgent);
  return [
    html`${browser}${isOwn ? html` <span class="badge good">this one</span>` : nothing}`,
    session.address,
    moment(session.createdAtMs, visit.timeZone),
    moment(session.lastSeenAtMs, visit.timeZone),
    html`<form method="post" action="${DASHBOARD_PATH}/sessions/${session.id}/end">${formTokenField(visit.formToken)}<button class="button compact danger">End<span class="quiet"> the session of ${browser} at ${session.address}</span></button></form>`,
  ];
}

/** In this order: most browsers also name those they descend from. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** "Firefox on Linux": enough for users to recognize their sessions. The text is the browser's claim, and no proof. */
function describeBrowser(userAgent: string): string {
  const nameIn = (list: typeof browsers) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = nameIn(browsers) ?? 'Unknown browser';
  const system = nameIn(systems);
  return system === undefined ? browser : `${browser} on ${system}`;
}
