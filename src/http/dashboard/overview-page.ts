import { readStatistics } from '../../payments/read-statistics.ts';
import { html, nothing } from '../design/html.ts';
import type { DashboardContext, DashboardRoutes } from './context.ts';
import { type DashboardView, dashboardPage } from './dashboard-page.ts';
import { firstRunGuide } from './first-run.ts';
import { formatPercent } from './format-percent.ts';
import { attentionCard } from './overview/attention-card.ts';
import { spans, statisticsCard } from './overview/statistics-card.ts';
import type { Visit } from './visit.ts';

const DEFAULT_SPAN = 30;

/** Where the dashboard begins. */
export function registerOverviewPage(routes: DashboardRoutes): void {
  dashboardPage(routes, {
    path: '/',
    section: 'overview',
    role: 'viewer',
    show: (visit) => showOverview(routes.context, visit),
  });
}

async function showOverview(context: DashboardContext, visit: Visit): Promise<DashboardView> {
  const { account, timeZone } = visit;
  const span = spans.find((days) => String(days) === visit.query.get('days')) ?? DEFAULT_SPAN;
  const statistics = await readStatistics(
    context.search,
    { id: account.id, timeZone },
    span,
    context.nowMs(),
  );
  return {
    title: 'Overview',
    main: html`${visit.viewing === null ? await firstRunGuide(context, visit) : nothing}
${await attentionCard(context, visit)}
${statisticsCard(statistics, span, timeZone)}
<section class="card"><h2>Account</h2>
<dl class="facts">
<div><dt>Name</dt><dd><bdi>${visit.account.name}</bdi></dd></div>
<div><dt>Account id</dt><dd><code>${visit.account.id}</code></dd></div>
<div><dt>Card fee</dt><dd>${formatPercent(visit.account.feeBasisPoints)}</dd></div>
</dl></section>`,
  };
}
