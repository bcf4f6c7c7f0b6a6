import { scaleBand, scaleLinear } from 'd3-scale';
import { line, stack } from 'd3-shape';
import { dataTable, headings, numbers } from './data-table.ts';
import { type Html, html, nothing } from './html.ts';

interface Chart {
  readonly title: string;
  readonly axis: string;
  readonly series: readonly string[];
  readonly bars: readonly {
    readonly label: string;
    /** Value of each part; null if unknown. */
    readonly values: readonly (number | null)[];
    readonly earlier?: number;
  }[];
  readonly earlier?: string;
  readonly textOf?: (value: number) => string;
  /** Whether bars are horizontal with names and sums, for categories instead of days. */
  readonly isOfNames?: boolean;
}

const counts = new Intl.NumberFormat('en');

/** Sizes in SVG units, which are scaled to the page. */
const WIDTH = 560;
const FLOOR = 190;
const TOP = 40;
const ROW = 32;
const TREND_HEIGHT = 100;
/** Width of a label's character in SVG units, at the font size on phones. */
const CHARACTER = 11;

interface Drawn {
  readonly label: string;
  /** Start and end of each part, stacked from 0. */
  readonly parts: readonly (readonly [number, number])[];
  readonly sum: number;
  readonly earlier: number | null;
  readonly text: string;
}

/** Draws an SVG chart with a table of its values. Bars show their values on hover and focus (`client/chart.js`). */
export function barChart(chart: Chart): Html {
  const { title, axis, series, bars, isOfNames = false, textOf = (value) => counts.format(value) } = chart;
  const written = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : textOf(value);
  const columns = chart.earlier === undefined ? series : [...series, chart.earlier];
  const rows = bars.map(({ values, earlier }) =>
    (chart.earlier === undefined ? values : [...values, earlier]).map(written),
  );
  const tableColumns = {
    [axis]: headings<Chart['bars'][number]>(({ label }) => label),
    ...Object.fromEntries(
      columns.map((name, column) => [name, numbers((_bar, index) => rows[index]?.[column] ?? null)]),
    ),
  };
  const layers = stack<readonly (number | null)[], number>()
    .keys(series.keys())
    .value((values, part) => values[part] ?? 0)(bars.map(({ values }) => values));
  const drawn = bars.map(({ label, earlier = null }, index): Drawn => {
    const parts = layers.map((layer) => layer[index] as unknown as [number, number]);
    const texts = (rows[index] ?? []).map((text, column) =>
      columns.length === 1 ? text : `${columns[column]} ${text}`,
    );
    return { label, parts, sum: parts.at(-1)?.[1] ?? 0, earlier, text: `${label}: ${texts.join(', ')}` };
  });
  const [height, drawing] = isOfNames
    ? lyingBars(drawn, textOf)
    : standingBars(drawn, textOf, chart.textOf === undefined);
  return html`<figure class="chart"><figcaption><h3>${title}</h3>${columns.length === 1 ? nothing : legend(series, chart.earlier)}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${height}" role="group" aria-label="${title}, by ${axis.toLowerCase()}. The table below has the same values.">${drawing}</svg>
<details><summary>As a table<span class="quiet">: ${title}</span></summary>
${dataTable(title, bars, tableColumns)}</details></figure>`;
}

function legend(series: readonly string[], earlier: string | undefined): Html {
  return html`<ul class="legend chips small soft">${series.map(
    (name, part) => html`<li><span
class="key part-${part}"></span>${name}</li>`,
  )}${earlier === undefined ? nothing : html`<li><span class="key earlier"></span>${earlier}</li>`}</ul>`;
}

function lyingBars(bars: readonly Drawn[], textOf: (value: number) => string): readonly [number, Html] {
  const widthOf = (texts: readonly string[]) =>
    (Math.max(...texts.map(({ length }) => length)) + 1) * CHARACTER;
  const left = widthOf(bars.map(({ label }) => label));
  const right = WIDTH - widthOf(bars.map(({ sum }) => textOf(sum)));
  const hasParts = bars.some(({ parts }) => parts.length > 1);
  const top = hasParts ? TOP - 10 : 0;
  const xOf = scaleLinear([0, Math.max(1, ...bars.map(({ sum }) => sum))], [left, right]);
  const marks = bars.map((bar, index) => {
    const y = top + index * ROW;
    const rectangles = bar.parts.map(([from, to], part) =>
      rectangle(part, { x: xOf(from), y: y + 6, width: xOf(to) - xOf(from), height: ROW - 12 }),
    );
    return mark(
      index,
      bar,
      hasParts,
      { x: 0, y, width: WIDTH, height: ROW },
      html`${label(0, y + 21, bar.label)}${rectangles}${label(xOf(bar.sum) + 8, y + 21, textOf(bar.sum))}`,
    );
  });
  return [top + bars.length * ROW, html`${marks}`];
}

