import { type Html, html, nothing } from './html.ts';

export type Cell = Html | string | number | null;

type CellOf<Row> = (row: Row, index: number) => Cell;

/** Kind of content, which determines alignment and width. Headings of `actions` are for screen readers only. */
interface Column<Row> {
  readonly holds: 'values' | 'headings' | 'numbers' | 'sentences' | 'actions';
  readonly cellOf: CellOf<Row>;
}

/** Columns by name, in order. A plain function makes a column of values. */
type Columns<Row> = Readonly<Record<string, CellOf<Row> | Column<Row>>>;

const holding =
  (holds: Column<unknown>['holds']) =>
  <Row>(cellOf: CellOf<Row>): Column<Row> => ({ holds, cellOf });

export const headings = holding('headings');
export const numbers = holding('numbers');
export const sentences = holding('sentences');
export const actions = holding('actions');

interface DataTable {
  readonly label: string;
  /** Whether phones show a row as a few lines without column names, for self-explanatory values. */
  readonly isCompact?: boolean;
  readonly empty?: Html;
  /** Whether the last row is the sum of the others. */
  readonly endsInSum?: boolean;
}

/** Maximum number of columns that fit side by side on every phone. */
const NARROW_COLUMNS = 2;

/** Renders a table whose rows become cards on phones. Explicit roles keep the table semantics there. */
export function dataTable<Row>(table: DataTable | string, rows: readonly Row[], named: Columns<Row>): Html {
  const given: DataTable = typeof table === 'string' ? { label: table } : table;
  const { label, isCompact = false, endsInSum = false, empty } = given;
  if (rows.length === 0 && empty !== undefined) return empty;
  const columns = Object.entries(named).map(([name, column]) => ({
    name,
    ...(typeof column === 'function' ? { holds: 'values' as const, cellOf: column } : column),
  }));
  const cells = (row: Row, index: number) =>
    columns.map((column) => dataCell(column, column.cellOf(row, index)));
  const look =
    columns.length <= NARROW_COLUMNS ? 'table' : isCompact ? 'table stacks compact' : 'table stacks';
  return html`<div class="${look}${endsInSum ? ' sum' : ''}" role="region" aria-label="${label}" tabindex="0"><table role="table">
<thead role="rowgroup"><tr role="row">${columns.map(columnHeading)}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (row, index) => html`<tr role="row">${cells(row, index)}</tr>
`,
  )}</tbody></table></div>`;
}

type NamedColumn = Pick<Column<never>, 'holds'> & { readonly name: string };

function columnHeading({ name, holds }: NamedColumn): Html {
  // Screen readers would announce a header cell without a name as empty.
  if (name.trim() === '') return html`<td></td>`;
  const shown = holds === 'actions' ? html`<span class="quiet">${name}</span>` : name;
  return html`<th scope="col" role="columnheader"${classOf(holds)}>${shown}</th>`;
}

function dataCell({ name, holds }: NamedColumn, cell: Cell): Html {
  const label = holds === 'actions' || name.trim() === '' ? nothing : html` data-label="${name}"`;
  return holds === 'headings'
    ? html`<th scope="row" role="rowheader"${label}>${cell}</th>`
    : html`<td role="cell"${classOf(holds)}${label}>${cell}</td>`;
}

function classOf(holds: NamedColumn['holds']): Html {
  if (holds === 'numbers') return html` class="number"`;
  return holds === 'sentences' ? html` class="words"` : nothing;
}
