import { SERVICE_LOG } from '../../accounts/audit-entry.ts';
import { currencies } from '../../payment/money.ts';
import { type AccountStatistics, readStatistics } from '../../reports/read-statistics.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import {
  ago,
  counts,
  durationText,
  formatMoney,
  formatUsdcSum,
  timeText,
} from '../../web/signed-in/format.ts';
import type { PageView } from '../../web/signed-in/pages.ts';
import type { Incident, Situation } from './incidents.ts';
import { OPERATOR_PATH, type OperatorRoutes, type OperatorVisit } from './operator-page.ts';
import { healthBadge, isWorking, type Provider, providerLink, stateBadge } from './providers-page.ts';
import * as settlement from './settlement-page.ts';

/** Number of days for which a payment stays open by default. */
const OPEN_DAYS = 7;

const loadCards = () => import('../dashboard/statistics-cards.ts');

export function registerOverviewPage(routes: OperatorRoutes, read: () => Promise<Situation>): void {
  routes.pages('overview').page('', (visit) => showOverview(visit, read));
}

async function showOverview(
  { context, query }: OperatorVisit,
  readSituation: () => Promise<Situation>,
): Promise<PageView> {
  const { spans } = await loadCards();
  const nowMs = context.nowMs();
  const span = spans.find((days) => String(days) === query.get('days')) ?? spans[0];
  const everyAccount = { id: SERVICE_LOG, timeZone: 'UTC' };
  const [situation, statistics] = await Promise.all([
    readSituation(),
    readStatistics(context.search, everyAccount, span, nowMs),
  ]);
  return {
    title: 'Overview',
    main: html`${situation.incidents.map((incident) => incidentRow(incident, nowMs))}
${healthCard(situation, nowMs)}${await figuresCard(statistics, span)}`,
  };
}

function incidentRow({ tone, text, sinceMs, link: [label, path] }: Incident, nowMs: number): Html {
  return html`<p class="banner head ${tone} incident"><strong>${text}</strong>
${sinceMs === null ? nothing : html`<span>since ${timeOf(sinceMs, nowMs)}, for ${durationText(nowMs - sinceMs)}</span>`}
<a class="button" href="${OPERATOR_PATH}${path}">${label}</a></p>`;
}

/** Renders "01:39 UTC" within the last 24 hours, otherwise the date. */
function timeOf(atMs: number, nowMs: number): Html {
  const at = new Date(atMs).toISOString();
  const text = nowMs - atMs < 86_400_000 ? `${at.slice(11, 16)} UTC` : at.slice(0, 10);
  return html`<time datetime="${at}" title="${timeText(atMs, 'UTC', 'second')}">${text}</time>`;
}

function healthCard({ providers, relayers, endpoints, cursor }: Situation, nowMs: number): Html {
  const configured = providers.filter(({ adapter }) => adapter !== undefined);
  const { isWell, isSupplied, endpointStatus, relayerStatus } = settlement;
  const providerState = (one: Provider) =>
    html`${providerLink(one)} ${stateBadge(one)} ${healthBadge(one.health)}`;
  return html`<section class="card"><h2>Health</h2><dl class="facts">
${partsOf('Providers', '/providers', configured, isWorking, providerState)}
${partsOf('RPC endpoints', '/settlement#endpoints', endpoints, isWell, (one) => html`<code>${one.label}</code> ${endpointStatus(one)}`)}
${partsOf('Relayers', '/settlement#relayers', relayers, isSupplied, (one) => html`<code>${one.address}</code> ${relayerStatus(one)}`)}
<div><dt><a href="${OPERATOR_PATH}/settlement">Chain</a></dt>
<dd>${cursor === null ? 'not read yet' : html`read up to ${ago(cursor.timestampMs, nowMs, 'UTC')}`}</dd></div></dl></section>`;
}

/** Renders the number of working parts of a kind and the names of the others. */
function partsOf<Part>(
  label: string,
  path: string,
  parts: readonly Part[],
  isFine: (part: Part) => boolean,
  show: (part: Part) => Html,
): Html {
  const faulty = parts.filter((part) => !isFine(part));
  return html`<div><dt><a href="${OPERATOR_PATH}${path}">${label}</a></dt>
<dd>${parts.length - faulty.length} of ${parts.length} working${faulty.map((part) => html`<br>${show(part)}`)}</dd></div>`;
}

async function figuresCard({ days }: AccountStatistics, span: number): Promise<Html> {
  const { barChart } = await import('../../web/design/charts.ts');
  const { conversionOf, labelOf, spanLinks, sum, tile, volumeOf } = await loadCards();
  const recent = days.slice(-OPEN_DAYS);
  const open = sum(recent, 'created') - sum(recent, 'converted');
  const volumes = currencies.map((currency) => [currency, volumeOf(days, currency)] as const);
  return html`<section class="card"><h2>All accounts, the last ${span} days</h2>
${spanLinks(OPERATOR_PATH, span)}
<dl class="tiles">${tile('Revenue in USDC', formatUsdcSum(sum(days, 'feeUnits')), 'the accounts’ fees')}
${tile('Received in USDC', formatUsdcSum(sum(days, 'receivedUnits')))}
${volumes.map(([currency, cents]) => (cents === 0 ? nothing : tile(`Volume in ${currency}`, formatMoney(cents, currency))))}
${tile('Paid', counts.format(sum(days, 'paid')))}${tile('Open', counts.format(open), `created in the last ${OPEN_DAYS} days and not paid`)}
${tile('Conversion', conversionOf(days), 'of payments created in this period')}</dl>
${
  sum(days, 'feeUnits') === 0
    ? nothing
    : barChart({
        title: 'Revenue in USDC',
        axis: 'Day',
        series: ['Fees in USDC'],
        bars: days.map((day) => ({ label: labelOf(day), values: [day.feeUnits] })),
        textOf: formatUsdcSum,
      })
}
<p class="small soft">Received and fees as of the time of payment. Times in UTC.
Updated every few seconds. <a href="${OPERATOR_PATH}/accounts">Accounts</a></p></section>`;
}