function standingBars(
  bars: readonly Drawn[],
  textOf: (value: number) => string,
  areCounts: boolean,
): readonly [number, Html] {
  const yOf = scaleLinear(
    [0, Math.max(1e-6, ...bars.flatMap(({ sum, earlier }) => [sum, earlier ?? 0]))],
    [FLOOR, TOP],
  ).nice(4);
  const ticks = yOf.ticks(4).filter((tick) => !areCounts || Number.isInteger(tick));
  const texts = ticks.map(textOf);
  // Omits the decimals if all amounts are whole.
  const tickTexts = texts.every((text) => text.endsWith('.00'))
    ? texts.map((text) => text.slice(0, -3))
    : texts;
  const left = (Math.max(...tickTexts.map(({ length }) => length)) + 1) * CHARACTER;
  const xOf = scaleBand([...bars.keys()], [left, WIDTH]).padding(0.25);
  const middleOf = (index: number) => (xOf(index) ?? 0) + xOf.bandwidth() / 2;
  const labelWidth = (Math.max(...bars.map((bar) => bar.label.length)) + 1) * CHARACTER;
  const labeled = Math.ceil(labelWidth / xOf.step());
  const marks = bars.map((bar, index) => {
    const place = { x: middleOf(index) - xOf.step() / 2, y: TOP, width: xOf.step(), height: FLOOR - TOP };
    const rectangles = bar.parts.map(([from, to], part) =>
      rectangle(part, {
        x: xOf(index) ?? 0,
        y: yOf(to),
        width: xOf.bandwidth(),
        height: yOf(from) - yOf(to),
      }),
    );
    return mark(index, bar, true, place, html`${rectangles}`);
  });
  const names = bars.map((bar, index) =>
    index % labeled === 0 && middleOf(index) + labelWidth / 2 <= WIDTH + CHARACTER
      ? label(middleOf(index), FLOOR + 20, bar.label, 'middle')
      : nothing,
  );
  const earlier = line<Drawn>(
    (_, index) => middleOf(index),
    (bar) => yOf(bar.earlier ?? 0),
  )([...bars]);
  const grid = ticks.map(
    (tick, index) =>
      html`<line class="${tick === 0 ? 'floor' : 'grid'}" x1="${left}" x2="${WIDTH}" y1="${yOf(tick).toFixed(1)}"
y2="${yOf(tick).toFixed(1)}"></line>${label(left - 6, yOf(tick) + 5, tickTexts[index] ?? '', 'end')}`,
  );
  return [
    FLOOR + 30,
    html`${grid}${names}${bars.some((bar) => bar.earlier !== null) ? html`<path class="earlier" d="${earlier}"></path>` : nothing}${marks}`,
  ];
}

/** Draws cumulative values of two periods, the earlier one dashed. Screen readers read the sums as text instead. */
export function trendChart(values: readonly number[], earlier: readonly number[]): Html {
  const sumsOf = (added: readonly number[]) =>
    added.map((_, index) => added.slice(0, index + 1).reduce((one, other) => one + other));
  const [current, before] = [sumsOf(values), sumsOf(earlier)];
  const xOf = scaleLinear([0, values.length - 1], [0, WIDTH]);
  const yOf = scaleLinear([0, Math.max(1, ...current, ...before)], [TREND_HEIGHT - 2, 2]);
  const path = line<number>((_, index) => xOf(index), yOf);
  return html`<svg class="trend" viewBox="0 0 ${WIDTH} ${TREND_HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
<path class="earlier" d="${path(before)}"></path>
<path d="${path(current)}V${TREND_HEIGHT}H0Z"></path></svg>`;
}

type Box = Readonly<Record<'x' | 'y' | 'width' | 'height', number>>;

function mark(index: number, { text }: Drawn, isTold: boolean, place: Box, content: Html): Html {
  const told = isTold
    ? html`<text class="told" x="${WIDTH}" y="18" text-anchor="end">${text}</text>`
    : nothing;
  return html`<g class="mark" role="img" tabindex="${index === 0 ? 0 : -1}" aria-label="${text}">
<rect class="place"${sides(place)}></rect>${content}${told}</g>`;
}

function rectangle(part: number, box: Box): Html {
  return html`<rect class="part-${part}"${sides(box)} rx="1.5"></rect>`;
}

function sides(box: Box): Html {
  return html`${Object.entries(box).map(([name, value]) => html` ${name}="${value.toFixed(1)}"`)}`;
}

function label(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end' = 'start'): Html {
  return html`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${words}</text>`;
}
