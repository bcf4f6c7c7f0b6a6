import { type Currency, currencies } from '../../payment/money.ts';
import type { AccountStatistics, DayStatistics, Funnel, ToBase } from '../../reports/read-statistics.ts';
import { barChart, trendChart } from '../../web/design/charts.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH } from '../../web/signed-in/context.ts';
import { counts, durationText, formatMoney, formatUsdcSum } from '../../web/signed-in/format.ts';
import { providerName } from '../../web/signed-in/payment-words.ts';

export const spans = [7, 30, 90] as const;
type Span = (typeof spans)[number];

interface Overview {
  readonly statistics: AccountStatistics;
  readonly before: Pick<AccountStatistics, 'days'>;
  readonly span: Span;
  readonly timeZone: string;
  readonly base: { readonly currency: Currency; readonly toBase: ToBase };
}

const dayNames = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const percents = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

const changes = new Intl.NumberFormat('en', {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});

export function statisticsCard({ statistics, before, span, timeZone, base }: Overview): Html {
  const { days } = statistics;
  const against = (value: number, earlier: number) =>
    earlier === 0 ? '' : `${changes.format(value / earlier - 1)} vs. previous ${span} days`;
  const [created, paid] = [sum(days, 'created'), sum(days, 'paid')];
  const used = currencies.filter((currency) => days.some((day) => day.paidCents.has(currency)));
  const isUsed = created + paid > 0;
  const volumeTile = (currency: Currency) => {
    const volume = volumeOf(days, currency);
    return tile(
      `Volume in ${currency}`,
      formatMoney(volume, currency),
      against(volume, volumeOf(before.days, currency)),
    );
  };
  const ofCreated = `of ${counts.format(created)} ${created === 1 ? 'payment' : 'payments'} created in this period`;
  return html`<section class="card"><h2>The last ${span} days</h2>
${spanLinks(`${DASHBOARD_PATH}/analytics`, span)}
${
  isUsed
    ? html`<dl class="tiles">
${paid === 0 ? nothing : moneyTiles(days, before.days, base, against)}
${used.map(volumeTile)}
${tile('Paid', counts.format(paid), against(paid, sum(before.days, 'paid')))}
${tile('Conversion', conversionOf(days), ofCreated)}
</dl>`
    : html`<p class="banner plain">No payments in these days.</p>`
}
<div class="pair">${paid === 0 ? nothing : moneyChart(days, before.days, span)}${created === 0 ? nothing : createdChart(days)}</div>
${paid === 0 ? nothing : paidCharts(statistics)}
<p class="small soft">Received, fees and net as of the time of payment; a later surplus is in the statement.
${base.currency === 'USD' ? '' : `Amounts in ${base.currency} are at the first rate of each day. `}Days in ${timeZone}; providers and settling times in UTC.
Updated every few seconds.</p></section>`;
}

export function receivedCard(
  { days }: Pick<AccountStatistics, 'days'>,
  { days: before }: Pick<AccountStatistics, 'days'>,
  costShare: number | null,
  wallet: string | null,
): Html {
  const netIn = (some: readonly DayStatistics[]) => sum(some, 'receivedUnits') - sum(some, 'feeUnits');
  const [net, earlier] = [netIn(days), netIn(before)];
  const [created, converted] = [sum(days, 'created'), sum(days, 'converted')];
  const change =
    earlier === 0 ? '' : `${net < earlier ? '▼' : '▲'} ${percents.format(Math.abs(net / earlier - 1))} `;
  return html`<section class="card"><div class="head"><h2 class="small soft">Received in your wallet</h2>
${wallet === null ? nothing : html`<code class="hash" title="${wallet}">${wallet}</code>`}</div>
<p class="figure"><strong>${formatUsdcSum(net)}</strong>&#160;<small class="soft">USDC</small></p>
<p class="small soft"><strong>${change}</strong>in ${days.length} days, after ${formatUsdcSum(earlier)} in the ${days.length} days before</p>
${trendChart(days.map(netOf), before.map(netOf))}
<dl class="tiles">${tile('Paid', `${counts.format(converted)} of ${counts.format(created)}`)}
${tile('Conversion', conversionOf(days))}
${tile('Costs (provider + fee)', costShare === null ? '–' : percents.format(costShare))}</dl></section>`;
}

export function spanLinks(path: string, current: number): Html {
  return html`<nav class="actions" aria-label="Days">${spans.map(
    (span) => html`<a class="button compact"
href="${path}?days=${span}"${span === current ? html` aria-current="true"` : nothing}>${span} days</a>`,
  )}</nav>`;
}

export function tile(name: string, value: string, ...hints: readonly string[]): Html {
  return html`<div><dt class="small soft">${name}</dt>
<dd><strong>${value}</strong>${hints.map((hint) => (hint === '' ? nothing : html` <div class="small soft">${hint}</div>`))}</dd></div>`;
}

const netOf = ({ receivedUnits, feeUnits }: DayStatistics) => receivedUnits - feeUnits;

