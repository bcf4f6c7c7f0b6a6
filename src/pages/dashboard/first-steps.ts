import { hasSecondFactor } from '../../accounts/second-factor.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, type Visit } from '../../web/signed-in/context.ts';
import { copyButton } from '../../web/signed-in/payment-words.ts';

const MAXIMUM_PAID_PAYMENTS = 5;

/** First steps of a new merchant; empty when all are done, or after `MAXIMUM_PAID_PAYMENTS`. */
export async function firstSteps(visit: Visit): Promise<Html> {
  const { account, context, user } = visit;
  const { search } = context;
  const [[newest], { payments: paid }, isProtected] = await Promise.all([
    search.searchPayments({ accountId: account.id }, null, 1).then(({ payments }) => payments),
    search.searchPayments({ accountId: account.id, status: 'paid' }, null, MAXIMUM_PAID_PAYMENTS + 1),
    hasSecondFactor(context, user),
  ]);
  if (paid.length > MAXIMUM_PAID_PAYMENTS) return nothing;
  const isTested = !context.isTestMode || paid.length > 0;
  const steps: readonly (readonly [isDone: boolean, path: string, what: string, sentence: string])[] = [
    [
      account.wallet !== null,
      '/dashboard/settings/payouts',
      'Save your payout wallet',
      'A Polygon address that you control.',
    ],
    [
      account.logoHash !== null,
      '/dashboard/settings',
      'Add your logo and color',
      'Customers see them on every checkout.',
    ],
    // In the sandbox, the last step is done when the account's own checkout is paid.
    newest?.status === 'unpaid' && !isTested
      ? [
          false,
          `/pay/${newest.id}`,
          'Pay your newest checkout',
          'As a customer, with the card 4242 4242 4242 4242.',
        ]
      : [
          newest !== undefined && isTested,
          '/dashboard/links',
          'Create your first link',
          'For a customer, or to try it yourself.',
        ],
  ];
  const done = steps.filter(([isDone]) => isDone).length;
  if (done === steps.length) return nothing;
  return html`<section class="card" aria-labelledby="first-run"><h2 id="first-run">Set up your shop <span class="soft">${done} of ${steps.length}</span></h2>
<progress max="${steps.length}" value="${done}" aria-labelledby="first-run"></progress>
<ol class="steps">${steps.map(([isDone, path, what, sentence]) =>
    isDone
      ? html`<li class="soft"><span class="good" aria-hidden="true">✓</span> ${what}<span class="quiet">: done</span></li>`
      : html`<li><a href="${path}"><strong>${what}</strong></a><br><span class="small soft">${sentence}</span></li>`,
  )}</ol>
${isProtected ? nothing : html`<p class="small"><a href="${DASHBOARD_PATH}/security">Protect your account</a> with a second factor.</p>`}
<details><summary>I’m integrating an API</summary>${createExample(visit)}</details></section>`;
}

/** Uses a placeholder, because a made-up address would only cause failing webhooks. */
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
  return html`<p><a href="${DASHBOARD_PATH}/keys">Create an API key</a>, then a checkout:</p>
<pre class="block" role="region" aria-label="Command that creates a checkout" tabindex="0"><code id="first-command">${command}</code></pre>
${copyButton('first-command', 'the command')}
<p><a href="/docs/start">Read the guide</a> or <a href="/docs/api">the API reference</a>.</p>`;
}
