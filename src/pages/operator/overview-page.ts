import { SERVICE_LOG } from '../../accounts/audit-entry.ts';
import { currencies } from '../../payment/money.ts';
import type { Payment } from '../../payment/payment.ts';
import { providerCatalog } from '../../payment/provider-catalog.ts';
import { type AccountStatistics, readStatistics } from '../../reports/read-statistics.ts';
import { LATE_SCAN_MS } from '../../settlement/chain/chain.ts';
import { dataTable, headings } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { formatMoney, formatUsdcSum } from '../../web/signed-in/format.ts';
import { banner } from '../../web/signed-in/forms.ts';
import type { PageView } from '../../web/signed-in/pages.ts';
import {
  OPERATOR_PATH,
  type OperatorContext,
  type OperatorRoutes,
  type OperatorVisit,
} from './operator-page.ts';
import { adviceFor } from './payment-detail.ts';
import { healthBadge, type Provider, providerLink, readProviders, stateBadge } from './providers-page.ts';
import * as settlement from './settlement-page.ts';

/** How long a payment stays open by default. */
const OPEN_DAYS = 7;
/** A release counts as stuck after this time, as in the alert CardCheckoutReleaseOverdue. */
const OVERDUE_MS = 30 * 60_000;
const STUCK_COUNTED = 500;
const STUCK_SHOWN = 10;
const BATCHES_READ = 200;
/** Maximum age of a failed event in the alerts. */
const WEBHOOK_ALERT_MS = 24 * 3_600_000;
const WEBHOOKS_READ = 500;

/** Loaded on the first view, because the charts' library would slow startup. */
const loadCards = () => import('../dashboard/statistics-cards.ts');

type Overview = Awaited<ReturnType<typeof readOverview>>;

export function registerOverviewPage(routes: OperatorRoutes): void {
  routes.pages('overview').page('', showOverview);
}

async function showOverview(visit: OperatorVisit): Promise<PageView> {
  const { spans } = await loadCards();
  const span = spans.find((days) => String(days) === visit.query.get('days')) ?? spans[0];
  const overview = await readOverview(visit.context, span);
  const { statistics, stuck, providers, relayers, endpoints } = overview;
  const hidden = stuck.count - stuck.shown.length;
  return {
    title: 'Overview',
    main: html`${alertsCard(overview)}${await figuresCard(statistics, span)}
<section class="card" id="stuck"><h2>Stuck payments</h2>${settlement.attentionTable('Stuck payments', stuck.shown, nextStepOf)}
<p class="small soft">${hidden > 0 ? `And ${counts.format(hidden)} more. ` : ''}A release that is due or in flight for more than half an hour,
or that needs a person.
<a href="${OPERATOR_PATH}/settlement">Settlement</a></p></section>
${providersCard(providers)}${settlement.relayersCard(relayers)}${settlement.endpointsCard(endpoints)}`,
  };
}

async function readOverview(context: OperatorContext, span: number) {
  const { search, observations, chain, nowMs } = context;
  const everyAccount = { id: SERVICE_LOG, timeZone: 'UTC' };
  const [statistics, stuck, providers, relayers, cursor, webhooks] = await Promise.all([
    readStatistics(search, everyAccount, span, nowMs()),
    readStuck(context),
    readProviders(context),
    settlement.readRelayers(context),
    observations.readCursor(),
    search.listFailingWebhooks(null, WEBHOOKS_READ),
  ]);
  return {
    statistics,
    stuck,
    providers,
    relayers,
    endpoints: chain.listEndpoints(),
    isBehind: cursor !== null && nowMs() - cursor.timestampMs > LATE_SCAN_MS,
    failed: webhooks.filter(({ finishedAtMs }) => nowMs() - finishedAtMs < WEBHOOK_ALERT_MS).length,
  };
}

async function readStuck({ search, relay, payments, nowMs }: OperatorContext) {
  const [manual, due, batches] = await Promise.all([
    search.listUnsettled(null, ['manual_required'], STUCK_COUNTED),
    search.listUnsettled(null, ['ready', 'failed'], STUCK_COUNTED),
    relay.listOpenBatches(BATCHES_READ),
  ]);
  const isOverdue = (sinceMs: number | null | undefined) => nowMs() - (sinceMs ?? nowMs()) > OVERDUE_MS;
  const found = [...manual, ...due.filter(({ releaseDueAtMs }) => isOverdue(releaseDueAtMs))];
  const late = batches.filter(({ attempts }) => isOverdue(attempts[0]?.signedAtMs));
  const inFlight = late.flatMap(({ paymentIds }) => paymentIds);
  const shown = found.slice(0, STUCK_SHOWN);
  for (const id of inFlight.slice(0, STUCK_SHOWN - shown.length)) {
    const payment = await payments.findPaymentById(id);
    if (payment !== null) shown.push(payment);
  }
  return { count: found.length + inFlight.length, shown };
}

