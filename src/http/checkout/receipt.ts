import type { Account } from '../../domain/account.ts';
import type { Payment } from '../../domain/payment.ts';
import { type Html, html, nothing } from '../design/html.ts';
import type { CheckoutView } from './checkout-view.ts';
import { formatAlternatives, formatMoney, formatTime } from './format-money.ts';
import { nameOf } from './words.ts';

/** A transaction's page in an explorer of the chain, or null where there is none. */
export type ExplorerTransactionUrl = (transactionHash: string) => string | null;

/** What the customer may want to keep or to quote, for each view; nothing where there is nothing yet. */
export function facts(
  view: CheckoutView,
  payment: Payment,
  account: Account,
  explorerTransactionUrl: ExplorerTransactionUrl,
): Html {
  const rows = [...rowsOf(view, payment, account, explorerTransactionUrl)];
  if (rows.length === 0) return nothing;
  return html`<dl class="facts${view.kind === 'paid' ? ' receipt' : ''}">${rows}</dl>`;
}

function* rowsOf(
  view: CheckoutView,
  payment: Payment,
  account: Account,
  explorerTransactionUrl: ExplorerTransactionUrl,
): Generator<Html> {
  if (view.kind === 'choose') return;
  if (view.kind === 'at_provider') {
    yield row(`Reference at ${nameOf(view.provider)}`, html`<code>${view.providerReference}</code>`);
    return;
  }
  if (view.kind === 'paid') yield* receiptRows(view, payment, account);
  if ('depositHash' in view && view.depositHash !== null) {
    yield row('Arrived with transaction', transaction(view.depositHash, explorerTransactionUrl));
  }
  if ('releaseHash' in view && view.releaseHash !== null) {
    yield row('Sent to the shop with transaction', transaction(view.releaseHash, explorerTransactionUrl));
  }
  yield row('Reference', html`<code>${payment.id}</code>`);
}

function* receiptRows(
  view: Extract<CheckoutView, { kind: 'paid' }>,
  payment: Payment,
  account: Account,
): Generator<Html> {
  const { amountCents, originalAmountCents, customerFeeCents, currency } = payment;
  yield row('Paid to', html`<bdi>${account.name}</bdi>`);
  yield row('Amount', html`${formatMoney(amountCents, currency)} ${currency}`);
  if (originalAmountCents !== null && customerFeeCents !== null) {
    const parts = `${formatMoney(originalAmountCents, currency)} + ${formatMoney(customerFeeCents, currency)}`;
    yield row('Made up of', html`${parts} fee`);
  }
  if (view.providers.length > 0) {
    yield row('Card charged by', html`${formatAlternatives(view.providers.map(nameOf))}`);
  }
  const iso = new Date(view.paidAtMs).toISOString();
  yield row('Time', html`<time datetime="${iso}">${formatTime(view.paidAtMs)}</time>`);
}

function row(term: string, description: Html): Html {
  return html`<div><dt>${term}</dt><dd>${description}</dd></div>`;
}

function transaction(hash: string, explorerTransactionUrl: ExplorerTransactionUrl): Html {
  const url = explorerTransactionUrl(hash);
  if (url === null) return html`<code>${hash}</code>`;
  return html`<a href="${url}" rel="noopener noreferrer" target="_blank"><code>${hash}</code><span class="quiet"> (opens a new tab)</span></a>`;
}
