import type { PaymentId } from '../../domain/payment-id.ts';
import { type Html, html } from '../design/html.ts';
import { OPERATOR_PATH } from './operator-area.ts';

/** A payment in a table, by the beginning and end of its id: the whole would take half of a phone. */
export function paymentLink(id: PaymentId): Html {
  return html`<a href="${OPERATOR_PATH}/payments/${id}" title="${id}"><code class="small">${id.slice(0, 8)}…${id.slice(-6)}</code></a>`;
}
