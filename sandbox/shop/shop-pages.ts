import { readFileSync } from 'node:fs';
import { type Html, html, nothing } from '../../src/web/design/html.ts';
import { pageStyleOf } from '../../src/web/design/page-style.ts';
import { type ShopOrder, type ShopStep, shopProducts } from './shop-order.ts';
import type { InboxWebhook } from './webhook-inbox.ts';

export const shopStyle = pageStyleOf(
  ['button', 'card', 'badge', 'sandbox', 'tones'],
  asset('./shop.css'),
).toString();
export const shopScript = readFileSync(asset('./client/follow-order.js'), 'utf8');

/** Returns a policy for the shop's own style and script and, for a checkout dialog, the origin of its URL. */
export function shopContentSecurityPolicy(checkoutUrl = ''): string {
  const service = URL.parse(checkoutUrl)?.origin;
  const dialog = service === undefined ? '' : ` ${service}; frame-src ${service}`;
  return (
    `default-src 'none'; style-src 'self'; script-src 'self'${dialog}; connect-src 'self'; ` +
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
  );
}

function asset(path: string): URL {
  return new URL(path, import.meta.url);
}

function layout(title: string, main: Html, isFollowed: boolean): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="stylesheet" href="/shop.css">
<link rel="icon" href="data:,">
${isFollowed ? html`<script src="/follow-order.js" type="module"></script><noscript><meta http-equiv="refresh" content="3"></noscript>` : nothing}
</head>
<body>
<aside class="sandbox" aria-label="Sandbox"><strong>Sandbox.</strong> A shop to look into: no card is charged, nothing is shipped.</aside>
<header><a href="/">Tea &amp; Oak</a><nav aria-label="Shop"><a href="/">Everything</a> <a href="/webhooks">Webhooks</a></nav></header>
<main id="content">
${main}
</main>
</body>
</html>
`.toString();
}

export function catalogPage(orders: readonly ShopOrder[]): string {
  return layout(
    'Sandbox shop',
    html`<h1>Things for a good desk</h1>
<p>Buy something, and watch what the shop's server does: the calls of the API, the webhook, and how it is verified.</p>
<ul class="products">
${shopProducts.map(
  ({ id, name, amount, drawing }) => html`<li class="card">
<svg viewBox="0 0 120 120" aria-hidden="true"><path d="${drawing}"/></svg><h2>${name}</h2><p>$${amount}</p>
<form method="post" action="/buy/${id}"><button class="button primary">Buy<span class="hidden"> ${name}</span></button></form></li>
`,
)}
</ul>
${
  orders.length === 0
    ? nothing
    : html`<h2>Orders</h2>
<ul class="orders">
${orders.map(
  ({ id, product, isFulfilled }) => html`<li><a href="/orders/${id}">${product.name},
${id.slice(0, 8)}</a> ${isFulfilled ? 'fulfilled' : 'open'}</li>`,
)}
</ul>
`
}`,
    false,
  );
}

export function inboxPage(webhooks: readonly InboxWebhook[]): string {
  return layout(
    'Webhooks',
    html`<h1>Webhooks</h1>
<p>This receiver takes the webhooks of checkouts that you create with the printed command. It reads the raw body, verifies the
signature with the payment's <code>ipn_token</code>, and answers 200. Your own receiver also
<strong>confirms the status and fulfils once</strong>.</p>
<section id="webhooks" aria-label="Received webhooks">
${
  webhooks.length === 0
    ? html`<p>None yet. Create a checkout and pay it:
its webhook appears here a few seconds later.</p>`
    : html`<ol class="steps">${webhooks.map(inboxItem)}</ol>`
}
</section>`,
    true,
  );
}

function inboxItem({ receivedAtMs, paymentId, rawBody, signature, problem }: InboxWebhook): Html {
  const at = new Date(receivedAtMs).toISOString().replace('T', ' ').slice(0, 19);
  const title =
    problem === null
      ? html`<span class="badge good">verified</span> ${paymentId}`
      : html`<span class="badge bad">refused</span> ${problem}`;
  return html`<li><details><summary>${title}, ${at} UTC</summary><pre tabindex="0"><code>X-Service-Signature: ${signature ?? '(none)'}

${rawBody}</code></pre></details></li>
`;
}

export function orderPage(order: ShopOrder): string {
  const { id, product, payment, steps, isFulfilled, received } = order;
  return layout(
    `Order ${id.slice(0, 8)}`,
    html`<h1>${product.name}, $${product.amount}</h1>
<div class="sides">
<section class="card" aria-labelledby="customer">
<h2 id="customer">What the customer sees</h2>
<p role="status" id="state">${
      isFulfilled
        ? html`<span class="badge good">Paid.
Your order is on its way.</span>`
        : html`<span class="badge warn">Waiting for your payment</span>`
    }</p>
${
  payment === null || isFulfilled
    ? nothing
    : html`<p><a class="button primary wide" href="${payment.checkoutUrl}" data-card-checkout>Go to the checkout</a></p>
<script src="${new URL('/checkout.js', payment.checkoutUrl).href}"></script>
<p>Choose a provider and pay with the card <code>4242 4242 4242 4242</code>. After the payment, you are back here.</p>`
}
${
  received === null
    ? nothing
    : html`<h3>Try the shop's receiver</h3>
<form method="post" action="/orders/${id}/repeat"><button class="button">Send the same webhook again</button></form>
<form method="post" action="/orders/${id}/forge"><button class="button">Send a forged webhook</button></form>`
}
</section>
<section class="card" aria-labelledby="server">
<h2 id="server">What the shop's server does</h2>
<ol id="steps" class="steps">
${steps.map(stepItem)}
</ol>
</section>
</div>`,
    true,
  );
}

function stepItem({ title, kind, isGood, detail }: ShopStep): Html {
  const name = { call: 'API call', webhook: 'webhook', check: 'check' }[kind];
  return html`<li><details>
<summary><span class="badge ${isGood ? 'good' : 'bad'}">${name}</span> ${title}</summary><pre tabindex="0"><code>${detail}</code></pre></details></li>
`;
}
