import { type Currency, currencies } from '../../domain/money.ts';
import type { AccountStatistics, DayStatistics } from '../../payments/read-statistics.ts';
import { dataTable, numbers } from '../design/data-table.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { DASHBOARD_PATH } from '../signed-in/context.ts';
import { formatMoney } from '../signed-in/format.ts';
import { providerName } from './payment-words.ts';

/** The selectable periods of the overview, in days. */
export const spans = [7, 30, 90] as const;
type Span = (typeof spans)[number];

const counts = new Intl.NumberFormat('en');
const dayNames = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const percents = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

const changes = new Intl.NumberFormat('en', {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});

/** Volume, payments, conversion, providers and settling times of the last days, against as many days before. */
export function statisticsCard({
  statistics,
  before,
  span,
  timeZone,
}: {
  readonly statistics: AccountStatistics;
  readonly before: Pick<AccountStatistics, 'days'>;
  readonly span: Span;
  readonly timeZone: string;
}): Html {
  const { days } = statistics;
  const against = (value: number, earlier: number) =>
    earlier === 0 ? '' : `${changes.format(value / earlier - 1)} against the ${span} days before`;
  const [created, converted, paid] = [sum(days, 'created'), sum(days, 'converted'), sum(days, 'paid')];
  const used = currencies.filter((currency) => days.some((day) => day.paidCents.has(currency)));
  return html`<section class="card"><h2>The last ${span} days</h2>
<nav class="actions" aria-label="Days">${spans.map((other) => spanLink(other, span))}</nav>
<dl class="tiles">
${used.map((currency) => tile(`Volume in ${currency}`, formatMoney(volumeOf(days, currency), currency), against(volumeOf(days, currency), volumeOf(before.days, currency))))}
${tile('Paid', counts.format(paid), against(paid, sum(before.days, 'paid')))}${tile('Created', counts.format(created))}
${tile('Conversion', created === 0 ? '–' : percents.format(Math.min(1, converted / created)), 'of payments created in this period')}
</dl>
${created + paid === 0 ? html`<p class="banner plain">No payments in these days.</p>` : nothing}
${used.map((currency) => volumeChart(days, currency))}
${created === 0 ? nothing : html`${createdChart(days)}${conversionChart(days)}`}
${paid === 0 ? nothing : html`<div class="pair">${providerChart(statistics)}${settleChart(statistics)}</div>`}
<p class="small soft">Days in ${timeZone}; providers and settling times in UTC. Updated every few seconds.</p></section>`;
}

function spanLink(other: Span, span: Span): Html {
  return html`<a class="button compact" href="${DASHBOARD_PATH}?days=${other}"${other === span ? html` aria-current="true"` : nothing}>${other} days</a>`;
}

function tile(name: string, value: string, hint = ''): Html {
  return html`<div><dt>${name}</dt><dd><strong>${value}</strong>${hint === '' ? nothing : html` <span class="small soft">${hint}</span>`}</dd></div>`;
}

function sum(days: readonly DayStatistics[], field: 'created' | 'converted' | 'paid'): number {
  return days.reduce((total, day) => total + day[field], 0);
}

function volumeOf(days: readonly DayStatistics[], currency: Currency): number {
  return days.reduce((total, day) => total + (day.paidCents.get(currency) ?? 0), 0);
}

function volumeChart(days: readonly DayStatistics[], currency: Currency): Html {
  const centsOf = (day: DayStatistics) => day.paidCents.get(currency) ?? 0;
  return barChart({
    title: `Volume in ${currency}`,
    columns: ['Day', currency],
    bars: days.map((day) => ({
      label: labelOf(day),
      value: centsOf(day),
      text: formatMoney(centsOf(day), currency),
    })),
    maximumText: formatMoney(Math.max(0, ...days.map(centsOf)), currency),
  });
}

function createdChart(days: readonly DayStatistics[]): Html {
  return barChart({
    title: 'Payments created',
    columns: ['Day', 'Created'],
    bars: days.map((day) => ({ label: labelOf(day), value: day.created, text: counts.format(day.created) })),
    maximumText: counts.format(Math.max(0, ...days.map((day) => day.created))),
  });
}

function conversionChart(days: readonly DayStatistics[]): Html {
  return barChart({
    title: 'From created to paid',
    columns: ['Day', 'Of those created'],
    bars: days.map(conversionBar),
    maximumText: '100%',
  });
}

function conversionBar(day: DayStatistics): Bar {
  const share = day.created === 0 ? 0 : Math.min(1, day.converted / day.created);
  return { label: labelOf(day), value: share, text: day.created === 0 ? '–' : percents.format(share) };
}

