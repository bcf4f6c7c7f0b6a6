import {
  fillIn,
  formatList,
  formatMoney,
  formatMoneyAndCode,
  formatTime,
  type Language,
} from '../../web/checkout-frame/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { fact, transactionLink } from '../../web/signed-in/payment-words.ts';
import type { CheckoutView } from './checkout-view.ts';
import type { Checkout } from './read-checkout.ts';
import { nameOf } from './state-words.ts';

/** URL of a transaction in a block explorer; null if there is no explorer. */
export type ExplorerTransactionUrl = (transactionHash: string) => string | null;

/** Facts that the customer may want to keep or quote, for each view; empty if there are none. */
export function facts(
  checkout: Checkout,
  language: Language,
  explorerTransactionUrl: ExplorerTransactionUrl,
): Html {
  const rows = [...rowsOf(checkout, language)];
  const transactions = [...transactionRows(checkout, language, explorerTransactionUrl)];
  // A receipt folds the hashes away; elsewhere they come first, because they prove that something has arrived.
  if (checkout.view.kind === 'paid' && transactions.length > 0) {
    return html`<dl class="facts receipt">${rows}</dl>
<details><summary>${language.words.facts.details}</summary><dl class="facts">${transactions}</dl></details>`;
  }
  if (rows.length + transactions.length === 0) return nothing;
  return html`<dl class="facts">${transactions}${rows}</dl>`;
}

function* rowsOf(checkout: Checkout, language: Language): Generator<Html> {
  const { payment, view } = checkout;
  const { facts: names } = language.words;
  if (view.kind === 'choose') return;
  if (view.kind === 'at_provider') {
    const name = fillIn(names.referenceAt, { provider: nameOf(view.provider) });
    yield fact(name, html`<code>${view.providerReference}</code>`);
    return;
  }
  if (view.kind === 'paid') yield* receiptRows(view, checkout, language);
  yield fact(names.reference, html`<code>${payment.id}</code>`);
}

function* transactionRows(
  { view }: Checkout,
  language: Language,
  explorerTransactionUrl: ExplorerTransactionUrl,
): Generator<Html> {
  const { facts: names } = language.words;
  const transaction = (hash: string) => transactionLink({ explorerTransactionUrl }, hash, names.newTab);
  if ('depositHash' in view && view.depositHash !== null) {
    yield fact(names.arrivedWith, transaction(view.depositHash));
  }
  if ('releaseHash' in view && view.releaseHash !== null) {
    yield fact(names.sentWith, transaction(view.releaseHash));
  }
}

function* receiptRows(
  view: Extract<CheckoutView, { kind: 'paid' }>,
  { payment, account }: Checkout,
  language: Language,
): Generator<Html> {
  const { amountCents, originalAmountCents, customerFeeCents, currency } = payment;
  const { facts: names, summary } = language.words;
  yield fact(names.paidTo, html`<bdi>${account.name}</bdi>`);
  yield fact(names.amount, html`<bdi>${formatMoneyAndCode(language, amountCents, currency)}</bdi>`);
  if (originalAmountCents !== null && customerFeeCents !== null) {
    const net = formatMoney(language, originalAmountCents, currency);
    const fee = formatMoney(language, customerFeeCents, currency);
    yield fact(names.madeUpOf, fillIn(summary.parts, { net, fee }));
  }
  if (view.providers.length > 0) {
    const providers = formatList(language, view.providers.map(nameOf));
    yield fact(names.chargedBy, html`<bdi>${providers}</bdi>`);
  }
  yield fact(names.time, timeElement(view.paidAtMs, language));
}

/** A time in UTC, which the page's script converts to the customer's time zone. */
export function timeElement(atMs: number, language: Language): Html {
  return html`<time datetime="${new Date(atMs).toISOString()}">${formatTime(language, atMs)}</time>`;
}
