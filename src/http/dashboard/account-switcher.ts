import { type Html, html, nothing } from '../design/html.ts';
import { formTokenField } from './form-token.ts';
import { DASHBOARD_PATH } from './sections.ts';
import type { Visit } from './visit.ts';

/** In the header, for who is a member of more than one account. */
export function accountSwitcher({ otherAccounts, formToken }: Visit): Html {
  if (otherAccounts.length === 0) return nothing;
  return html`<details class="switcher"><summary>Other accounts</summary>
<form method="post" action="${DASHBOARD_PATH}/account">${formTokenField(formToken)}<ul>${otherAccounts.map(
    ({ id, name }) =>
      html`<li><button class="plain" name="account" value="${id}"><bdi>${name}</bdi></button></li>`,
  )}</ul></form></details>`;
}
