import type { Passkey } from '../../domain/passkey.ts';
import { dataTable } from '../design/data-table.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { passwordField } from './fields.ts';
import { formTokenField } from './form-token.ts';
import { moment } from './format-time.ts';
import { DASHBOARD_PATH } from './sections.ts';
import type { Visit } from './visit.ts';

const OWN_PATH = `${DASHBOARD_PATH}/security`;

/** The field by which a form asks for a second factor that is there already; nothing where none is needed. */
export type ProofField = (id: string, name?: string) => Html;

/** The user's passkeys, and a form for another; `options` is null where browsers have none for this address. */
export function passkeyCard(
  visit: Visit,
  passkeys: readonly Passkey[],
  options: object | null,
  proofField: ProofField,
): Html {
  return html`<section class="card"><h2>Passkeys</h2>
<p>A fingerprint, a face, a security key or the lock of your device as the second factor, which works on no other site than this.</p>
${passkeys.length === 0 ? nothing : passkeyTable(visit, passkeys, proofField)}
${options === null ? html`<p class="soft small">They need an address with a name and HTTPS, which this service does not have.</p>` : addForm(visit, options, proofField)}
<noscript><p class="soft small">Adding one needs JavaScript; an authenticator app does not.</p></noscript></section>`;
}

function passkeyTable(visit: Visit, passkeys: readonly Passkey[], proofField: ProofField): Html {
  return dataTable({
    label: 'Passkeys',
    columns: ['Name', 'Added', 'Last used', { name: 'Action', holds: 'actions' }],
    rows: passkeys.map(({ id, name, createdAtMs, lastUsedAtMs }, index) => [
      html`<bdi>${name}</bdi>`,
      moment(createdAtMs, visit.timeZone),
      lastUsedAtMs === null ? 'never' : moment(lastUsedAtMs, visit.timeZone),
      html`<details><summary>Remove…</summary><form class="fields" method="post" action="${OWN_PATH}/remove-passkey">${formTokenField(visit.formToken)}<input type="hidden" name="passkey" value="${id}">
${passwordField({ id: `password-for-passkey-${index}` })}
${proofField(`code-for-passkey-${index}`)}
<button class="button danger">Remove</button></form></details>`,
    ]),
  });
}

function addForm(visit: Visit, options: object, proofField: ProofField): Html {
  return html`<form class="fields" method="post" action="${OWN_PATH}/passkeys" data-passkey="make" data-options="${JSON.stringify(options)}" hidden>${formTokenField(visit.formToken)}<input type="hidden" name="response" value="">
<div class="field"><label for="passkey-name">Name</label><input id="passkey-name" name="name" maxlength="60" value="" autocomplete="off" required></div>
${passwordField({ id: 'password-for-passkey' })}
${proofField('code-for-passkey')}
<p role="status" data-told></p>
<div class="actions"><button class="button primary">Add a passkey</button></div></form>`;
}

/** Asks for a passkey when signing in. */
export function usePasskeyForm({
  next,
  ...form
}: {
  readonly action: string;
  readonly formToken: string;
  readonly next: string;
  readonly options: object;
}): Html {
  const fields = html`<input type="hidden" name="next" value="${next}">`;
  return askingForm({
    ...form,
    style: 'card',
    fields,
    button: html`<button class="button primary wide">Use a passkey</button>`,
  });
}

/** Asks for one of the user's passkeys before second factors are changed. */
export function confirmPasskeyForm(action: string, formToken: string, options: object): Html {
  const button = html`<div class="actions"><button class="button primary">Confirm with a passkey</button></div>`;
  return askingForm({ action, formToken, options, style: 'fields', fields: nothing, button });
}

function askingForm({
  action,
  formToken,
  options,
  style,
  fields,
  button,
}: {
  readonly action: string;
  readonly formToken: string;
  readonly options: object;
  readonly style: string;
  readonly fields: Html;
  readonly button: Html;
}): Html {
  return html`<form class="${style}" method="post" action="${action}" data-passkey="use" data-options="${JSON.stringify(options)}" hidden>${formTokenField(formToken)}${fields}<input type="hidden" name="response" value="">
${button}
<p role="status" data-told></p></form>`;
}
