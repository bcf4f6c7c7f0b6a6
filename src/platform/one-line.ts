/** Control characters, line separators, and marks that change the text direction. */
const notOfLine = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** Foreign text as one line for logs, pages and databases: without control characters, shortened. */
export function oneLine(text: string, maximumLength = 500): string {
  const plain = text.replaceAll(notOfLine, ' ').trim();
  const short = plain.length <= maximumLength ? plain : `${plain.slice(0, maximumLength)}…`;
  return short.toWellFormed();
}
