import {
  addPasskey,
  askForPasskey,
  offerPasskey,
  removePasskey,
  usePasskey,
} from '../../accounts/passkeys.ts';
import { changePassword } from '../../accounts/password-links.ts';
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
import { isSessionAlive } from '../../accounts/session-lifetimes.ts';
import { endSession } from '../../accounts/sessions.ts';
import { invalidField, ServiceError } from '../../payment/errors.ts';
import { actions, dataTable } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { requirePassing } from '../../web/rate-windows.ts';
import {
  type AreaVisit,
  DASHBOARD_PATH,
  recordWrongFactor,
  requirePassword,
  type Visit,
} from '../../web/signed-in/context.ts';
import {
  cardForm,
  checkFields,
  type Fields,
  foldedForm,
  formFields,
  newPassword,
} from '../../web/signed-in/form-fields.ts';
import { moment } from '../../web/signed-in/format.ts';
import { banner, type FormFields, flashOf, formTokenField } from '../../web/signed-in/forms.ts';
import { type DashboardRoutes, type PageAnswer, type PageView, seeOther } from '../../web/signed-in/pages.ts';
import {
  codeWords,
  type ProofFields,
  partyOf,
  passkeyCard,
  passkeyForm,
  recoveryCodesPage,
  totpCode,
  totpOffer,
} from '../../web/signed-in/second-factor-pages.ts';

const OWN_PATH = `${DASHBOARD_PATH}/security`;
const flashMessages = {
  password: 'Your password is changed. Your other sessions have ended. Passkeys are a second factor again.',
  removed: 'The authenticator app is off.',
  passkey: 'The passkey is added.',
  'passkey-removed': 'The passkey is removed.',
  ended: 'The session has ended.',
};

/** A change of second factors needs an existing one: an unattended session and a password must not suffice. */
export function registerSecurityPages(routes: DashboardRoutes): void {
  const { context } = routes;
  const pages = routes.pages('security', 'viewer');
  const form = (
    path: string,
    show: (visit: Visit) => Promise<PageView>,
    act: (visit: Visit, form: FormFields) => Promise<PageAnswer>,
  ) =>
    pages.form(
      `/security/${path}`,
      async (visit, fields) => {
        // Counted by session, so that a stolen one without the password cannot use up the attempts of the user's others.
        await requirePassing(context.limits.signInsOfUser, `${visit.user.id} ${visit.session.id}`);
        await requirePassword(visit, fields.text('password'));
        return act(visit, fields);
      },
      show,
    );
  const showPasskeys = (visit: Visit) => showFactors(visit, 'passkeys');
  const showApp = (visit: Visit) => showFactors(visit, 'second-factor');
  pages.page('/security', showSecurity);
  pages.page('/security/passkeys', showPasskeys);
  pages.page('/security/second-factor', showApp);
  pages.page('/security/password', showPassword);
  pages.form('/security/confirm', confirm);
  pages.form('/sessions/:sessionId/end', async (visit) => {
    const session = {
      id: visit.params['sessionId'] ?? '',
      userId: visit.user.id,
      accountId: visit.account.id,
    };
    await endSession(context, session, visit.actor);
    return seeOther('/security?flash=ended');
  });
  form('password', showPassword, async (visit, fields) => {
    await changePassword(context, visit, fields.text('new_password'), visit.actor);
    return seeOther('/security?flash=password');
  });
  form('second-factor', showApp, async (visit, fields) => {
    if (visit.user.totpSecret !== null) throw invalidField('The second factor', 'is already on.');
    await requireSecondFactor(visit, fields, 'factor_code');
    const offer = { sealed: fields.text('sealed'), code: fields.text('code') };
    return recoveryCodesPage(await confirmTotp(context, visit, offer, visit.actor), OWN_PATH);
  });
  const showCodes = (visit: Visit) => (visit.user.totpSecret === null ? showPasskeys : showApp)(visit);
  form('recovery-codes', showCodes, async (visit, fields) => {
    if (!(await hasSecondFactor(context, visit.user)))
      throw invalidField('Recovery codes', 'require a second factor.');
    await requireSecondFactor(visit, fields);
    const codes = await renewRecoveryCodes(context, visit);
    await recordForUser(context, visit.user, visit.actor, 'second_factor.codes_renewed');
    return recoveryCodesPage(codes, OWN_PATH);
  });
  form('passkeys', showPasskeys, async (visit, fields) => {
    const party = partyOf(context);
    if (party === null) throw new ServiceError('not_found');
    await requireSecondFactor(visit, fields);
    const made = { name: fields.text('name'), response: fields.text('response'), party };
    const codes = await addPasskey(context, visit, made, visit.actor);
    return codes === null ? seeOther('/security?flash=passkey') : recoveryCodesPage(codes, OWN_PATH);
  });
  form('remove-passkey', showPasskeys, async (visit, fields) => {
    await requireSecondFactor(visit, fields);
    await removePasskey(context, visit, fields.text('passkey'), visit.actor);
    return seeOther('/security?flash=passkey-removed');
  });
  form('remove-second-factor', showApp, async (visit, fields) => {
    await requireSecondFactor(visit, fields);
    await removeTotp(context, visit.user, visit.actor, { user: visit.user, sessionId: visit.session.id });
    return seeOther('/security?flash=removed');
  });
}

