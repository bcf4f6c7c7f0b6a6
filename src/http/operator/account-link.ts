import { SERVICE_LOG } from '../../domain/audit-entry.ts';
import { type Html, html } from '../design/html.ts';
import { OPERATOR_PATH } from './operator-area.ts';

/** An account in a table, or the service where what is told concerns all of them. */
export function accountLink(id: string): Html {
  return id === SERVICE_LOG
    ? html`<span class="soft">the service</span>`
    : html`<a href="${OPERATOR_PATH}/accounts/${id}"><code class="small">${id}</code></a>`;
}
