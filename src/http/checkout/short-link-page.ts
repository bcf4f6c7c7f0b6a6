import { MULTI_PROVIDER } from '../../domain/provider-catalogue.ts';
import { shortCodeOf } from '../../domain/short-code.ts';
import { html, nothing } from '../design/html.ts';
import { formatMoney } from './format-money.ts';
import { layout, type Page } from './layout.ts';
import type { Checkout } from './read-checkout.ts';
import { summary } from './summary.ts';
import { wordsOf } from './words.ts';

/**
 * The page behind a short link: what link previews show, and the way on to the checkout. The only page with the
 * merchant's note. Those who look at it for a preview are not sent on.
 */
export function shortLinkPage(
  { payment, account, view }: Checkout,
  options: {
    readonly isSandbox: boolean;
    readonly baseUrl: string;
    readonly isPreview: boolean;
  },
): Page {
  const amount = `${formatMoney(payment.amountCents, payment.currency)} ${payment.currency}`;
  const isOpen = payment.status === 'unpaid';
  const { heading, sentence } = wordsOf(view, { shop: account.name, single: null, canBePaid: true });
  const title = isOpen ? `Pay ${amount} to ${account.name}` : `${heading} – ${amount} to ${account.name}`;
  const description = payment.note ?? (isOpen ? `Pay ${account.name} by card.` : sentence);
  // As in the checkout_url, save for the e-mail address, which the payment knows.
  const next = `/pay/${payment.id}${payment.provider === MULTI_PROVIDER ? '' : '?auto=1'}`;
  return layout({
    title,
    isSandbox: options.isSandbox,
    head: html`<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${account.name}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${options.baseUrl}/s/${shortCodeOf(payment.id)}">
<meta name="twitter:card" content="summary">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
${options.isPreview ? nothing : html`<noscript><meta http-equiv="refresh" content="1; url=${next}"></noscript>`}`,
    summary: summary(payment, account),
    main: html`<main class="card alone">
<h1>${isOpen ? 'Continue to the checkout' : heading}</h1>
${payment.note === null ? nothing : html`<p class="note">${payment.note}</p>`}
<p><a class="button primary wide" id="continue" href="${next}">${isOpen ? 'Continue to the checkout' : 'See the payment'}</a></p>
</main>`,
    script: options.isPreview ? 'none' : 'continue',
  });
}
