import { hasSecondFactor } from '../../accounts/second-factor.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, type DashboardContext, type Visit } from '../../web/signed-in/context.ts';
import { copyButton } from '../../web/signed-in/payment-words.ts';

const MAXIMUM_PAID_PAYMENTS = 5;

/**
 * First steps of a new merchant, each ticked once done; empty when all are, or after more than `MAXIMUM_PAID_PAYMENTS`.
 */
export async function firstSteps(visit: Visit): Promise<Html> {
  const { context } = visit;
  const { account } = visit;
  const [keys, newest, paid, isProtected] = await Promise.all([
    context.accounts.listKeys(account.id),
    context.search.searchPayments({ accountId: account.id }, null, 1),
    context.search.searchPayments({ accountId: account.id, status: 'paid' }, null, MAXIMUM_PAID_PAYMENTS + 1),
    hasSecondFactor(context, visit.user),
  ]);
  if (paid.payments.length > MAXIMUM_PAID_PAYMENTS) return nothing;
  const link = (path: string, words: string) => html`<a href="${DASHBOARD_PATH}${path}">${words}</a>`;
  const isPaid = paid.payments.length > 0;
  const steps: readonly (readonly [boolean, Html, Html | string])[] = [
    [
      account.wallet !== null,
      link('/settings', 'Save your payout wallet'),
      'A Polygon address that you control. Payments are sent to it.',
    ],
    [
      account.logoHash !== null,
      link('/settings', 'Add your name and logo'),
      'Customers see them on every checkout.',
    ],
    [
      account.supportUrl !== null && account.returnUrl !== null,
      link('/settings', 'Add a support link and a return URL'),
      'So that customers find help, and the way back to your shop.',
    ],
    [keys.length > 0, link('/keys', 'Create an API key'), 'Your shop needs one to create checkouts.'],
    [newest.payments.length > 0, html`Create a checkout`, createExample(visit)],
    [isPaid, html`Make a test payment`, paySentence(context, newest.payments[0]?.status === 'unpaid')],
    [
      isProtected,
      link('/security', 'Protect your account with a second factor'),
      'A passkey or an authenticator app, beside your password.',
    ],
  ];
  if (steps.every(([isDone]) => isDone)) return nothing;
  return html`<section class="card" aria-labelledby="first-run"><h2 id="first-run">First steps</h2><ol class="steps">
${steps.map(
  ([isDone, what, sentence]) => html`<li>
<span class="badge ${isDone ? 'good' : ''}">${isDone ? 'done' : 'to do'}</span> <strong>${what}</strong><br><span class="soft">${sentence}</span></li>`,
)}</ol>
<p><a href="/docs/start">Read the guide</a> or <a href="/docs/api">the API reference</a>.</p></section>`;
}

/**
 * Uses the merchant's own webhook URL or a placeholder, because a made-up address would only cause failing webhooks.
 */
function createExample({ account, context: { baseUrl } }: Visit): Html {
  const body = JSON.stringify({
    address: account.wallet ?? 'YOUR_POLYGON_ADDRESS',
    amount: '25.00',
    currency: account.baseCurrency,
    callback: account.defaultCallbackUrl ?? 'YOUR_WEBHOOK_URL',
  });
  const command = `curl ${baseUrl}/api/v1/wallet \\
  -H 'Authorization: Bearer YOUR_API_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '${body}'`;
  return html`<details><summary>Show the command</summary>
<pre class="block" role="region" aria-label="Command that creates a checkout" tabindex="0"><code id="first-command">${command}</code></pre>
${copyButton('first-command', 'the command')}</details>`;
}

function paySentence({ isTestMode, shopUrl }: DashboardContext, hasOpen: boolean): Html {
  const card = isTestMode ? ' with the card 4242 4242 4242 4242' : '';
  const shop =
    shopUrl === null ? 'Open' : html`<a href="${shopUrl}">Buy something in the sandbox shop</a>, or open`;
  const checkout = hasOpen ? 'your newest payment, which is unpaid' : 'a checkout';
  return html`${shop} the <code>checkout_url</code> of ${checkout}. Pay${card}. This step is done when the payment is paid.`;
}
