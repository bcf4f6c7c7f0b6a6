import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'ghtml';
import { formatCents, formatUnits } from '../src/payment/money.ts';
import { type ProviderId, providerCatalog } from '../src/payment/provider-catalog.ts';
import type { Order, OrderState } from './order-store.ts';
import {
  type AcceptOrderContext,
  acceptOrder,
  findTestCard,
  type TestCard,
  testCards,
  type WantedDelivery,
} from './pay-order.ts';

/**
 * Composes a page of the simulated on-ramps from templates that escape every inserted value. Markup is concatenated and
 * never inserted, so that no marker for raw markup is needed.
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
    order.email === null ? '' : html`<dt>Email</dt><dd>${order.email}</dd>`,
    html`<dt>Reference</dt><dd><code>${order.id}</code></dd>
</dl>`,
  ].join('\n');
}

function backLink(order: Order): string {
  if (order.returnUrl === '')
    return '<p>Go back to the checkout when you are done: this on-ramp does not redirect.</p>';
  return html`<p><a id="back" href="${order.returnUrl}" rel="noreferrer">Back to the shop's checkout</a></p>`;
}

function nameOf(order: Order): string {
  return providerCatalog[order.provider].name;
}

/** Renders links to this page that fill in a test card without a script. */
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

/** Renders the card form with `cardNumber` filled in. `problem` is the error of the last attempt. */
function renderPaymentPage(order: Order, cardNumber: string, problem: string | null): string {
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
  sent: 'Your payment was approved. The test USDC was sent and is being confirmed.',
  delivered: 'Your payment was approved and the test USDC was delivered.',
  failed: 'The delivery has failed.',
};

