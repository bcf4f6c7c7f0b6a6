import type { ApiKey } from '../../accounts/account.ts';
import { defaultScopes, keyScopes, maskApiKey, roleForScopes, scopeLabels } from '../../accounts/api-key.ts';
import {
  createKey,
  describeKey,
  findOwnKey,
  MAXIMUM_ACTIVE_KEYS,
  revokeOwnKey,
} from '../../accounts/api-keys.ts';
import { roleIncludes } from '../../accounts/person.ts';
import { keepForNextPage, takeForPage } from '../../accounts/sessions.ts';
import { parseName } from '../../accounts/shop-profile.ts';
import { invalidField, ServiceError } from '../../payment/errors.ts';
import { actions, dataTable } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { moment } from '../../web/signed-in/format.ts';
import * as forms from '../../web/signed-in/forms.ts';
import {
  type DashboardRoutes,
  type FormHandler,
  type PageView,
  seeOther,
} from '../../web/signed-in/pages.ts';
import { ENDPOINT_CHECK_PATH } from './endpoint-check-page.ts';
import { confirmedForm, requirePasswordAndFactor } from './security-pages.ts';

const flashMessages = {
  revoked: 'The key is revoked. Requests with it are refused.',
  shown: forms.banner(
    'warn',
    'A key is shown only once. If you have not saved the new key, revoke it and create another.',
  ),
};

const KEYS_PATH = `${DASHBOARD_PATH}/keys`;

export function registerKeyPages(routes: DashboardRoutes): void {
  const pages = routes.pages('keys', 'developer');
  pages.page('/keys', showKeys);
  pages.form('/keys', answerCreate, showKeys);
  pages.page('/keys/:keyId/created', showCreated);
  pages.form('/keys/:keyId/revoke', async (visit) => {
    const key = await revokeOwnKey(visit.context, visit.account.id, visit.params['keyId'] ?? '');
    await record(visit, 'key.revoked', describeKey(key));
    return seeOther('/keys?flash=revoked');
  });
}

async function showKeys(visit: Visit): Promise<PageView> {
  const keys = await visit.context.accounts.listKeys(visit.account.id);
  const active = keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  const revoked = keys.filter((key) => !active.includes(key)).slice(-20);
  return {
    title: 'API keys',
    main: html`${forms.flashOf(visit, flashMessages)}
<p>A key lets your shop create checkouts and read payments. Shop plugins can <a href="/docs/connect">get one in one click</a>.
For webhooks, <a href="${ENDPOINT_CHECK_PATH}">test your endpoint</a>. <strong>${active.length} of ${MAXIMUM_ACTIVE_KEYS}</strong> keys are in use.</p>
${active.length === 0 ? html`<p class="banner plain">No keys yet. Create one for your shop's server.</p>` : keyTable(active, visit.timeZone, KEYS_PATH)}
${active.length >= MAXIMUM_ACTIVE_KEYS ? html`<p class="banner">To create another key, revoke one first.</p>` : await createForm(visit)}
${revoked.length === 0 ? nothing : html`<details><summary>Revoked keys</summary>${keyTable(revoked.toReversed(), visit.timeZone, null)}</details>`}`,
  };
}

const keyFields: forms.Fields = {
  name: { label: 'Name', hint: 'The use of the key, such as “web shop”. Customers never see it.' },
};

function createForm(visit: Visit): Promise<Html> {
  const { refused } = visit;
  const label = 'What the key may do';
  const error = refused === undefined ? {} : forms.errorAt(refused, 'scopes', { label });
  const offered = keyScopes.filter((scope) => roleIncludes(visit.role, roleForScopes([scope])));
  const boxes = offered.map((name) => {
    const isChecked = refused?.has(name) ?? defaultScopes.includes(name);
    return html`<div class="actions">${forms.tickField({ type: 'checkbox', name, isChecked, label: scopeLabels[name] })}</div>`;
  });
  return confirmedForm(visit, {
    action: KEYS_PATH,
    title: 'Create a key',
    introduction: html`${forms.formFields(visit, KEYS_PATH, keyFields)}
<fieldset class="field" id="scopes"${forms.describedBy('scopes', error)}><legend>${label}</legend>${boxes}${forms.notesOf('scopes', error)}</fieldset>`,
    button: 'Create key',
  });
}

/** @param keysPath path of the forms that revoke keys; null for revoked keys */
export function keyTable(keys: readonly ApiKey[], timeZone: string, keysPath: string | null): Html {
  return html`${dataTable(keysPath === null ? 'Revoked keys' : 'API keys', keys, {
    Name: ({ name, callbackHost }) =>
      html`<bdi>${name}</bdi>${callbackHost === null ? nothing : html`<br><span class="soft small">Webhooks to <bdi>${callbackHost}</bdi> only</span>`}`,
    Key: ({ lastCharacters }) => html`<code>${maskApiKey(lastCharacters)}</code>`,
    Scopes: ({ scopes }) => (scopes.length === keyScopes.length ? 'all' : scopes.join(', ')),
    Created: ({ createdAtMs }) => moment(createdAtMs, timeZone),
    'Last used': ({ lastUsedAtMs }) =>
      lastUsedAtMs === null ? html`<span class="soft">never</span>` : moment(lastUsedAtMs, timeZone),
    ...(keysPath === null
      ? { Revoked: ({ revokedAtMs }) => moment(revokedAtMs ?? 0, timeZone) }
      : { Action: actions((key) => revocation(key, keysPath)) }),
  })}
${keysPath !== null && html`<p class="soft small">“Last used” is updated about every minute.</p>`}`;
}

function revocation({ id, name }: ApiKey, keysPath: string): Html {
  return forms.foldedAction({
    action: `${keysPath}/${id}/revoke`,
    summary: html`Revoke…<span class="quiet"> ${name}</span>`,
    effect: html`<p>All further requests with it are refused. Existing payments continue. This cannot be undone.</p>`,
    button: 'Revoke the key',
  });
}

/** Creates a key, kept only for the next page. Requires password and second factor against stolen sessions. */
const answerCreate: FormHandler = async (visit, form) => {
  const { context } = visit;
  const scopes = keyScopes.filter((scope) => form.has(scope));
  if (!roleIncludes(visit.role, roleForScopes(scopes))) throw new ServiceError('role_too_small');
  const name = form.text('name');
  await requirePasswordAndFactor(visit, form, {
    name: () => parseName(name),
    scopes() {
      if (scopes.length === 0) throw invalidField('scopes', 'must contain at least one');
    },
  });
  const { key, plainKey } = await createKey(context, visit.account.id, { name, scopes });
  await record(visit, 'key.created', describeKey(key));
  await keepForNextPage(context, visit.session.id, purposeOf(key.id), plainKey);
  return seeOther(`/keys/${key.id}/created`);
};

const purposeOf = (keyId: string) => `key ${keyId}`;

/** Shows the key once. A reload redirects to the list. */
async function showCreated(visit: Visit) {
  const key = await findOwnKey(visit.context, visit.account.id, visit.params['keyId'] ?? '');
  const plainKey = await takeForPage(visit.context, visit.session.id, purposeOf(key.id));
  if (plainKey === null) return seeOther('/keys?flash=shown');
  return { ...forms.shownOncePage(key.name, plainKey, KEYS_PATH), title: 'Your new key' };
}
