import { html } from '../design/html.ts';
import type { DashboardRoutes } from './context.ts';
import { dashboardPage } from './dashboard-page.ts';
import { firstRunGuide } from './first-run.ts';
import { formatPercent } from './format-percent.ts';

/** Where the dashboard begins. */
export function registerOverviewPage(routes: DashboardRoutes): void {
  dashboardPage(routes, {
    path: '/',
    section: 'overview',
    role: 'viewer',
    show: async (visit) => ({
      title: 'Overview',
      main: html`${await firstRunGuide(routes.context, visit)}
<section class="card"><h2>Account</h2>
<dl class="facts">
<div><dt>Name</dt><dd><bdi>${visit.account.name}</bdi></dd></div>
<div><dt>Account id</dt><dd><code>${visit.account.id}</code></dd></div>
<div><dt>Card fee</dt><dd>${formatPercent(visit.account.feeBasisPoints)}</dd></div>
</dl></section>`,
    }),
  });
}