/** Renders the state of a paid order. The page reloads itself until the state is final. */
function renderResultPage(order: Order & { readonly state: Exclude<OrderState, 'open'> }): string {
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

function renderExpiredPage(order: Order): string {
  return layout('Session expired', [
    html`<h1>This session at &ldquo;${nameOf(order)}&rdquo; (simulated) has expired</h1>
<p>Nothing was charged. Go back and start again.</p>`,
    backLink(order),
  ]);
}

/** Style that differs from the checkout page on purpose, so that visitors do not confuse the two. */
const onrampStyle = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #fdf3d8; color: #2b1a00; font: 1.05rem/1.5 Georgia, 'Times New Roman', serif; }
.banner { margin: 0; padding: .9rem 1rem; text-align: center; font: bold 1rem/1.4 'Courier New', monospace;
  color: #000; background: repeating-linear-gradient(135deg, #ffcf33 0 22px, #ffe07a 22px 44px);
  border-bottom: 4px solid #000; }
main { max-width: 34rem; margin: 1.5rem auto; padding: 0 1rem 3rem; }
h1 { font-size: 1.6rem; margin: 0 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0 0 1.25rem; }
dt { font-weight: bold; } dd { margin: 0; overflow-wrap: anywhere; }
form, .box { background: #fff; border: 3px solid #2b1a00; padding: 1rem; margin: 0 0 1.25rem; }
label { display: block; font-weight: bold; margin: .6rem 0 .2rem; }
input { width: 100%; font: 1.1rem 'Courier New', monospace; padding: .5rem; border: 2px solid #2b1a00; }
.row { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
button { margin-top: 1rem; width: 100%; padding: .8rem; font: bold 1.1rem Georgia, serif; color: #fff;
  background: #7a2e00; border: 0; cursor: pointer; }
button:focus-visible, a:focus-visible, input:focus-visible { outline: 3px solid #0047ff; outline-offset: 2px; }
a { color: #7a2e00; }
.alert { border: 3px solid #a30000; background: #ffe9e6; padding: .75rem 1rem; margin: 0 0 1.25rem; }
code { font-family: 'Courier New', monospace; overflow-wrap: anywhere; }
#back { display: block; padding: .8rem; border: 3px solid #7a2e00; text-align: center; font-weight: bold; }
`;

/** Policy that allows only this style, no script, and nothing from other origins. */
const onrampContentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(onrampStyle).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface PageRouteDependencies extends AcceptOrderContext {
  readonly provider: ProviderId;
  /** Called when an order is paid and its delivery may be due. */
  readonly orderAccepted: (order: Order) => void;
  /** Called when a card is declined. The order stays open. */
  readonly orderDeclined: (order: Order) => void;
}

function sendPage(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', onrampContentSecurityPolicy)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store')
    .send(page);
}

export function sendMessagePage(
  reply: FastifyReply,
  status: number,
  title: string,
  text: string,
): FastifyReply {
  return sendPage(reply, status, layout(title, [html`<h1>${title}</h1><p>${text}</p>`]));
}

/** Returns the value of a parameter that is given exactly once, otherwise ''. */
function singleText(fields: unknown, name: string): string {
  const value = (fields as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' ? value : '';
}

/** Returns the late or half delivery that a test card causes. For other cards, the provider's fault decides. */
function deliveryOf(order: Order, card: TestCard): WantedDelivery {
  return {
    isLate: card.outcome === 'slow',
    ...(card.outcome === 'short' ? { units: order.quotedUnits / 2n } : {}),
  };
}

/** Registers the pages of one simulated on-ramp: the card form and the order's state. */
export function registerPageRoutes(server: FastifyInstance, dependencies: PageRouteDependencies): void {
  const { provider, store, nowMs } = dependencies;
  const path = `/${provider}/pay/:orderId`;

  const findOrder = (request: FastifyRequest): Order | null => {
    const order = store.findOrder(singleText(request.params, 'orderId'));
    return order?.provider === provider ? order : null;
  };
  const sendUnknown = (reply: FastifyReply) =>
    sendMessagePage(reply, 404, 'Unknown order', 'This on-ramp knows no such order.');
  const sendResult = (order: Order, reply: FastifyReply) =>
    reply.redirect(`/${provider}/pay/${order.id}/result`, 303);
  const hasExpired = (order: Order) => order.state === 'open' && nowMs() >= order.expiresAtMs;

  server.get(path, (request, reply) => {
    const order = findOrder(request);
    if (order === null) return sendUnknown(reply);
    if (hasExpired(order)) return sendPage(reply, 410, renderExpiredPage(order));
    if (order.state !== 'open') return sendResult(order, reply);
    // Fills in only test cards, because a real number in a link must not appear on the page.
    const card = findTestCard(singleText(request.query, 'card'));
    return sendPage(reply, 200, renderPaymentPage(order, card?.number ?? '', null));
  });

  server.post(path, (request, reply) => {
    const order = findOrder(request);
    if (order === null) return sendUnknown(reply);
    if (hasExpired(order)) return sendPage(reply, 410, renderExpiredPage(order));
    if (order.state !== 'open') return sendResult(order, reply);
    const card = findTestCard(singleText(request.body, 'card_number'));
    if (card === null) {
      const problem = 'This simulated on-ramp knows only the test cards below. Nothing was charged.';
      return sendPage(reply, 422, renderPaymentPage(order, '', problem));
    }
    if (card.outcome === 'declined' || dependencies.faultOf(provider) === 'refuse') {
      dependencies.orderDeclined(order);
      const problem = 'The card was declined. Nothing was charged; try another one.';
      return sendPage(reply, 402, renderPaymentPage(order, '', problem));
    }
    // Of two concurrent clicks, only one is accepted, but both see the result.
    if (acceptOrder(dependencies, order, deliveryOf(order, card))) dependencies.orderAccepted(order);
    return sendResult(order, reply);
  });

  server.get(`${path}/result`, (request, reply) => {
    const order = findOrder(request);
    if (order === null) return sendUnknown(reply);
    const { state } = order;
    if (state === 'open') return reply.redirect(`/${provider}/pay/${order.id}`, 303);
    return sendPage(reply, 200, renderResultPage({ ...order, state }));
  });
}
