import { type Html, html, nothing } from '../design/html.ts';
import type { CheckoutView } from './checkout-view.ts';
import { fillIn } from './fill-in.ts';
import { formatList, formatMoney, formatMoneyAndCode, formatTime } from './format-money.ts';
import type { Language } from './languages.ts';
import type { Checkout } from './read-checkout.ts';
import { nameOf } from './state-words.ts';

/** A transaction's page in an explorer of the chain, or null where there is none. */
export type ExplorerTransactionUrl = (transactionHash: string) => string | null;

/** What the customer may want to keep or to quote, for each view; nothing where there is nothing yet. */
export function facts(
  checkout: Checkout,
  language: Language,
  explorerTransactionUrl: ExplorerTransactionUrl,
): Html {
  const rows = [...rowsOf(checkout, language, explorerTransactionUrl)];
  if (rows.length === 0) return nothing;
  return html`<dl class="facts${checkout.view.kind === 'paid' ? ' receipt' : ''}">${rows}</dl>`;
}

function* rowsOf(
  checkout: Checkout,
  language: Language,
  explorerTransactionUrl: ExplorerTransactionUrl,
): Generator<Html> {
  const { payment, view } = checkout;
  const { facts: names } = language.words;
  if (view.kind === 'choose') return;
  if (view.kind === 'at_provider') {
    const name = fillIn(names.referenceAt, { provider: nameOf(view.provider) });
    yield row(name, html`<code>${view.providerReference}</code>`);
    return;
  }
  if (view.kind === 'paid') yield* receiptRows(view, checkout, language);
  const transaction = (hash: string) => transactionLink(hash, explorerTransactionUrl, language);
  if ('depositHash' in view && view.depositHash !== null) {
    yield row(html`${names.arrivedWith}`, transaction(view.depositHash));
  }
  if ('releaseHash' in view && view.releaseHash !== null) {
    yield row(html`${names.sentWith}`, transaction(view.releaseHash));
  }
  yield row(html`${names.reference}`, html`<code>${payment.id}</code>`);
}

function* receiptRows(
  view: Extract<CheckoutView, { kind: 'paid' }>,
  { payment, account }: Checkout,
  language: Language,
): Generator<Html> {
  const { amountCents, originalAmountCents, customerFeeCents, currency } = payment;
  const { facts: names, summary } = language.words;
  yield row(html`${names.paidTo}`, html`<bdi>${account.name}</bdi>`);
  yield row(html`${names.amount}`, html`<bdi>${formatMoneyAndCode(language, amountCents, currency)}</bdi>`);
  if (originalAmountCents !== null && customerFeeCents !== null) {
    const net = formatMoney(language, originalAmountCents, currency);
    const fee = formatMoney(language, customerFeeCents, currency);
    yield row(html`${names.madeUpOf}`, fillIn(summary.parts, { net, fee }));
  }
  if (view.providers.length > 0) {
    const providers = formatList(language, view.providers.map(nameOf));
    yield row(html`${names.chargedBy}`, html`<bdi>${providers}</bdi>`);
  }
  const iso = new Date(view.paidAtMs).toISOString();
  yield row(html`${names.time}`, html`<time datetime="${iso}">${formatTime(language, view.paidAtMs)}</time>`);
}

function row(term: Html, description: Html): Html {
  return html`<div><dt>${term}</dt><dd>${description}</dd></div>`;
}

function transactionLink(
  hash: string,
  explorerTransactionUrl: ExplorerTransactionUrl,
  { words }: Language,
): Html {
  const url = explorerTransactionUrl(hash);
  if (url === null) return html`<code>${hash}</code>`;
  return html`<a href="${url}" rel="noopener noreferrer" target="_blank"><code>${hash}</code><span class="quiet"> ${words.facts.newTab}</span></a>`;
}
