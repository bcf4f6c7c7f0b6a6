/** A cell: text that a user wrote, or text of the service itself (amounts, ids, times). */
export type CsvCell = { readonly text: string | null } | string | null;

/** Characters that a spreadsheet takes for the beginning of a formula, also behind blanks and in full width. */
const formulaBegins = /^[\s\0]*[=+\-@＝＋－＠\t\r]/u;

/**
 * One line of a CSV (RFC 4180). Text that a spreadsheet could take for a formula gets an apostrophe in front, which
 * spreadsheets show as text; numbers of our own never need one, so that they stay numbers.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: CsvCell): string {
  if (cell === null || typeof cell === 'string') return cell ?? '';
  if (cell.text === null) return '';
  const harmless = formulaBegins.test(cell.text) ? `'${cell.text}` : cell.text;
  return `"${harmless.replaceAll('"', '""')}"`;
}