/** After the use of a passkey, shows the page with forms that need no code for some minutes. */
async function confirm(visit: Visit, form: FormFields): Promise<PageView> {
  const { context } = visit;
  const page = form.text('page') === 'second-factor' ? 'second-factor' : 'passkeys';
  const party = partyOf(context);
  if (party === null) throw new ServiceError('not_found');
  if (!(await usePasskey(context, visit, form.text('response'), party))) {
    await recordWrongFactor(visit);
    const message = banner('bad', 'The passkey was not accepted. Please try again.');
    return { ...(await showFactors(visit, page, { message })), status: 400 };
  }
  const message = banner('good', 'Confirmed. You can change your second factors for five minutes.');
  const confirmation = confirmSecondFactor(context, visit.session.id);
  return showFactors(visit, page, { message, confirmation });
}

/** Throws a 400 unless the form has a valid code or a passkey was just used, for a user with a second factor. */
async function requireSecondFactor(visit: AreaVisit, form: FormFields, codeField = 'code'): Promise<void> {
  const { context } = visit;
  if (!(await hasSecondFactor(context, visit.user))) return;
  if (isConfirmed(context, visit.session.id, form.text('confirmation'))) return;
  const code = form.text(codeField);
  if (code === '') throw invalidField('A second factor', 'is needed: a code or a passkey.', codeField);
  // Counted apart from sign-in codes, which an attacker with only the password must not use up.
  const tries = `${visit.user.id} signed in`;
  await requirePassing(context.limits.codesOfUser, tries);
  if (await consumeCode(context, visit.user, code)) return context.limits.codesOfUser.giveBack(tries);
  await recordWrongFactor(visit);
  throw invalidField('The code', 'is wrong or was already used. Wait for the next one.', codeField);
}

export interface ConfirmedForm {
  readonly action: string;
  readonly style?: 'card' | 'fields';
  readonly introduction?: Html;
  readonly fields?: Fields;
  readonly button: string;
  readonly more?: Html;
  /** Distinguishes the fields of a page's second form. */
  readonly id?: string;
  /** False for a form without `requirePasswordAndFactor`. */
  readonly isConfirmed?: boolean;
}

/** Form that the user confirms with the password and an existing second factor (`requirePasswordAndFactor`). */
export async function confirmedForm(visit: AreaVisit, form: ConfirmedForm): Promise<Html> {
  const { action, style = 'fields', introduction = nothing, fields = {}, button, more = nothing } = form;
  const { id = '', isConfirmed = true } = form;
  const passkey = isConfirmed
    ? await askForPasskey(visit.context, visit, partyOf(visit.context), visit.challenge)
    : null;
  const proof = isConfirmed ? await proofFields(visit, id, passkey !== null) : {};
  const options =
    passkey === null ? nothing : html` data-passkey="use" data-options="${JSON.stringify(passkey)}"`;
  return html`<form class="${style}" id="form${id}" method="post" action="${action}"${options}>${formTokenField(visit.formToken)}${introduction}
${formFields(visit, action, { ...fields, ...proof })}<input type="hidden" name="response" value="">
<div class="actions"><button class="button primary">${button}</button>${more}</div>
<p role="status" data-status></p></form>`;
}

/** Field of the password, and of a code for a user with a second factor, which a passkey may replace. */
async function proofFields(visit: AreaVisit, id: string, isCodeOptional: boolean): Promise<Fields> {
  const password = { label: 'Your password', type: 'password', id: `password${id}` } as const;
  if (!(await hasSecondFactor(visit.context, visit.user))) return { password };
  const { label, hint } = codeWords(visit.user, 'One of your recovery codes.');
  const note = isCodeOptional ? `${hint} Leave it empty to use a passkey.` : hint;
  const code = { label, hint: note, autocomplete: 'one-time-code', isOptional: isCodeOptional };
  return { password, code: { ...code, id: `code-to-confirm${id}` } };
}

