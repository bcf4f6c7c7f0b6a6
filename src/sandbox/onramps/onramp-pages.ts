import { html } from 'ghtml';
import { formatCents, formatUnits } from '../../domain/money.ts';
import { providerCatalogue } from '../../domain/provider-catalogue.ts';
import { onrampStyle } from './onramp-style.ts';
import type { Order, OrderState } from './order.ts';
import { testCards } from './test-cards.ts';

/**
 * The pages of the simulated on-ramps, put together from templates that escape everything inserted into them. What is
 * markup already is never inserted, only joined, so that no raw marker is needed.
 */
function layout(title: string, parts: readonly string[], refreshSeconds: number | null = null): string {
  return [
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>`,
    refreshSeconds === null ? '' : html`<meta http-equiv="refresh" content="${String(refreshSeconds)}">`,
    `<style>${onrampStyle}</style>`,
    `</head>
<body>
<p class="banner" role="note">SIMULATED ON-RAMP &middot; no real money &middot; never type a real card number</p>
<main>`,
    ...parts,
    `</main>
</body>
</html>
`,
  ].join('\n');
}

function summary(order: Order): string {
  return [
    html`<dl>
<dt>You pay</dt><dd>${formatCents(order.amountCents)} ${order.currency}</dd>
<dt>Delivered</dt><dd>${formatUnits(order.deliveryUnits ?? order.quotedUnits)} test USDC</dd>
<dt>To</dt><dd><code>${order.walletAddress}</code></dd>`,
    order.email === null ? '' : html`<dt>E-mail</dt><dd>${order.email}</dd>`,
    html`<dt>Reference</dt><dd><code>${order.id}</code></dd>
</dl>`,
  ].join('\n');
}

function backLink(order: Order): string {
  if (order.returnUrl === '')
    return '<p>Go back to the checkout when you are done: this on-ramp leads nobody back.</p>';
  return html`<p><a id="back" href="${order.returnUrl}" rel="noreferrer">Back to the shop's checkout</a></p>`;
}

function nameOf(order: Order): string {
  return providerCatalogue[order.provider].name;
}

/** Filling in a card is a link back to this page, so that it needs no script. */
function cardChoices(): string {
  const choices = testCards.map(
    ({ number, explanation }) =>
      html`<li><a href="?card=${encodeURIComponent(number)}"><code>${number}</code></a> ${explanation}</li>`,
  );
  return [
    '<div class="box">',
    '<p>Click a test card to fill it in:</p>',
    '<ul>',
    ...choices,
    '</ul>',
    '</div>',
  ].join('\n');
}

function cardForm(order: Order, cardNumber: string): string {
  const isFilled = cardNumber !== '';
  return html`<form method="post" autocomplete="off">
<label for="card_number">Card number</label>
<input id="card_number" name="card_number" inputmode="numeric" autocomplete="off" required maxlength="23" value="${cardNumber}">
<div class="row">
<div><label for="expiry">Expiry</label>
<input id="expiry" name="expiry" autocomplete="off" maxlength="7" placeholder="MM / YY" value="${isFilled ? '12 / 34' : ''}"></div>
<div><label for="security_code">CVC</label>
<input id="security_code" name="security_code" autocomplete="off" maxlength="4" placeholder="123" value="${isFilled ? '123' : ''}"></div>
</div>
<button type="submit">Pay ${formatCents(order.amountCents)} ${order.currency}</button>
</form>`;
}

/** The card form. `cardNumber` is filled in; `problem` says what was wrong with the last try. */
export function renderPaymentPage(order: Order, cardNumber: string, problem: string | null): string {
  const name = nameOf(order);
  return layout(`${name} (simulated)`, [
    html`<h1>Buy USDC at &ldquo;${name}&rdquo; (simulated)</h1>`,
    problem === null ? '' : html`<p class="alert" role="alert">${problem}</p>`,
    summary(order),
    cardForm(order, cardNumber),
    cardChoices(),
    backLink(order),
  ]);
}

const resultTexts: Readonly<Record<Exclude<OrderState, 'open'>, string>> = {
  accepted: 'Your payment was approved. The delivery takes a while; you need not wait here.',
  signed: 'Your payment was approved. The test USDC is being sent.',
  sent: 'Your payment was approved. The test USDC was sent and is being confirmed.',
  delivered: 'Your payment was approved and the test USDC was delivered.',
  failed: 'The delivery was refused by the token again and again, and has been given up.',
};

/** What became of a paid order; asks again by itself until nothing changes any more. */
export function renderResultPage(order: Order & { readonly state: Exclude<OrderState, 'open'> }): string {
  const name = nameOf(order);
  const isOver = order.state === 'delivered' || order.state === 'failed';
  const hash = order.transactionHash;
  const parts = [
    html`<h1>Thank you for paying at &ldquo;${name}&rdquo; (simulated)</h1>
<div class="box" role="status" id="result" data-state="${order.state}"><p>${resultTexts[order.state]}</p>`,
    hash === null ? '' : html`<p>Transaction <code id="transaction">${hash}</code></p>`,
    '</div>',
    backLink(order),
    summary(order),
  ];
  return layout(`${name} (simulated)`, parts, isOver ? null : 2);
}

/** The session is over and was not paid. */
export function renderExpiredPage(order: Order): string {
  return layout('Session expired', [
    html`<h1>This session at &ldquo;${nameOf(order)}&rdquo; (simulated) has expired</h1>
<p>Nothing was charged. Go back and start again.</p>`,
    backLink(order),
  ]);
}

/** A page that says one thing. */
export function renderNoticePage(title: string, text: string): string {
  return layout(title, [html`<h1>${title}</h1><p>${text}</p>`]);
}
