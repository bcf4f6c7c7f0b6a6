/** A cell: text that a user wrote, or text of the service itself (amounts, ids, times). */
export type CsvCell = { readonly text: string | null } | string | null;

/**
 * Places where a spreadsheet may see the beginning of a formula, also behind blanks and in full width: at the start of a
 * text, and within it behind what separates cells or lines where lists are separated by semicolons.
 */
const formulaBegins = /(\r?\n|[;\r]|^)(?=[\s\0]*[=+\-@＝＋－＠\t\r])/gu;

/**
 * One line of a CSV (RFC 4180). What a spreadsheet could take for a formula gets an apostrophe in front, which
 * spreadsheets show as text; numbers of our own never need one, so that they stay numbers.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: CsvCell): string {
  if (cell === null || typeof cell === 'string') return cell ?? '';
  if (cell.text === null) return '';
  const harmless = cell.text.replaceAll(formulaBegins, "$1'");
  return `"${harmless.replaceAll('"', '""')}"`;
}
