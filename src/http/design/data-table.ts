import { type Html, html, nothing } from './html.ts';

interface Column {
  readonly name: string;
  /**
   * Alignment and width of a column: numbers align right, sentences take more width, actions have a heading only for
   * screen readers.
   */
  readonly holds?: 'numbers' | 'sentences' | 'actions';
}

/** A column of numbers, which align right. */
export function numbers(name: string): Column {
  return { name, holds: 'numbers' };
}

/** Null if a row has no value. */
export type Cell = Html | string | number | null;

interface DataTable {
  /** The heading, for screen readers. */
  readonly label: string;
  readonly caption?: string;
  /** A name alone is a plain column. */
  readonly columns: readonly (Column | string)[];
  /** One cell for each column. */
  readonly rows: readonly (readonly Cell[])[];
  /** Whether the first cell of a row is the row's heading. */
  readonly hasRowHeadings?: boolean;
  /** Whether a row is a few lines without names on a phone: for long lists whose values explain themselves. */
  readonly isCompact?: boolean;
}

/** Maximum number of cells that fit side by side on every phone. */
const NARROW_COLUMNS = 2;

/**
 * A table whose rows are cards on a phone, with the columns' names beside the values. The explicit roles keep the table
 * semantics, which the cards' style would remove.
 */
export function dataTable(table: DataTable): Html {
  const { label, caption, columns, rows, hasRowHeadings = false, isCompact = false } = table;
  const named = columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  return html`<div class="${columns.length <= NARROW_COLUMNS ? 'table' : isCompact ? 'table stacks compact' : 'table stacks'}" role="region" aria-label="${label}" tabindex="0"><table role="table">${caption === undefined ? nothing : html`<caption>${caption}</caption>`}
<thead role="rowgroup"><tr role="row">${named.map(columnHeading)}</tr></thead>
<tbody role="rowgroup">${rows.map((cells) => dataRow(cells, named, hasRowHeadings))}</tbody></table></div>`;
}

function columnHeading(column: Column): Html {
  const name = column.holds === 'actions' ? html`<span class="quiet">${column.name}</span>` : column.name;
  return html`<th scope="col" role="columnheader"${classOf(column)}>${name}</th>`;
}

function dataRow(cells: readonly Cell[], columns: readonly Column[], hasHeading: boolean): Html {
  const made = columns.map((column, index) =>
    dataCell(column, cells[index] ?? null, hasHeading && index === 0),
  );
  return html`<tr role="row">${made}</tr>
`;
}

function dataCell(column: Column, cell: Cell, isHeading: boolean): Html {
  const label = column.holds === 'actions' ? nothing : html` data-label="${column.name}"`;
  return isHeading
    ? html`<th scope="row" role="rowheader"${classOf(column)}${label}>${cell}</th>`
    : html`<td role="cell"${classOf(column)}${label}>${cell}</td>`;
}

function classOf({ holds }: Column): Html {
  if (holds === 'numbers') return html` class="number"`;
  return holds === 'sentences' ? html` class="words"` : nothing;
}
