import { roleIncludes } from '../../accounts/person.ts';
import { hasSecondFactor } from '../../accounts/second-factor.ts';
import { readBaseRates, readCostShare, readFunnel, readStatistics } from '../../reports/read-statistics.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, type Visit } from '../../web/signed-in/context.ts';
import { flashOf } from '../../web/signed-in/forms.ts';
import type { DashboardRoutes, PageView } from '../../web/signed-in/pages.ts';
import { copyButton } from '../../web/signed-in/payment-words.ts';
import type { DashboardFeatures } from './features.ts';
import { paymentTable } from './payment-list-page.ts';

const DEFAULT_SPAN = 30;
const LATEST = 5;

export function registerHomePages(routes: DashboardRoutes, { homeCards }: DashboardFeatures): void {
  routes.pages('home', 'viewer').page('/', (visit) => showHome(homeCards, visit));
  routes.pages('analytics', 'viewer').page('/analytics', showAnalytics);
  for (const { register } of homeCards) register(routes);
}

// Loaded on the first view, because the chart library would slow down startup.
const loadCards = () => import('./statistics-cards.ts');

async function readPeriod({ context, account, timeZone }: Visit, span: number) {
  const nowMs = context.nowMs();
  const read = (untilMs: number) =>
    readStatistics(context.search, { id: account.id, timeZone }, span, untilMs);
  const statistics = await read(nowMs);
  const fromMs = statistics.days[0]?.startMs ?? nowMs;
  return { statistics, before: await read(fromMs - 1), fromMs, nowMs };
}

async function showHome(homeCards: DashboardFeatures['homeCards'], visit: Visit): Promise<PageView> {
  const { account, context } = visit;
  const { receivedCard } = await loadCards();
  const { statistics, before, fromMs } = await readPeriod(visit, DEFAULT_SPAN);
  const [costShare, latest, steps, cards] = await Promise.all([
    readCostShare(context.search, account.id, fromMs),
    context.search.searchPayments({ accountId: account.id }, null, LATEST),
    firstSteps(visit),
    Promise.all(homeCards.map(({ show }) => show(visit))),
  ]);
  return {
    title: 'Home',
    actions: html`${roleIncludes(visit.role, 'developer') && html`<a class="button primary" href="${DASHBOARD_PATH}/links">New payment link</a>`}`,
    main: html`${homeCards.map(({ flashMessages }) => flashOf(visit, flashMessages))}
${cards}
<div class="${steps === nothing ? '' : 'pair first'}">
${receivedCard(statistics, before, costShare, account.wallet)}${steps}</div>
${
  latest.payments.length > 0 &&
  html`<section class="card"><div class="head"><h2>Latest payments</h2><a href="${DASHBOARD_PATH}/payments">All payments</a></div>
${await paymentTable(visit, latest.payments)}</section>`
}`,
  };
}

async function showAnalytics(visit: Visit): Promise<PageView> {
  const { context, account, timeZone } = visit;
  const { funnelCard, spans, statisticsCard } = await loadCards();
  const span = spans.find((days) => String(days) === visit.query.get('days')) ?? DEFAULT_SPAN;
  const { statistics, before, fromMs, nowMs } = await readPeriod(visit, span);
  const [funnel, toBase] = await Promise.all([
    readFunnel(context, account.id, fromMs, nowMs),
    readBaseRates(context.search, account.baseCurrency, statistics.days),
  ]);
  return {
    title: 'Analytics',
    main: html`${statisticsCard({ statistics, before, span, timeZone, base: { currency: account.baseCurrency, toBase } })}
${funnelCard(funnel, span)}`,
  };
}

const MAXIMUM_PAID_PAYMENTS = 5;

/** Renders the first steps that the role allows; empty once they are done or `MAXIMUM_PAID_PAYMENTS` is exceeded. */
async function firstSteps(visit: Visit): Promise<Html> {
  const { account, context, user } = visit;
  const { search } = context;
  const [[newest], { payments: paid }, isProtected] = await Promise.all([
    search.searchPayments({ accountId: account.id }, null, 1).then(({ payments }) => payments),
    search.searchPayments({ accountId: account.id, status: 'paid' }, null, MAXIMUM_PAID_PAYMENTS + 1),
    hasSecondFactor(context, user),
  ]);
  if (paid.length > MAXIMUM_PAID_PAYMENTS || !roleIncludes(visit.role, 'developer')) return nothing;
  const isTested = !context.isTestMode || paid.length > 0;
  const everyStep: readonly (readonly [isDone: boolean, path: string, what: string, sentence: string])[] = [
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
    // In the sandbox, the last step is to pay a checkout of the account.
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
  // All steps except the last are in the settings, which only owners can change.
  const steps = roleIncludes(visit.role, 'owner') ? everyStep : everyStep.slice(-1);
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

/** Renders an example with placeholders, because an invented webhook URL would only cause failures. */
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