function providerChart({ providers }: AccountStatistics): Html {
  return barChart({
    title: 'Where customers paid',
    columns: ['Provider', 'Paid'],
    bars: providers.map(({ provider, paid }) => ({
      label: provider === 'multi' ? 'not known' : providerName(provider),
      value: paid,
      text: counts.format(paid),
    })),
    maximumText: counts.format(Math.max(...providers.map(({ paid }) => paid))),
  });
}

function settleChart({ settleTimes }: AccountStatistics): Html {
  return barChart({
    title: 'From created to paid, time',
    columns: ['Within', 'Paid'],
    bars: settleTimes.map(({ boundMs, paid }) => ({
      label: boundMs === null ? 'longer' : durationOf(boundMs),
      value: paid,
      text: counts.format(paid),
    })),
    maximumText: counts.format(Math.max(...settleTimes.map(({ paid }) => paid))),
  });
}

function durationOf(timeMs: number): string {
  const minutes = timeMs / 60_000;
  return minutes < 60 ? `${minutes} min` : `${minutes / 60} h`;
}

function labelOf({ date }: DayStatistics): string {
  return dayNames.format(Date.parse(`${date}T00:00:00Z`));
}

/** One value of each day (or of another series). */
interface Bar {
  /** Under the chart, if there is room, and in the table. */
  readonly label: string;
  readonly value: number;
  /** The formatted value. */
  readonly text: string;
}

interface BarChart {
  readonly title: string;
  /** The heading of the table's rows (`Day`), and of their values (`Paid`). */
  readonly columns: readonly [string, string];
  readonly bars: readonly Bar[];
  /** The formatted largest value, at the top line. */
  readonly maximumText: string;
}

const WIDTH = 640;
const HEIGHT = 180;
const LEFT = 4;
const TOP = 22;
const BOTTOM = 26;
const WIDEST_BAR = 64;
/** Maximum number of bars that all have labels. */
const FEW_BARS = 5;
const FLOOR = HEIGHT - BOTTOM;

/** A chart of the values as SVG, and a table of them. */
function barChart(chart: BarChart): Html {
  const { title, columns, bars, maximumText } = chart;
  const maximum = Math.max(1, ...bars.map(({ value }) => value));
  const step = (WIDTH - 2 * LEFT) / Math.max(1, bars.length);
  const width = Math.min(WIDEST_BAR, Math.max(1, step * 0.72));
  const places = bars.map(({ value, label, text }, index) => {
    const height = value === 0 ? 0 : Math.max(2, (value / maximum) * (FLOOR - TOP));
    const x = LEFT + index * step + (step - width) / 2;
    return html`<rect class="bar-of-chart" x="${x.toFixed(1)}" y="${(FLOOR - height).toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}" rx="1.5"><title>${label}: ${text}</title></rect>`;
  });
  return html`<figure class="chart"><figcaption><h3>${title}</h3></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}: a bar for each ${columns[0].toLowerCase()}; the numbers are in the table below." preserveAspectRatio="xMidYMid meet">
<line class="grid-of-chart" x1="${LEFT}" x2="${WIDTH - LEFT}" y1="${TOP}" y2="${TOP}"></line>
<text class="text-of-chart" x="${LEFT}" y="${TOP - 7}">${maximumText}</text>
<line class="floor-of-chart" x1="${LEFT}" x2="${WIDTH - LEFT}" y1="${FLOOR}" y2="${FLOOR}"></line>
${places}${axisLabels(bars, step)}</svg>
${chartTable(chart)}</figure>`;
}

/** The first, the middle and the last of many labels: more do not fit on a phone. */
function axisLabels(bars: readonly Bar[], step: number): Html[] {
  const last = bars.length - 1;
  if (bars.length <= FEW_BARS) {
    return bars.map(
      ({ label }, index) =>
        html`<text class="text-of-chart" x="${(LEFT + (index + 0.5) * step).toFixed(1)}" y="${HEIGHT - 8}" text-anchor="middle">${label}</text>`,
    );
  }
  const chosen = [0, Math.floor(last / 2), last];
  return chosen.flatMap((index) => {
    const bar = bars[index];
    if (bar === undefined) return [];
    const anchor = index === 0 ? 'start' : index === last ? 'end' : 'middle';
    const x = index === 0 ? LEFT : index === last ? WIDTH - LEFT : LEFT + (index + 0.5) * step;
    return [
      html`<text class="text-of-chart" x="${x.toFixed(1)}" y="${HEIGHT - 8}" text-anchor="${anchor}">${bar.label}</text>`,
    ];
  });
}

function chartTable({ title, columns: [row, value], bars }: BarChart): Html {
  return html`<details><summary>As a table<span class="quiet">: the numbers of this chart</span></summary>
${dataTable({
  label: title,
  columns: [row, numbers(value)],
  hasRowHeadings: true,
  rows: bars.map(({ label, text }) => [label, text]),
})}</details>`;
}
