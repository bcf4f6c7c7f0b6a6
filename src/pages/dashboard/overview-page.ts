import { alertsCard, dismissAlert } from '../../features/alerts/alerts-card.ts';
import { readBaseRates, readFunnel, readStatistics } from '../../reports/read-statistics.ts';
import { html, nothing } from '../../web/design/html.ts';
import type { Visit } from '../../web/signed-in/context.ts';
import { formatPercent } from '../../web/signed-in/format.ts';
import { flashOf } from '../../web/signed-in/forms.ts';
import type { DashboardRoutes, PageView } from '../../web/signed-in/pages.ts';
import { firstSteps } from './first-steps.ts';

const DEFAULT_SPAN = 30;

/** The dashboard's start page. */
export function registerOverviewPage(routes: DashboardRoutes): void {
  routes.pages('overview', 'viewer').page('/', showOverview);
  routes.pages('overview', 'developer').form('/alerts/dismiss', dismissAlert);
}

async function showOverview(visit: Visit): Promise<PageView> {
  const { context } = visit;
  const { account, timeZone } = visit;
  // The charts bring a library of their own, which the first view loads: a start does not wait for it.
  const { funnelCard, spans, statisticsCard } = await import('./statistics-cards.ts');
  const span = spans.find((days) => String(days) === visit.query.get('days')) ?? DEFAULT_SPAN;
  const nowMs = context.nowMs();
  const read = (untilMs: number) =>
    readStatistics(context.search, { id: account.id, timeZone }, span, untilMs);
  const statistics = await read(nowMs);
  const fromMs = statistics.days[0]?.startMs ?? nowMs;
  const before = await read(fromMs - 1);
  const [funnel, toBase] = await Promise.all([
    readFunnel(context, account.id, fromMs, nowMs),
    readBaseRates(context.search, account.baseCurrency, statistics.days),
  ]);
  return {
    title: 'Overview',
    main: html`${flashOf(visit, { dismissed: 'The alert is dismissed. A new one of its kind is shown again.' })}
${visit.viewing === null ? await firstSteps(visit) : nothing}
${await alertsCard(visit)}
${statisticsCard({ statistics, before, span, timeZone, base: { currency: account.baseCurrency, toBase } })}
${funnelCard(funnel, span)}
<section class="card"><h2>Account</h2>
<dl class="facts">
<div><dt>Name</dt><dd><bdi>${visit.account.name}</bdi></dd></div>
<div><dt>Account ID</dt><dd><code>${visit.account.id}</code></dd></div>
<div><dt>Card fee</dt><dd>${formatPercent(visit.account.feeBasisPoints)}</dd></div>
</dl></section>`,
  };
}
