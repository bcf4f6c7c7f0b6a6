import { dataTable } from '../../design/data-table.ts';
import { type Html, html } from '../../design/html.ts';

/** One value of each day (or whatever stands side by side). */
export interface Bar {
  /** Under the chart, where there is room, and in the table. */
  readonly label: string;
  readonly value: number;
  /** As people read it. */
  readonly text: string;
}

export interface BarChart {
  readonly title: string;
  /** What the rows of the table are (`Day`), and what they have (`Paid`). */
  readonly columns: readonly [string, string];
  readonly bars: readonly Bar[];
  /** The largest value as people read it, at the line on top. */
  readonly maximumText: string;
}

const WIDTH = 640;
const HEIGHT = 180;
const LEFT = 4;
const TOP = 22;
const BOTTOM = 26;
const WIDEST_BAR = 64;
/** So many have all of their labels. */
const FEW_BARS = 5;
const FLOOR = HEIGHT - BOTTOM;

/** A picture of the values, drawn here, and the values themselves behind it. */
export function barChart(chart: BarChart): Html {
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

/** Of many the first, the middle and the last: more do not fit on a phone. */
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
  columns: [row, { name: value, holds: 'numbers' }],
  hasRowHeadings: true,
  rows: bars.map(({ label, text }) => [label, text]),
})}</details>`;
}
