import { type Html, html, nothing } from '../design/html.ts';
import { fillIn } from './fill-in.ts';
import type { Language } from './languages.ts';
import { playPanel } from './play-panel.ts';
import type { Checkout } from './read-checkout.ts';
import type { Words } from './words/words.ts';

/** What a careful customer wants to know before going on; in the sandbox, what a developer wants to try. */
export function assurances(
  { payment, account }: Checkout,
  { words }: Language,
  { path, isPlayable }: { readonly path: string; readonly isPlayable: boolean },
): Html {
  const { card, price, delivery, email } = words.assurances;
  return html`<footer id="assurances"><ul>
<li>${card}</li>
<li>${price}</li>
<li>${fillIn(delivery, { shop: account.name })}</li>
${payment.email === null ? nothing : html`<li>${fillIn(email, { email: maskEmail(payment.email) })}</li>`}
</ul>${phoneCode(path, words)}${isPlayable ? playPanel(payment) : nothing}</footer>`;
}

/** Only shown where there is room and a mouse: whoever is on a phone is there already. Loaded once it is opened. */
function phoneCode(path: string, { phone }: Words): Html {
  return html`<details class="phone"><summary>${phone.heading}</summary>
<p>${phone.hint}</p><img src="${path}/qr.svg" alt="${phone.code}" width="180" height="180" loading="lazy"></details>`;
}

/** "j…@example.com": its owner knows it, others to whom the link was passed on do not learn it. */
function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, 1)}…${email.slice(at)}`;
}
