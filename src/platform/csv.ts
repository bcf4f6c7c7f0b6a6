/** A cell: text from a user, or text of the service itself (amounts, ids, times). */
export type CsvCell = { readonly text: string | null } | string | null;

/** Where a spreadsheet may detect a formula: at the start of a text, and after separators of cells or lines. */
const formulaBegins = /(\r?\n|[;\r]|^)(?=[\s\0]*[=+\-@＝＋－＠\t\r])/gu;

/** Whether a spreadsheet would read the text as a number or date and show it differently: "007", "1e5", 16 digits. */
function isReadAnew(text: string): boolean {
  return /^(?=.*\d)[\d\s.,:/e%-]*$/i.test(text) && (text.length > 15 || String(Number(text)) !== text);
}

/** One line of a CSV (RFC 4180). Text that a spreadsheet would compute or change gets an apostrophe, shown as text. */
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