/** Resolves to the values of `checks`. Throws `invalid_request` naming the wrong fields, or `rate_limited`. */
export async function requirePasswordAndFactor<Checks extends Readonly<Record<string, () => unknown>>>(
  visit: AreaVisit,
  form: FormFields,
  checks: Checks,
) {
  const { context, user, session } = visit;
  const tries = `${user.id} ${session.id}`;
  await requirePassing(context.limits.signInsOfUser, tries);
  const read = await checkFields({
    ...checks,
    async password() {
      await requirePassword(visit, form.text('password'));
      context.limits.signInsOfUser.giveBack(tries);
    },
  });
  // Checked last, because a code works only once.
  const response = form.text('response');
  const party = partyOf(context);
  if (response === '' || party === null) await requireSecondFactor(visit, form);
  else if (!(await usePasskey(context, visit, response, party))) {
    await recordWrongFactor(visit);
    throw invalidField('The passkey', 'was not accepted. Please try again.');
  }
  return read;
}

/** One row per sign-in method. Each opens its own page, so that this one has no secret and no password field. */
async function showSecurity(visit: Visit): Promise<PageView> {
  const passkeys = await visit.context.people.listPasskeys(visit.user.id);
  const hasApp = visit.user.totpSecret !== null;
  const state = (isGood: boolean, text: string) =>
    html` <span class="badge ${isGood ? 'good' : 'plain'}">${text}</span>`;
  const row = (path: string, heading: Html, sentence: string, button: string, look = '') =>
    html`<li><div><h2>${heading}</h2><p class="soft">${sentence}</p></div><a class="button ${look}" href="${OWN_PATH}/${path}">${button}</a></li>`;
  const [count, isNew] = [passkeys.length, passkeys.length === 0 && !hasApp];
  return {
    title: 'Security',
    main: html`${flashOf(visit, flashMessages)}
<section class="card"><ul class="feed">
${row(
  'passkeys',
  html`Passkeys${state(count > 0, count === 0 ? 'none' : String(count))}`,
  'Your fingerprint, face or device lock signs you in. It cannot be given to a false page.',
  count === 0 ? 'Add a passkey' : 'Manage passkeys',
  isNew ? 'primary' : '',
)}
${row(
  'second-factor',
  html`Authenticator app${state(hasApp, hasApp ? 'on' : 'off')}`,
  'Six digits from your phone, after the password.',
  hasApp ? 'Manage the app' : 'Set up an app',
)}
${row('password', html`Password`, 'A new one ends your other sessions.', 'Change password')}</ul></section>
${await sessionsCard(visit)}`,
  };
}

const backToSecurity = html`<p><a href="${OWN_PATH}">Back to Security</a></p>`;

async function showPassword(visit: Visit): Promise<PageView> {
  const form = { action: `${OWN_PATH}/password`, fields: passwordFields, button: 'Change password' };
  return { title: 'Password', main: html`${cardForm(visit, form)}${backToSecurity}` };
}

/** @param shown a message, and the confirmation of a passkey used just now (`confirmSecondFactor`) */
async function showFactors(
  visit: Visit,
  page: 'passkeys' | 'second-factor',
  shown: { readonly message?: Html; readonly confirmation?: string } = {},
): Promise<PageView> {
  const { context } = visit;
  const isPasskeys = page === 'passkeys';
  const party = partyOf(context);
  const passkeys = await context.people.listPasskeys(visit.user.id);
  const offer = isPasskeys ? await offerPasskey(context, visit, party, visit.challenge) : null;
  const proof = proofOf(visit, passkeys.length > 0, shown.confirmation);
  const question = proof.isGiven ? null : await askForPasskey(context, visit, party, visit.challenge);
  const app = visit.user.totpSecret === null ? offerForm : manageForms;
  const hasCodesHere = passkeys.length > 0 && visit.user.totpSecret === null;
  return {
    title: isPasskeys ? 'Passkeys' : 'Authenticator app',
    main: html`${shown.message ?? nothing}
${question === null ? nothing : confirmationCard(visit, page, question)}
${isPasskeys ? html`${passkeyCard(visit, passkeys, offer, proof.fields)}${hasCodesHere ? codesCard(visit, proof) : nothing}` : app(visit, proof)}
${backToSecurity}`,
  };
}

const passwordFields: Fields = {
  password: { label: 'Current password', type: 'password' },
  ...newPassword('Your other sessions end.'),
};

/** Proof that a form gives before it changes second factors, besides the password. */
interface Proof {
  /** Whether a passkey was just used, or there is no second factor yet. */
  readonly isGiven: boolean;
  readonly fields: ProofFields;
}

