/** A cell: text from a user, or text of the service itself (amounts, ids, times). */
export type CsvCell = { readonly text: string | null } | string | null;

/** Where a spreadsheet may detect a formula: at the start of a text, and after separators of cells or lines. */
const formulaBegins = /(\r?\n|[;\r]|^)(?=[\s\0]*[=+\-@＝＋－＠\t\r])/gu;

/** One line of a CSV (RFC 4180). Text that could be a formula gets an apostrophe in front, shown as text. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: CsvCell): string {
  if (cell === null || typeof cell === 'string') return cell ?? '';
  if (cell.text === null) return '';
  const harmless = cell.text.replaceAll(formulaBegins, "$1'");
  return `"${harmless.replaceAll('"', '""')}"`;
}
