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
${created === 0 ? nothing : createdCharts(days)}
${paid === 0 ? nothing : paidCharts(statistics)}
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
  return barChart({
    title: `Volume in ${currency}`,
    columns: ['Day', currency],
    bars: days.map((day) => ({ label: labelOf(day), value: day.paidCents.get(currency) ?? 0 })),
    textOf: (cents) => formatMoney(cents, currency),
  });
}

/** The payments created by day, and the share of them that is paid by now. */
function createdCharts(days: readonly DayStatistics[]): Html {
  const shareOf = ({ created, converted }: DayStatistics) =>
    created === 0 ? null : Math.min(1, converted / created);
  return html`${barChart({
    title: 'Payments created',
    columns: ['Day', 'Created'],
    bars: days.map((day) => ({ label: labelOf(day), value: day.created })),
  })}${barChart({
    title: 'From created to paid',
    columns: ['Day', 'Of those created'],
    bars: days.map((day) => ({ label: labelOf(day), value: shareOf(day) })),
    textOf: (share) => percents.format(share),
    maximum: 1,
  })}`;
}

function paidCharts({ providers, settleTimes }: AccountStatistics): Html {
  return html`<div class="pair">${barChart({
    title: 'Where customers paid',
    columns: ['Provider', 'Paid'],
    bars: providers.map(({ provider, paid }) => ({
      label: provider === 'multi' ? 'not known' : providerName(provider),
      value: paid,
    })),
  })}${barChart({
    title: 'From created to paid, time',
    columns: ['Within', 'Paid'],
    bars: settleTimes.map(({ boundMs, paid }) => ({
      label: boundMs === null ? 'longer' : durationOf(boundMs),
      value: paid,
    })),
  })}</div>`;
}

function durationOf(timeMs: number): string {
  const minutes = timeMs / 60_000;
  return minutes < 60 ? `${minutes} min` : `${minutes / 60} h`;
}

function labelOf({ date }: DayStatistics): string {
  return dayNames.format(Date.parse(`${date}T00:00:00Z`));
}

interface BarChart {
  readonly title: string;
  /** The heading of the table's rows (`Day`), and of their values (`Paid`). */
  readonly columns: readonly [string, string];
  /** The label stands under the chart, if there is room, and in the table. Null is no value. */
  readonly bars: readonly { readonly label: string; readonly value: number | null }[];
  /** How values are written; counts by default. */
  readonly textOf?: (value: number) => string;
  /** The value at the top line, if it is not the largest one. */
  readonly maximum?: number;
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
function barChart({
  title,
  columns,
  bars,
  textOf = (value) => counts.format(value),
  maximum,
}: BarChart): Html {
  const largest = Math.max(0, ...bars.map(({ value }) => value ?? 0));
  const scale = Math.max(1, largest);
  const written = bars.map(({ label, value }) => ({ label, text: value === null ? '–' : textOf(value) }));
  const step = (WIDTH - 2 * LEFT) / Math.max(1, bars.length);
  const width = Math.min(WIDEST_BAR, Math.max(1, step * 0.72));
  const places = written.map(({ label, text }, index) => {
    const value = bars[index]?.value ?? 0;
    const height = value === 0 ? 0 : Math.max(2, (value / scale) * (FLOOR - TOP));
    const x = LEFT + index * step + (step - width) / 2;
    return html`<rect class="bar-of-chart" x="${x.toFixed(1)}" y="${(FLOOR - height).toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}" rx="1.5"><title>${label}: ${text}</title></rect>`;
  });
  return html`<figure class="chart"><figcaption><h3>${title}</h3></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}: a bar for each ${columns[0].toLowerCase()}; the numbers are in the table below." preserveAspectRatio="xMidYMid meet">
<line class="grid-of-chart" x1="${LEFT}" x2="${WIDTH - LEFT}" y1="${TOP}" y2="${TOP}"></line>
<text class="text-of-chart" x="${LEFT}" y="${TOP - 7}">${textOf(maximum ?? largest)}</text>
<line class="floor-of-chart" x1="${LEFT}" x2="${WIDTH - LEFT}" y1="${FLOOR}" y2="${FLOOR}"></line>
${places}${axisLabels(bars, step)}</svg>
<details><summary>As a table<span class="quiet">: the numbers of this chart</span></summary>
${dataTable({
  label: title,
  columns: [columns[0], numbers(columns[1])],
  hasRowHeadings: true,
  rows: written.map(({ label, text }) => [label, text]),
})}</details></figure>`;
}

/** The first, the middle and the last of many labels: more do not fit on a phone. */
function axisLabels(bars: BarChart['bars'], step: number): Html[] {
  const last = bars.length - 1;
  const isFew = bars.length <= FEW_BARS;
  return bars.flatMap(({ label }, index) => {
    const isMiddle = isFew || index === Math.floor(last / 2);
    if (!isMiddle && index !== 0 && index !== last) return [];
    const anchor = isMiddle ? 'middle' : index === 0 ? 'start' : 'end';
    const x = isMiddle ? LEFT + (index + 0.5) * step : index === 0 ? LEFT : WIDTH - LEFT;
    return [
      html`<text class="text-of-chart" x="${x.toFixed(1)}" y="${HEIGHT - 8}" text-anchor="${anchor}">${label}</text>`,
    ];
  });
}
