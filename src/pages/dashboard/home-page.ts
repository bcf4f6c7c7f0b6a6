import { roleIncludes } from '../../accounts/person.ts';
import { readBaseRates, readCostShare, readFunnel, readStatistics } from '../../reports/read-statistics.ts';
import { html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, type Visit } from '../../web/signed-in/context.ts';
import { flashOf } from '../../web/signed-in/forms.ts';
import type { DashboardRoutes, PageView } from '../../web/signed-in/pages.ts';
import type { DashboardFeatures } from './features.ts';
import { firstSteps } from './first-steps.ts';
import { paymentTable } from './payment-list-page.ts';

const DEFAULT_SPAN = 30;
const LATEST = 5;

export function registerHomePages(routes: DashboardRoutes, { homeCards }: DashboardFeatures): void {
  routes.pages('home', 'viewer').page('/', (visit) => showHome(homeCards, visit));
  routes.pages('analytics', 'viewer').page('/analytics', showAnalytics);
  for (const { register } of homeCards) register(routes);
}

// Loaded on the first view, because the charts' library would slow startup.
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
  const { account, context, viewing } = visit;
  const { receivedCard } = await loadCards();
  const { statistics, before, fromMs } = await readPeriod(visit, DEFAULT_SPAN);
  const [costShare, latest, steps, cards] = await Promise.all([
    readCostShare(context.search, account.id, fromMs),
    context.search.searchPayments({ accountId: account.id }, null, LATEST),
    viewing === null ? firstSteps(visit) : nothing,
    Promise.all(homeCards.map(({ show }) => show(visit))),
  ]);
  const mayCreate = viewing === null && roleIncludes(visit.role, 'developer');
  return {
    title: 'Home',
    actions: mayCreate
      ? html`<a class="button primary" href="${DASHBOARD_PATH}/links">New payment link</a>`
      : nothing,
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
