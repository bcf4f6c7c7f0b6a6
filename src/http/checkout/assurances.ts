import type { Payment } from '../../domain/payment.ts';
import { isProviderId, providersWithoutEmail } from '../../domain/provider-catalogue.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { fillIn } from './fill-in.ts';
import type { Language } from './languages.ts';
import { playPanel } from './play-panel.ts';
import type { Checkout } from './read-checkout.ts';
import type { Words } from './words/words.ts';

/** How the page is shown. */
export interface AssurancesOptions {
  readonly path: string;
  readonly isPlayable: boolean;
  /** The visitor came with the payment's e-mail address. */
  readonly knowsEmail: boolean;
}

/** What a careful customer wants to know before going on; in the sandbox, what a developer wants to try. */
export function assurances(
  { payment, account }: Checkout,
  { words }: Language,
  { path, isPlayable, knowsEmail }: AssurancesOptions,
): Html {
  const { card, price, delivery } = words.assurances;
  return html`<footer id="assurances"><ul>
<li>${card}</li>
<li>${price}</li>
<li>${fillIn(delivery, { shop: account.name })}</li>
${emailLine(payment, knowsEmail, words)}
</ul>${phoneCode(path, words)}${isPlayable ? playPanel(payment) : nothing}</footer>`;
}

/** Only shown where there is room and a mouse: whoever is on a phone is there already. Loaded once it is opened. */
function phoneCode(path: string, { phone }: Words): Html {
  return html`<details class="phone"><summary>${phone.heading}</summary>
<p>${phone.hint}</p><img src="${path}/qr.svg" alt="${phone.code}" width="180" height="180" loading="lazy"></details>`;
}

/** In place of an address that the visitor did not bring along: neither name nor host. */
const HIDDEN_EMAIL = '•••@•••';

function emailLine({ email, provider }: Payment, knowsEmail: boolean, { assurances }: Words): Html {
  if (email === null || (isProviderId(provider) && providersWithoutEmail.has(provider))) return nothing;
  return knowsEmail
    ? html`<li>${fillIn(assurances.email, { email: maskEmail(email) })}</li>`
    : html`<li>${fillIn(assurances.emailKept, { email: HIDDEN_EMAIL })}</li>`;
}

/** "j…@example.com", for visitors who know the address: enough to recognize it, and nothing to read over a shoulder. */
function maskEmail(email: string): string {
  return `${email.slice(0, 1)}…${email.slice(email.lastIndexOf('@'))}`;
}