function proofOf(
  visit: Visit,
  hasPasskeys: boolean,
  confirmation = visit.refused?.text('confirmation') ?? '',
): Proof {
  const isConfirmedNow = isConfirmed(visit.context, visit.session.id, confirmation);
  const isGiven = isConfirmedNow || (visit.user.totpSecret === null && !hasPasskeys);
  const hidden = isConfirmedNow
    ? html`<input type="hidden" name="confirmation" value="${confirmation}">`
    : nothing;
  const words = codeWords(visit.user, 'Not needed after you confirm with a passkey.');
  return {
    isGiven,
    fields(path, { fields = {}, id = path, codeName = 'code' } = {}) {
      const code = { ...words, id: `${codeName}-for-${id}`, autocomplete: 'one-time-code' };
      return html`${formTokenField(visit.formToken)}${hidden}${formFields(visit, `${OWN_PATH}/${path}`, {
        password: { label: 'Password', type: 'password', id: `password-for-${id}` },
        ...fields,
        ...(isGiven ? {} : { [codeName]: code }),
      })}`;
    },
  };
}

function confirmationCard({ formToken }: Visit, page: string, options: object): Html {
  const asked = { action: `${OWN_PATH}/confirm`, formToken, options };
  const field = html`<input type="hidden" name="page" value="${page}">`;
  const button = html`<div class="actions"><button class="button primary">Confirm with a passkey</button></div>`;
  return html`<section class="card"><h2>Change your second factors</h2>
<p>Each change requires an existing second factor. Confirm with a passkey here, or enter a code with the change.</p>
${passkeyForm('fields', asked, field, button)}</section>`;
}

function codesCard(visit: Visit, proof: Proof): Html {
  return html`<section class="card"><h2>Recovery codes</h2><p>Recovery codes replace a lost passkey. New codes replace the existing ones.</p>
${newCodesForm(visit, proof)}</section>`;
}

function newCodesForm(visit: Visit, proof: Proof): Html {
  const button = html`<button class="button primary">Create new codes</button>`;
  return factorForm(visit, proof, 'recovery-codes', 'New recovery codes', button);
}

function offerForm(visit: Visit, proof: Proof): Html {
  const introduction =
    'With an authenticator app on your phone, a stolen password is not enough. Scan this, or type the key, then give the six digits that the app shows.';
  // Keeps the secret that a refused form offered, because the app may already have it.
  const offer = offerTotp(visit.context, visit.user, visit.refused?.text('sealed'));
  return html`<form class="card" method="post" action="${OWN_PATH}/second-factor">
${totpOffer(offer, introduction)}
${proof.fields('second-factor', { fields: totpCode, codeName: 'factor_code' })}
<div class="actions"><button class="button primary">Turn on</button></div></form>`;
}

function manageForms(visit: Visit, proof: Proof): Html {
  const button = html`<button class="button danger">Switch off</button>`;
  return html`<section class="card"><p>You enter a code from your authenticator app when you sign in.</p>
${newCodesForm(visit, proof)}
${factorForm(visit, proof, 'remove-second-factor', 'Switch it off', button)}</section>`;
}

function factorForm(visit: Visit, { fields }: Proof, path: string, summary: string, button: Html): Html {
  const action = `${OWN_PATH}/${path}`;
  const form = html`<form class="fields" method="post" action="${action}">${fields(path)}
<div class="actions">${button}</div></form>`;
  return foldedForm(visit, action, summary, form);
}

async function sessionsCard(visit: Visit): Promise<Html> {
  const sessions = await visit.context.sessions.listSessions(visit.user.id);
  const alive = sessions.filter(
    (session) => session.stage === 'open' && isSessionAlive(session, visit.context.nowMs()),
  );
  return html`<section class="card"><h2>Sessions</h2><p>The browsers in which you are signed in.
A session ends after twelve hours without use, and after a week at the latest. If you do not recognize a session, end it and change your password.</p>
${dataTable('Sessions', alive, {
  Browser: ({ id, userAgent }) =>
    html`${describeBrowser(userAgent)}${id === visit.session.id ? html` <span class="badge good">this one</span>` : nothing}`,
  Address: ({ address }) => address,
  Started: ({ createdAtMs }) => moment(createdAtMs, visit.timeZone),
  'Last active': ({ lastSeenAtMs }) => moment(lastSeenAtMs, visit.timeZone),
  Action: actions(
    ({ id, userAgent, address }) =>
      html`<form method="post"
action="${DASHBOARD_PATH}/sessions/${id}/end">${formTokenField(visit.formToken)}<button class="button compact danger">End<span class="quiet">
the session of ${describeBrowser(userAgent)} at ${address}</span></button></form>`,
  ),
})}</section>`;
}

/** In this order, because most browsers also name the browsers that they descend from. */
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

/** "Firefox on Linux", for users to recognize their sessions. Unverified claim of the browser. */
function describeBrowser(userAgent: string): string {
  const nameIn = (list: typeof browsers) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = nameIn(browsers) ?? 'Unknown browser';
  const system = nameIn(systems);
  return system === undefined ? browser : `${browser} on ${system}`;
}
