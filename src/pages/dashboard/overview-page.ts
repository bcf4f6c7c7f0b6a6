import { readBaseRates, readFunnel, readStatistics } from '../../reports/read-statistics.ts';
import { html, nothing } from '../../web/design/html.ts';
import type { Visit } from '../../web/signed-in/context.ts';
import { formatPercent } from '../../web/signed-in/format.ts';
import { flashOf } from '../../web/signed-in/forms.ts';
import type { DashboardRoutes, PageView } from '../../web/signed-in/pages.ts';
import type { OverviewCard } from './features.ts';
import { firstSteps } from './first-steps.ts';

const DEFAULT_SPAN = 30;

export function registerOverviewPage(routes: DashboardRoutes, cards: readonly OverviewCard[]): void {
  routes.pages('overview', 'viewer').page('/', (visit) => showOverview(cards, visit));
  for (const { register } of cards) register(routes);
}

async function showOverview(cards: readonly OverviewCard[], visit: Visit): Promise<PageView> {
  const { context } = visit;
  const { account, timeZone } = visit;
  // Loaded on the first view, because the charts need a library that would slow startup.
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
    main: html`${cards.map(({ flashMessages }) => flashOf(visit, flashMessages))}
${visit.viewing === null ? await firstSteps(visit) : nothing}
${await Promise.all(cards.map(({ show }) => show(visit)))}
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
