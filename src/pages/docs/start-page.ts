import { providerIds } from '../../payment/provider-catalog.ts';
import { type Html, html, navigationLink, nothing } from '../../web/design/html.ts';

export interface StartLink {
  readonly href: string;
  readonly title: string;
  readonly summary: string;
  /** Path of the checkout shown in the start page's phone, in place of the drawing. */
  readonly phone?: string;
}

interface StartPage {
  readonly baseUrl: string;
  readonly isTestMode: boolean;
  /** Links to what the sandbox offers, starting with its shop; empty in live mode. */
  readonly links?: readonly StartLink[];
}

const dashboard = { href: '/dashboard', title: 'Dashboard', summary: 'Payments, links, keys and settings' };
const liveDoors: readonly StartLink[] = [
  { href: '/docs', title: 'Documentation', summary: 'How to create checkouts and receive webhooks' },
  { href: '/docs/reference', title: 'API reference', summary: 'Every operation, with its address here' },
  { href: '/docs/payment-lifecycle', title: 'Every state', summary: 'What a payment can become, and why' },
];

/** Renders the start page `/`, for customers with a truncated link, merchants and developers. */
export function startContent({ baseUrl, isTestMode, links = [] }: StartPage): Html {
  const [shop] = links;
  const checkout = links.find(({ phone }) => phone !== undefined)?.phone;
  const action =
    shop === undefined
      ? { href: dashboard.href, label: 'Open the dashboard' }
      : { href: shop.href, label: 'Buy a desk lamp' };
  const doors = shop === undefined ? [dashboard, ...liveDoors] : [...links, dashboard];
  return html`<header>
<a class="home" href="/">card-checkout</a>${isTestMode ? html` <span class="badge warn">sandbox</span>` : nothing}
<nav aria-label="Site"><ul>${navigationLink('/docs', 'Docs', false)}${navigationLink('/docs/reference', 'API', false)}
${navigationLink('/dashboard', 'Dashboard', false)}</ul></nav>
</header>
<main id="content">
<section class="hero"><div>
<h1>Card in.<br>USDC in your wallet.</h1>
<p class="lead">A checkout that you host. Your customer pays by card at one of ${providerIds.length} payment services.
A contract binds each payment to your wallet and the fee: the service never holds a key to the money.</p>
<p>${
    isTestMode
      ? 'Nothing here is real money: no card is charged.'
      : 'To pay, open the complete link that the shop gave you. If it does not work, ask the shop for a new one.'
  }</p>
<p class="actions"><a class="button primary" href="${action.href}">${action.label}</a>
<a class="button" href="/docs/start">Read the five-minute start</a></p>
<pre tabindex="0"><code data-language="sh">curl ${baseUrl}/api/v1/wallet \
  -H "X-API-Key: $API_KEY" \
  -H 'Content-Type: application/json' \
  -d '{"address":"0xYourWallet",
       "callback":"https://shop.example/webhook",
       "amount":"25.00"}'</code></pre>
</div>
${
  checkout === undefined
    ? drawnPhone
    : html`<div class="phone"><iframe src="${checkout}" title="The checkout page on a phone" loading="lazy" inert></iframe></div>`
}
</section>
<ul class="doors">
${doors.map(
  ({ href, title, summary }) =>
    html`<li><a href="${href}" class="card"><strong>${title}</strong> <span class="small soft">${summary}</span></a></li>`,
)}
</ul>
<p class="small"><strong>Not proven in production.</strong> ${
    isTestMode
      ? html`No adapter has called a real on-ramp yet. <a href="/docs/going-live#what-is-missing-and-what-is-unverified">What is unverified</a>`
      : 'This software is new, and its makers have not run it with real money.'
  }</p>
</main>`;
}

const drawnPhone = html`<div class="phone" role="img" aria-label="The checkout page on a phone: $26.10 to Café Tortuga, by card, Apple Pay or PayPal">
<div aria-hidden="true"><div class="panel"><b>Café Tortuga</b><strong>$26.10</strong><span class="small soft">Oak stool, natural finish</span></div>
<div class="sheet"><b>How would you like to pay?</b>
<ul><li>Card<span class="small soft">1–10 min</span></li><li>Apple Pay<span class="small soft">1–5 min</span></li>
<li>PayPal<span class="small soft">2–15 min</span></li></ul>
<span class="button primary">Pay $26.10</span>
<span class="small soft">The money can only go to Café Tortuga.</span></div></div></div>`;