function moneyTiles(
  days: readonly DayStatistics[],
  before: readonly DayStatistics[],
  { currency, toBase }: Overview['base'],
  against: (value: number, earlier: number) => string,
): Html {
  const tileOf = (name: string, unitsOf: (day: DayStatistics) => number) => {
    const total = (some: readonly DayStatistics[]) => some.reduce((units, day) => units + unitsOf(day), 0);
    const inBase = days.map((day) => (unitsOf(day) === 0 ? 0 : toBase(day, unitsOf(day))));
    const value = inBase.every((one) => one !== null) ? inBase.reduce((units, one) => units + one, 0) : null;
    const about =
      currency === 'USD'
        ? ''
        : value === null
          ? `${currency}: no rate known`
          : `≈ ${formatMoney(Math.round(value / 10_000), currency)}`;
    return tile(`${name} in USDC`, formatUsdcSum(total(days)), about, against(total(days), total(before)));
  };
  return html`${tileOf('Net', netOf)}${tileOf('Received', (day) => day.receivedUnits)}${tileOf('Fees', (day) => day.feeUnits)}`;
}

export function sum(
  days: readonly DayStatistics[],
  field: 'created' | 'converted' | 'paid' | 'receivedUnits' | 'feeUnits',
): number {
  return days.reduce((total, day) => total + day[field], 0);
}

export function conversionOf(days: readonly DayStatistics[]): string {
  const created = sum(days, 'created');
  return created === 0 ? '–' : percents.format(Math.min(1, sum(days, 'converted') / created));
}

export function volumeOf(days: readonly DayStatistics[], currency: Currency): number {
  return days.reduce((total, day) => total + (day.paidCents.get(currency) ?? 0), 0);
}

function moneyChart(days: readonly DayStatistics[], before: readonly DayStatistics[], span: Span): Html {
  return barChart({
    title: 'Received in USDC',
    axis: 'Day',
    series: ['Net', 'Fees'],
    earlier: `Received in the previous ${span} days`,
    bars: days.map((day, index) => ({
      label: labelOf(day),
      values: [netOf(day), day.feeUnits],
      earlier: before[index]?.receivedUnits ?? 0,
    })),
    textOf: formatUsdcSum,
  });
}

function createdChart(days: readonly DayStatistics[]): Html {
  return barChart({
    title: 'Payments created',
    axis: 'Day',
    series: ['Paid by now', 'Not paid'],
    bars: days.map((day) => {
      const paid = Math.min(day.created, day.converted);
      return { label: labelOf(day), values: [paid, day.created - paid] };
    }),
  });
}

type NamedBar = Parameters<typeof barChart>[0]['bars'][number];

function nameChart(title: string, axis: string, bars: readonly NamedBar[], series = ['Paid']): Html {
  return barChart({ title, axis, series, isOfNames: true, bars });
}

function paidCharts({ providers, settleTimes }: AccountStatistics): Html {
  const atProviders = providers.map(({ provider, paid }) => ({
    label: provider === 'multi' ? 'Unknown' : providerName(provider),
    values: [paid],
  }));
  const inTime = settleTimes.map(({ boundMs, paid }) => ({
    label: boundMs === null ? 'Longer' : durationText(boundMs),
    values: [paid],
  }));
  return html`<div class="pair">${nameChart('Where customers paid', 'Provider', atProviders)}
${nameChart('Time from creation to payment', 'Within', inTime)}</div>`;
}

export function funnelCard({ created, opened, isSample, providers }: Funnel, span: Span): Html {
  if (created === 0) return nothing;
  const total = (field: 'chose' | 'paid') =>
    providers.reduce((count, provider) => count + provider[field], 0);
  const payments = isSample ? `The newest ${counts.format(created)} payments` : 'All payments';
  const steps = { Created: created, Opened: opened, 'Chose a provider': total('chose'), Paid: total('paid') };
  const byStep = barChart({
    title: 'Step by step',
    axis: 'Step',
    series: ['Payments'],
    isOfNames: true,
    bars: Object.entries(steps).map(([label, count]) => ({ label, values: [count] })),
    textOf: (count) => `${counts.format(count)} (${percents.format(count / created)})`,
  });
  const byProvider = providers.map(({ provider, chose, paid, declined, atProvider }) => ({
    label: providerName(provider),
    values: [paid, chose - paid - declined - atProvider, atProvider, declined],
  }));
  const series = ['Paid', 'Left', 'At provider', 'Declined'];
  return html`<section class="card"><h2>Where customers leave</h2>
<p class="small soft">${payments} of the last ${span} days, each at the last provider that its customer chose.
Visits of link previews do not count as opened.</p>
<div class="pair">${byStep}${providers.length > 0 && nameChart('By provider', 'Provider', byProvider, series)}</div></section>`;
}

export function labelOf({ date }: DayStatistics): string {
  return dayNames.format(Date.parse(`${date}T00:00:00Z`));
}
