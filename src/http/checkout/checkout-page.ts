import { crc32 } from 'node:zlib';
import { MULTI_PROVIDER, type ProviderId } from '../../domain/provider-catalogue.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { type CheckoutView, isTakenByProvider, refreshSecondsOf, takesPayment } from './checkout-view.ts';
import { formatMoney } from './format-money.ts';
import { layout, type Page } from './layout.ts';
import { progress } from './progress.ts';
import type { Checkout } from './read-checkout.ts';
import { type ExplorerTransactionUrl, facts } from './receipt.ts';
import { selector, visitButton } from './selector.ts';
import { summary } from './summary.ts';
import { nameOf, wordsOf } from './words.ts';

/** The parts of the page that change with the payment, as page and poll share them. */
export interface CheckoutContent {
  readonly title: string;
  /** The live region: what the state is called and means. */
  readonly status: Html;
  /** What can be done, and what to keep. */
  readonly detail: Html;
  /** Names this content; the same content has the same name. */
  readonly revision: string;
}

/** The changing parts of a checkout's page. */
export function checkoutContent(
  checkout: Checkout,
  explorerTransactionUrl: ExplorerTransactionUrl,
): CheckoutContent {
  const { payment, account, view } = checkout;
  const { heading, sentence } = wordsOf(view, {
    shop: account.name,
    single: singleProviderOf(checkout),
    canBePaid: checkout.offers.some(({ refusal }) => refusal === null),
  });
  const title = `${heading} – ${formatMoney(payment.amountCents, payment.currency)} to ${account.name}`;
  const status = html`<h1 tabindex="-1" class="${toneOf(view)}">${heading}</h1>
<p>${sentence}</p>`;
  const detail = html`${progress(view)}
${actions(checkout)}
${facts(view, payment, account, explorerTransactionUrl)}`;
  const revision = revisionOf(html`${title}\n${status}\n${detail}`.toString());
  return { title, status, detail, revision };
}

/** Only tells one state of a page from the next, for which SHA-256 is too good: it takes 45 µs for 4 kB, this takes 2. */
function revisionOf(content: string): string {
  return `${crc32(content).toString(36)}-${content.length}`;
}

/** The whole page; `problem` says what went wrong with the last click. */
export function checkoutPage(
  checkout: Checkout,
  options: {
    readonly isSandbox: boolean;
    readonly explorerTransactionUrl: ExplorerTransactionUrl;
    readonly problem: string | null;
  },
): Page {
  const { payment, account, view } = checkout;
  const content = checkoutContent(checkout, options.explorerTransactionUrl);
  const path = `/pay/${payment.id}`;
  const refreshSeconds = refreshSecondsOf(view);
  return layout({
    title: content.title,
    isSandbox: options.isSandbox,
    // Without script, waiting pages load themselves again; where there is something to choose they do not.
    head:
      refreshSeconds === null || view.kind === 'choose'
        ? nothing
        : html`<noscript><meta http-equiv="refresh" content="${Math.max(refreshSeconds, 10)}; url=${path}"></noscript>`,
    summary: summary(payment, account),
    main: html`<main class="card" id="checkout" data-path="${path}" data-revision="${content.revision}" data-refresh-seconds="${refreshSeconds}">
<div id="problem" role="alert">${options.problem === null ? nothing : html`<p class="notice">${options.problem}</p>`}</div>
<div id="status" role="status">${content.status}</div>
<p id="connection" role="status"></p>
<div id="detail">${content.detail}</div>
</main>
${takesPayment(view) ? assurances(checkout) : nothing}`,
  });
}

function singleProviderOf({ payment }: Checkout): ProviderId | null {
  return payment.provider === MULTI_PROVIDER ? null : payment.provider;
}

/** The one thing to do in this state. */
function actions(checkout: Checkout): Html {
  const { payment, view, offers } = checkout;
  if (view.kind === 'choose') return choices(checkout);
  if (view.kind !== 'at_provider' || isTakenByProvider(view)) return nothing;
  const label = view.isOpen
    ? `Continue at ${nameOf(view.provider)}`
    : `Start again at ${nameOf(view.provider)}`;
  const canGoOn = offers.some(({ provider, refusal }) => provider === view.provider && refusal === null);
  const others = offers.filter(({ provider }) => provider !== view.provider);
  return html`${canGoOn ? visitButton(payment, view.provider, label) : nothing}
${others.length === 0 ? nothing : html`<details><summary>Choose another provider</summary>${selector(payment, others)}</details>`}`;
}

function choices(checkout: Checkout): Html {
  const { payment, offers } = checkout;
  const single = singleProviderOf(checkout);
  const canServe = offers.some(({ provider, refusal }) => provider === single && refusal === null);
  if (single === null || !canServe) return selector(payment, offers);
  return visitButton(payment, single, `Continue to ${nameOf(single)}`);
}

/** What a careful customer wants to know before going on. */
function assurances({ payment, account }: Checkout): Html {
  return html`<footer id="assurances"><ul>
<li>You enter your card at the provider, never on this page. Its name, not the shop's, is likely to be on your statement.</li>
<li>The provider shows what it charges, its own fee included, before you confirm. It may ask who you are.</li>
<li>It delivers the payment to <bdi>${account.name}</bdi> as USDC (digital dollars).</li>
${payment.email === null ? nothing : html`<li>It is given your e-mail address, <bdi>${maskEmail(payment.email)}</bdi>.</li>`}
</ul></footer>`;
}

/** "j…@example.com": its owner knows it, others to whom the link was passed on do not learn it. */
function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, 1)}…${email.slice(at)}`;
}

function toneOf(view: CheckoutView): string {
  switch (view.kind) {
    case 'paid':
      return 'good';
    case 'underpaid':
    case 'held':
    case 'closed_with_money':
    case 'closed_and_released':
      return 'warn';
    case 'at_provider':
      return view.isOpen || isTakenByProvider(view) ? 'busy' : 'plain';
    case 'seen':
    case 'sending':
      return 'busy';
    case 'choose':
    case 'canceled':
    case 'expired':
      return 'plain';
  }
}
