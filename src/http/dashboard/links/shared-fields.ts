import type { Account } from '../../../domain/account.ts';
import { type Html, html, nothing } from '../../design/html.ts';
import { textField } from '../fields.ts';

// What both forms ask for that make a payment by hand.

export function choice<Value extends string>(
  name: string,
  label: string,
  values: readonly Value[],
  chosen: string,
  wordsOf: (value: Value) => string,
): Html {
  return html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}">${values.map(
    (value) =>
      html`<option value="${value}"${value === chosen ? html` selected` : nothing}>${wordsOf(value)}</option>`,
  )}</select></div>`;
}

export function noteField(value: string): Html {
  return html`<div class="field"><label for="note">Note</label><textarea id="note" name="note" rows="2" maxlength="1000" aria-describedby="note-hint">
${value}</textarea>
<p class="hint" id="note-hint">Public: whoever gets the short link sees it in previews. Not on the checkout page itself; at most 500 characters.</p></div>`;
}

/** Where the money and the events go: as the settings say, or asked for. */
export function destinationFields(account: Account, value: (name: string) => string): Html {
  return html`${account.wallet === null ? textField({ name: 'address', label: 'Payout wallet', value: value('address'), hint: 'A Polygon address (0x…); the settings can keep one' }) : html`<p>Paid out to <code>${account.wallet}</code></p>`}
${account.defaultCallbackUrl === null ? textField({ name: 'callback', label: 'Webhook address', type: 'url', value: value('callback'), hint: 'https; gets the signed event. The settings can keep one' }) : html`<p>The event goes to <code>${account.defaultCallbackUrl}</code></p>`}`;
}
