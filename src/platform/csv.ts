/** Cell of a CSV file: an object for user text, or a string for the service's own text, such as amounts and times. */
export type CsvCell = { readonly text: string | null } | string | null;

/** Positions where a spreadsheet may detect a formula: the start of a text, and after a cell or line separator. */
const formulaBegins = /(\r?\n|[;\r]|^)(?=[\s\0]*[=+\-@＝＋－＠\t\r])/gu;

/** Returns whether a spreadsheet would read the text as a number or date and change it ("007", "1e5", 16 digits). */
function isReadAnew(text: string): boolean {
  return /^(?=.*\d)[\d\s.,:/e%-]*$/i.test(text) && (text.length > 15 || String(Number(text)) !== text);
}

/** Formats one CSV line (RFC 4180). Apostrophes keep spreadsheets from evaluating or reformatting user text. */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: CsvCell): string {
  if (cell === null || typeof cell === 'string') return cell ?? '';
  if (cell.text === null) return '';
  const unformulated = cell.text.replaceAll(formulaBegins, "$1'");
  const harmless = isReadAnew(cell.text) && !unformulated.startsWith("'") ? `'${unformulated}` : unformulated;
  return `"${harmless.replaceAll('"', '""')}"`;
}
