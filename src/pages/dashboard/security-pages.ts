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
  confirmTotp,
  consumeCode,
  hasSecondFactor,
  offerTotp,
  removeTotp,
  renewRecoveryCodes,
} from '../../accounts/second-factor.ts';
import { isSessionAlive } from '../../accounts/session-lifetimes.ts';
import { endSession, keepForNextPage, takeForPage } from '../../accounts/sessions.ts';
import { checkFields, invalidField, ServiceError } from '../../payment/errors.ts';
import { actions, dataTable } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { enforceRateLimit } from '../../web/rate-windows.ts';
import {
  type AreaVisit,
  DASHBOARD_PATH,
  recordWrongFactor,
  requirePassword,
  type Visit,
} from '../../web/signed-in/context.ts';
import { moment } from '../../web/signed-in/format.ts';
import * as forms from '../../web/signed-in/forms.ts';
import { type DashboardRoutes, type PageAnswer, type PageView, seeOther } from '../../web/signed-in/pages.ts';
import {
  codeWords,
  newPasskeyPage,
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

/** Purpose under which a confirmed form keeps the name of the new passkey. */
const NEW_PASSKEY = 'name of a new passkey';

/** Registers the security pages. Changing a second factor requires an existing one besides the password. */
export function registerSecurityPages(routes: DashboardRoutes): void {
  const { context } = routes;
  const pages = routes.pages('security', 'viewer');
  const form = (
    path: string,
    show: (visit: Visit) => Promise<PageView>,
    act: (visit: Visit, form: forms.FormFields) => Promise<PageAnswer>,
    codeName?: string,
  ) =>
    pages.form(
      `/security/${path}`,
      async (visit, fields) => {
        await requirePasswordAndFactor(visit, fields, {}, codeName);
        return act(visit, fields);
      },
      show,
    );
  pages.page('/security', showSecurity);
  pages.page('/security/passkeys', showPasskeys);
  pages.page('/security/second-factor', showApp);
  pages.page('/security/password', showPassword);
  pages.form('/sessions/:sessionId/end', async (visit) => {
    const session = {
      id: visit.params['sessionId'] ?? '',
      userId: visit.user.id,
      accountId: visit.account.id,
    };
    await endSession(context, session, visit.actor);
    return seeOther('/security?flash=ended');
  });
  pages.form(
    '/security/password',
    async (visit, fields) => {
      // Counted by session, so that a stolen session cannot use up the attempts of the user's other sessions.
      await enforceRateLimit(context.limits.signInsOfUser, `${visit.user.id} ${visit.session.id}`);
      await requirePassword(visit, fields.text('password'));
      await changePassword(context, visit, fields.text('new_password'), visit.actor);
      return seeOther('/security?flash=password');
    },
    showPassword,
  );
  form(
    'second-factor',
    showApp,
    async (visit, fields) => {
      if (visit.user.totpSecret !== null) throw invalidField('The second factor', 'is already on.');
      const offer = { sealed: fields.text('sealed'), code: fields.text('code') };
      return recoveryCodesPage(await confirmTotp(context, visit, offer, visit.actor), OWN_PATH);
    },
    FACTOR_CODE,
  );
  const showCodes = (visit: Visit) => (visit.user.totpSecret === null ? showPasskeys : showApp)(visit);
  form('recovery-codes', showCodes, async (visit) => {
    if (!(await hasSecondFactor(context, visit.user)))
      throw invalidField('Recovery codes', 'require a second factor.');
    const codes = await renewRecoveryCodes(context, visit);
    await recordForUser(context, visit.user, visit.actor, 'second_factor.codes_renewed');
    return recoveryCodesPage(codes, OWN_PATH);
  });
  form('passkeys', showPasskeys, async (visit, fields) => {
    const options = await offerPasskey(context, visit);
    if (options === null) throw new ServiceError('not_found');
    await keepForNextPage(context, visit.session.id, NEW_PASSKEY, fields.text('name'));
    return newPasskeyPage(options);
  });
  pages.form(
    '/security/new-passkey',
    async (visit, fields) => {
      const name = await takeForPage(context, visit.session.id, NEW_PASSKEY);
      if (name === null) throw invalidField('The confirmation', 'has expired. Please try again.');
      const made = { name, response: fields.text('response') };
      const codes = await addPasskey(context, visit, made, visit.actor);
      return codes === null ? seeOther('/security?flash=passkey') : recoveryCodesPage(codes, OWN_PATH);
    },
    showPasskeys,
  );
  form('remove-passkey', showPasskeys, async (visit, fields) => {
    await removePasskey(context, visit, fields.text('passkey'), visit.actor);
    return seeOther('/security?flash=passkey-removed');
  });
  form('remove-second-factor', showApp, async (visit) => {
    await removeTotp(context, visit.user, visit.actor, { user: visit.user, sessionId: visit.session.id });
    return seeOther('/security?flash=removed');
  });
}

/** Name of the field for an existing factor's code, in the form whose `code` comes from a new app. */
const FACTOR_CODE = 'factor_code';

/** Throws a 400 if the user has a second factor but the form has no valid code. */
async function requireSecondFactor(
  visit: AreaVisit,
  form: forms.FormFields,
  codeField: string,
): Promise<void> {
  const { context } = visit;
  if (!(await hasSecondFactor(context, visit.user))) return;
  const code = form.text(codeField);
  if (code === '') throw invalidField('A second factor', 'is needed: a code or a passkey.', codeField);
  // Counted separately from sign-in codes, so that an attacker with only the password cannot use up these attempts.
  const tries = `${visit.user.id} signed in`;
  await enforceRateLimit(context.limits.codesOfUser, tries);
  if (await consumeCode(context, visit.user, code)) return context.limits.codesOfUser.giveBack(tries);
  await recordWrongFactor(visit);
  throw invalidField('The code', 'is wrong or was already used. Wait for the next one.', codeField);
}

export interface ConfirmedForm {
  readonly action: string;
  readonly style?: 'card' | 'fields';
  readonly title?: string;
  readonly introduction?: Html;
  readonly fields?: forms.Fields;
  readonly button: string;
  /** Style of the button; empty if the form is not the next step of its page. */
  readonly look?: 'primary' | 'danger' | '';
  readonly more?: Html;
  /** Id that distinguishes the fields of a second form on the page. */
  readonly id?: string;
  /** Whether the form requires `requirePasswordAndFactor`; true by default. */
  readonly isConfirmed?: boolean;
  readonly codeName?: string;
}

/** Renders a form that needs the password and an existing second factor (`requirePasswordAndFactor`). */
export async function confirmedForm(visit: AreaVisit, form: ConfirmedForm): Promise<Html> {
  const { action, title, introduction = nothing, fields = {}, button, more = nothing } = form;
  const { style = title === undefined ? 'fields' : 'card', id = '', isConfirmed = true } = form;
  const { look = 'primary', codeName = 'code' } = form;
  const passkey = isConfirmed ? await askForPasskey(visit.context, visit, visit.challenge) : null;
  const proof = isConfirmed ? await proofFields(visit, id, codeName, passkey !== null) : {};
  const options =
    passkey === null ? nothing : html` data-passkey="use" data-options="${JSON.stringify(passkey)}"`;
  return html`<form class="${style}" id="form${id}" method="post" action="${action}"${options}>${title !== undefined && html`<h2>${title}</h2>`}${introduction}
${forms.formFields(visit, action, { ...fields, ...proof })}<input type="hidden" name="response" value="">
<div class="actions"><button class="button ${look}">${button}</button>${more}</div>
<p role="status" data-status></p></form>`;
}

/** Returns a password field and, for users with a second factor, a code field that a passkey may replace. */
async function proofFields(
  visit: AreaVisit,
  id: string,
  codeName: string,
  isCodeOptional: boolean,
): Promise<forms.Fields> {
  const password = { label: 'Your password', type: 'password', id: `password${id}` } as const;
  if (!(await hasSecondFactor(visit.context, visit.user))) return { password };
  const { label, hint } = codeWords(visit.user, 'One of your recovery codes.');
  const note = isCodeOptional ? `${hint} Leave it empty to use a passkey.` : hint;
  const code = { label, hint: note, autocomplete: 'one-time-code', isOptional: isCodeOptional };
  return { password, [codeName]: { ...code, id: `code-to-confirm${id}` } };
}

/** Checks fields, password and second factor. Throws `invalid_request` for wrong fields, or `rate_limited`. */
export async function requirePasswordAndFactor<Checks extends Readonly<Record<string, () => unknown>>>(
  visit: AreaVisit,
  form: forms.FormFields,
  checks: Checks,
  codeName = 'code',
) {
  const { context, user, session } = visit;
  const tries = `${user.id} ${session.id}`;
  await enforceRateLimit(context.limits.signInsOfUser, tries);
  const read = await checkFields({
    ...checks,
    async password() {
      await requirePassword(visit, form.text('password'));
      context.limits.signInsOfUser.giveBack(tries);
    },
  });
  // Checked last, because each code works only once.
  const response = form.text('response');
  if (response === '') await requireSecondFactor(visit, form, codeName);
  else if (!(await usePasskey(context, visit, response))) {
    await recordWrongFactor(visit);
    throw invalidField('The passkey', 'was not accepted. Please try again.');
  }
  return read;
}

/** Renders a row for each sign-in method. Each method has its own page, so that this page contains no secrets. */
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
    main: html`${forms.flashOf(visit, flashMessages)}
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
  return { title: 'Password', main: html`${forms.cardForm(visit, form)}${backToSecurity}` };
}

async function showPasskeys(visit: Visit): Promise<PageView> {
  const { context, user, timeZone } = visit;
  const passkeys = await context.people.listPasskeys(user.id);
  const action = `${OWN_PATH}/remove-passkey`;
  const removals = await Promise.all(
    passkeys.map(async ({ id: passkey }, index) => {
      const introduction = html`<input type="hidden" name="passkey" value="${passkey}">`;
      const form = {
        action,
        id: `-for-passkey-${index}`,
        introduction,
        button: 'Remove',
        look: 'danger',
      } as const;
      return forms.foldedForm(visit, action, 'Remove…', await confirmedForm(visit, form));
    }),
  );
  const table = dataTable({ label: 'Passkeys', empty: nothing }, passkeys, {
    Name: ({ name }) => html`<bdi>${name}</bdi>`,
    Added: ({ createdAtMs }) => moment(createdAtMs, timeZone),
    'Last used': ({ lastUsedAtMs }) => (lastUsedAtMs === null ? 'never' : moment(lastUsedAtMs, timeZone)),
    'Signs in': ({ isPasswordless }) => (isPasswordless ? 'alone' : 'after the password'),
    Action: actions((_, index) => removals[index] ?? null),
  });
  const add = {
    action: `${OWN_PATH}/passkeys`,
    id: '-for-passkey',
    fields: { name: { label: 'Name', id: 'passkey-name' } },
    button: 'Add a passkey',
  };
  const form =
    context.party === null
      ? html`<p class="soft small">Passkeys need HTTPS and a domain name, which this service does not have.</p>`
      : await confirmedForm(visit, add);
  const codes = html`<section class="card"><h2>Recovery codes</h2><p>Recovery codes replace a lost passkey. New codes replace the existing ones.</p>
${await newCodesForm(visit)}</section>`;
  return {
    title: 'Passkeys',
    main: html`<section class="card"><p>Sign in with your fingerprint, face or device lock, without a password.
A security key that asks for no PIN is a second factor after it.</p>
${table}
${form}
<noscript><p class="soft small">Adding a passkey requires JavaScript. An authenticator app does not.</p></noscript></section>
${passkeys.length > 0 && user.totpSecret === null ? codes : nothing}
${backToSecurity}`,
  };
}

async function showApp(visit: Visit): Promise<PageView> {
  const forms = visit.user.totpSecret === null ? await offerForm(visit) : await manageForms(visit);
  return { title: 'Authenticator app', main: html`${forms}${backToSecurity}` };
}

const passwordFields: forms.Fields = {
  password: { label: 'Current password', type: 'password' },
  ...forms.newPassword('Your other sessions end.'),
};

function newCodesForm(visit: Visit): Promise<Html> {
  return factorForm(visit, 'recovery-codes', 'New recovery codes', { button: 'Create new codes' });
}

function offerForm(visit: Visit): Promise<Html> {
  const introduction =
    'With an authenticator app on your phone, a stolen password is not enough. Scan this, or type the key, then give the six digits that the app shows.';
  // Keeps the secret that a refused form offered, because the app may already store it.
  const offer = offerTotp(visit.context, visit.user, visit.refused?.text('sealed'));
  return confirmedForm(visit, {
    action: `${OWN_PATH}/second-factor`,
    style: 'card',
    introduction: totpOffer(offer, introduction),
    fields: totpCode,
    codeName: FACTOR_CODE,
    button: 'Turn on',
  });
}

async function manageForms(visit: Visit): Promise<Html> {
  const off = { button: 'Switch off', look: 'danger' } as const;
  return html`<section class="card"><p>You enter a code from your authenticator app when you sign in.</p>
${await newCodesForm(visit)}
${await factorForm(visit, 'remove-second-factor', 'Switch it off', off)}</section>`;
}

async function factorForm(
  visit: Visit,
  path: string,
  summary: string,
  form: Pick<ConfirmedForm, 'button' | 'look'>,
): Promise<Html> {
  const action = `${OWN_PATH}/${path}`;
  return forms.foldedForm(
    visit,
    action,
    summary,
    await confirmedForm(visit, { ...form, action, id: `-for-${path}` }),
  );
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
action="${DASHBOARD_PATH}/sessions/${id}/end"><button class="button compact danger">End<span class="quiet">
the session of ${describeBrowser(userAgent)} at ${address}</span></button></form>`,
  ),
})}</section>`;
}

/** Browser patterns. The order matters, because most browsers also name those they derive from. */
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

/** Returns "Firefox on Linux", so that users recognize their sessions. The browser's claim is unverified. */
function describeBrowser(userAgent: string): string {
  const nameIn = (list: typeof browsers) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = nameIn(browsers) ?? 'Unknown browser';
  const system = nameIn(systems);
  return system === undefined ? browser : `${browser} on ${system}`;
}
