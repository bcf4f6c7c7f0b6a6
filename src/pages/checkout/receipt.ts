import type { Account } from '../../accounts/account.ts';
import { itemLabel, type Payment } from '../../payment/payment.ts';
import { receiptNumberOf } from '../../payment/payment-id.ts';
import type { ProviderId } from '../../payment/provider-catalog.ts';
import {
  fillIn,
  formatList,
  formatMoney,
  formatUsdc,
  formatWithin,
  type Language,
} from '../../web/checkout-layout/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { fact } from '../../web/signed-in/payment-words.ts';
import type { CheckoutView } from './checkout-view.ts';
import { nameOf, takesCards } from './choose-words.ts';
import { networkIn } from './direct-payment.ts';
import { type ExplorerTransactionUrl, timeElement, transactionRows } from './facts-and-transactions.ts';
import type { Checkout } from './read-checkout.ts';
import { shopLinks } from './return-to-shop.ts';

type Paid = Extract<CheckoutView, { kind: 'paid' }>;

export function paidPanel(view: Paid, account: Account, language: Language, amount: Html): Html {
  return html`<header class="summary paid">
<svg class="seal" viewBox="0 0 34 34" fill="currentColor" aria-hidden="true">
<path fill-rule="evenodd" d="M17 0a17 17 0 1 0 0 34a17 17 0 1 0 0-34zM11.7 16.1l3.3 3.3 7.3-8.1 1.5 1.4-8.7 9.6-4.8-4.8z"/></svg>
${amount}
<p class="to">${fillIn(language.words.receipt.paidTo, { shop: account.name })}<br>${timeElement(view.paidAtMs, language, 'day')}</p>
</header>`;
}

/** Renders return link, facts and proof of a paid checkout. The print button stays hidden until the script shows it. */
export function receipt(
  view: Paid,
  checkout: Checkout,
  language: Language,
  explorerTransactionUrl: ExplorerTransactionUrl,
): Html {
  const { receipt: words, facts: names, actions, assurances } = language.words;
  const transactions = transactionRows(checkout, language, explorerTransactionUrl);
  const proven = proof(checkout, language);
  const rows = [...receiptRows(checkout.payment, view.providers, language)];
  const reference = fact(names.reference, html`<code>${checkout.payment.id}</code>`);
  return html`${shopLinks(checkout, language)}
<dl class="facts receipt figures">${rows.map(([name, value]) => fact(html`<bdi>${name}</bdi>`, html`<bdi>${value}</bdi>`))}</dl>
<div class="proof">${proven === null ? nothing : html`<p>${proven}</p>`}
<details${view.surplus === null ? nothing : html` open`}><summary>${proven === null || transactions.length !== 2 ? names.details : words.transactions}</summary>
<dl class="facts">${transactions}${reference}</dl>
${proven === null ? nothing : html`<p><a href="/docs/api#check-where-the-money-can-go">${assurances.check}</a></p>`}</details></div>
<button class="button wide" type="button" id="print" hidden>${actions.print}</button>`;
}

/** Lists what was bought and, once paid, its price, who charged it and the receipt number. */
export function* receiptRows(
  payment: Payment,
  providers: readonly ProviderId[],
  language: Language,
): Generator<readonly [name: string, value: string]> {
  const { orderLine, orderDetails, originalAmountCents, customerFeeCents, currency } = payment;
  const { receipt: names } = language.words;
  const money = (cents: number) => formatMoney(language, cents, currency);
  if (orderLine !== null) yield [names.for, orderLine];
  for (const item of orderDetails?.items ?? []) yield [itemLabel(item), money(item.amountCents)];
  if (payment.status !== 'paid') return;
  if (originalAmountCents !== null && customerFeeCents !== null)
    yield [names.price, `${money(originalAmountCents)} + ${money(customerFeeCents)}`];
  if (providers.length > 0) yield [names.statement, formatList(language, providers.map(nameOf))];
  yield [names.number, receiptNumberOf(payment.id)];
}

/** Renders the transactions that prove the release. Returns null until the release is final. */
function proof({ payment, account, times }: Checkout, language: Language): Html | null {
  const { forwardStatus, forwardedUnits, txidIn, txidOut, paidAtMs, chainId } = payment;
  if (forwardStatus !== 'completed' || forwardedUnits === 0n || txidIn === null || txidOut === null)
    return null;
  const { receipt: words } = language.words;
  const usdc = formatUsdc(language, forwardedUnits, 'down');
  const { approval } = times;
  const isOfCard = approval?.isExact === true && takesCards(approval.provider);
  const afterMs = isOfCard && paidAtMs !== null ? paidAtMs - approval.atMs : 0;
  const values = { usdc, shop: account.name, time: formatWithin(language, afterMs) };
  const sent = fillIn(afterMs > 0 ? words.sentWithin : words.sent, values);
  return html`<strong>${fillIn(words.proven, { network: networkIn(language.words, chainId) })}</strong>${language.gap}${sent}`;
}