function nextStepOf(payment: Payment): string {
  return payment.forwardStatus === 'manual_required'
    ? adviceFor(payment)
    : 'The service keeps trying. Check the relayers’ balance and the RPC endpoints below.';
}

function alertsCard({ stuck, providers, relayers, endpoints, isBehind, failed }: Overview): Html {
  const paused = providers.filter(({ health }) => health?.isCircuitOpen === true);
  const unwell = endpoints.filter((endpoint) => !settlement.isWell(endpoint)).length;
  const alerts = [
    [stuck.count > 0, `${countOf(stuck.count, 'payment')} stuck.`, 'Stuck payments', '#stuck'],
    [
      relayers.some(({ isLow }) => isLow),
      'A relayer is low on POL. Without POL, releases stop.',
      'Relayers',
      '#relayers',
    ],
    [
      relayers.some(({ balanceWei }) => balanceWei === null),
      'No RPC endpoint answers.',
      'RPC endpoints',
      '#endpoints',
    ],
    [isBehind, 'The chain has not been read for more than three minutes.', 'Settlement', '/settlement'],
    [
      unwell > 0,
      `${countOf(unwell, 'RPC endpoint')} failing, slow, behind, or in disagreement.`,
      'RPC endpoints',
      '#endpoints',
    ],
    [
      paused.length > 0,
      `Paused after failures: ${paused.map(({ id }) => providerCatalog[id].name).join(', ')}.`,
      'Providers',
      '/providers',
    ],
    [
      failed > 0,
      `${failed === WEBHOOKS_READ ? 'At least ' : ''}${countOf(failed, 'webhook')} undelivered since yesterday.`,
      'Webhooks',
      '/webhooks',
    ],
  ] as const;
  const raised = alerts.filter(([isRaised]) => isRaised);
  if (raised.length === 0) return banner('good', 'Nothing needs your attention.');
  return html`<section class="card"><h2>Needs your attention</h2><ul class="feed">
${raised.map(
  ([, text, link, place]) => html`<li>
<div>${text} <a href="${place.startsWith('#') ? '' : OPERATOR_PATH}${place}">${link}</a></div></li>`,
)}</ul></section>`;
}

const counts = new Intl.NumberFormat('en');

function countOf(count: number, noun: string): string {
  return `${counts.format(count)} ${noun}${count === 1 ? ' is' : 's are'}`;
}

async function figuresCard({ days }: AccountStatistics, span: number): Promise<Html> {
  const { barChart } = await import('../../web/design/charts.ts');
  const { labelOf, percents, spanLinks, sum, tile, volumeOf } = await loadCards();
  const recent = days.slice(-OPEN_DAYS);
  const open = sum(recent, 'created') - sum(recent, 'converted');
  const created = sum(days, 'created');
  const share = created === 0 ? '–' : percents.format(Math.min(1, sum(days, 'converted') / created));
  const volumes = currencies.map((currency) => [currency, volumeOf(days, currency)] as const);
  return html`<section class="card"><h2>All accounts, the last ${span} days</h2>
${spanLinks(OPERATOR_PATH, span)}
<dl class="tiles">${tile('Revenue in USDC', formatUsdcSum(sum(days, 'feeUnits')), 'the accounts’ fees')}
${tile('Received in USDC', formatUsdcSum(sum(days, 'receivedUnits')))}
${volumes.map(([currency, cents]) => (cents === 0 ? nothing : tile(`Volume in ${currency}`, formatMoney(cents, currency))))}
${tile('Paid', counts.format(sum(days, 'paid')))}${tile('Open', counts.format(open), `created in the last ${OPEN_DAYS} days and not paid`)}
${tile('Conversion', share, 'of payments created in this period')}</dl>
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

function providersCard(providers: readonly Provider[]): Html {
  const configured = providers.filter(({ adapter }) => adapter !== undefined);
  const empty = html`<p class="soft">No provider has credentials.</p>`;
  const table = dataTable({ label: 'Providers', empty }, configured, {
    Provider: headings(providerLink),
    'State and health': (provider) => html`${stateBadge(provider)} ${healthBadge(provider.health)}`,
  });
  return html`<section class="card"><h2>Providers</h2>${table}</section>`;
}
