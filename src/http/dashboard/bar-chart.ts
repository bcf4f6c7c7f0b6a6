import { dataTable, numbers } from '../design/data-table.ts';
import { type Html, html, nothing } from '../design/html.ts';

interface BarChart {
  readonly title: string;
  /** What the bars stand for (`Day`) and what they measure (`Paid`): the titles of the axes and of the table's columns. */
  readonly columns: readonly [string, string];
  /** Null is no value. */
  readonly bars: readonly { readonly label: string; readonly value: number | null }[];
  /** How values are written; counts by default. */
  readonly textOf?: (value: number) => string;
  /** Whether values are shares of 1. */
  readonly isShare?: boolean;
  /** Lying bars, each with its name and value: for names in place of days. */
  readonly isOfNames?: boolean;
}

const counts = new Intl.NumberFormat('en');

/** Units of the drawing; it is scaled to the width of the page. */
const WIDTH = 560;
const HEIGHT = 230;
const TOP = 30;
const BOTTOM = 52;
const FLOOR = HEIGHT - BOTTOM;
const ROW = 32;
const WIDEST_BAR = 64;
/** A character of the labels at the size that phones show. */
const CHARACTER = 10;
const TICKS = 4;

/** A chart of the values as SVG, whose bars tell their value, and a table of them. */
export function barChart(chart: BarChart): Html {
  const { title, columns, bars, isOfNames = false, textOf = (value) => counts.format(value) } = chart;
  const written = bars.map(({ label, value }) => ({
    label,
    value: value ?? 0,
    text: value === null ? '–' : textOf(value),
  }));
  const height = isOfNames ? bars.length * ROW : HEIGHT;
  return html`<figure class="chart"><figcaption><h3>${title}</h3></figcaption>
<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}: a bar for each ${columns[0].toLowerCase()}; the numbers are in the table below.">
${isOfNames ? lyingBars(written) : standingBars(written, { ...chart, textOf })}</svg>
<details><summary>As a table<span class="quiet">: the numbers of this chart</span></summary>
${dataTable({
  label: title,
  columns: [columns[0], numbers(columns[1])],
  hasRowHeadings: true,
  rows: written.map(({ label, text }) => [label, text]),
})}</details></figure>`;
}

interface WrittenBar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
}

function lyingBars(bars: readonly WrittenBar[]): Html[] {
  const largest = Math.max(1, ...bars.map(({ value }) => value));
  const widthOf = (texts: readonly string[]) =>
    (Math.max(...texts.map(({ length }) => length)) + 1) * CHARACTER;
  const left = widthOf(bars.map(({ label }) => label));
  const room = WIDTH - left - widthOf(bars.map(({ text }) => text));
  return bars.map((bar, index) => {
    const [y, width] = [index * ROW, (bar.value / largest) * room];
    return html`${text(0, y + ROW / 2 + 5, bar.label)}${rectangle(bar, { x: left, y: y + 6, width, height: ROW - 12 })}${text(left + width + 8, y + ROW / 2 + 5, bar.text)}`;
  });
}

function standingBars(
  bars: readonly WrittenBar[],
  { columns, isShare = false, textOf }: BarChart & Required<Pick<BarChart, 'textOf'>>,
): Html {
  const ticks = ticksOf(isShare ? 1 : Math.max(...bars.map(({ value }) => value)), !isShare);
  const top = ticks.at(-1) as number;
  const left = (Math.max(...ticks.map((tick) => textOf(tick).length)) + 1) * CHARACTER;
  const heightOf = (value: number) => (value / top) * (FLOOR - TOP);
  const step = (WIDTH - left) / bars.length;
  const width = Math.min(WIDEST_BAR, Math.max(1, step * 0.72));
  const labelWidth = (Math.max(...bars.map(({ label }) => label.length)) + 1) * CHARACTER;
  const labelled = Math.ceil(labelWidth / step);
  return html`${text(0, 14, columns[1])}
${ticks.map((tick) => {
  const y = FLOOR - heightOf(tick);
  return html`<line class="${tick === 0 ? 'floor-of-chart' : 'grid-of-chart'}" x1="${left}" x2="${WIDTH}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"></line>${text(left - 6, y + 5, textOf(tick), 'end')}`;
})}
${bars.map((bar, index) => {
  const middle = left + (index + 0.5) * step;
  const height = bar.value === 0 ? 0 : Math.max(2, heightOf(bar.value));
  const label =
    index % labelled === 0 && middle + labelWidth / 2 <= WIDTH + CHARACTER
      ? text(middle, FLOOR + 20, bar.label, 'middle')
      : nothing;
  return html`${rectangle(bar, { x: middle - width / 2, y: FLOOR - height, width, height })}${label}`;
})}
${text((left + WIDTH) / 2, HEIGHT - 6, columns[0], 'middle')}`;
}

/** Round values from 0 up to the largest one or a little more. */
function ticksOf(largest: number, isWhole: boolean): number[] {
  const least = Math.max(largest, isWhole ? 1 : 0) / TICKS;
  const magnitude = 10 ** Math.floor(Math.log10(least));
  const round = magnitude * ([1, 2, 5].find((factor) => factor * magnitude >= least) ?? 10);
  const step = isWhole ? Math.ceil(round) : round;
  return Array.from({ length: Math.max(1, Math.ceil(largest / step)) + 1 }, (_, index) => index * step);
}

function rectangle(
  { label, text }: WrittenBar,
  { x, y, width, height }: Readonly<Record<'x' | 'y' | 'width' | 'height', number>>,
): Html {
  return html`<rect class="bar-of-chart" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}" rx="1.5"><title>${label}: ${text}</title></rect>`;
}

function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end' = 'start'): Html {
  return html`<text class="text-of-chart" x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${words}</text>`;
}
