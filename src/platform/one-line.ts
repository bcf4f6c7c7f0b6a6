/** Control characters, line separators, and marks that turn the direction of the text around them. */
const notOfLine = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

/** Foreign text as one line that every log, page and database takes: without control characters, shortened. */
export function oneLine(text: string, maximumLength = 500): string {
  const plain = text.replaceAll(notOfLine, ' ').trim();
  const short = plain.length <= maximumLength ? plain : `${plain.slice(0, maximumLength)}…`;
  return short.toWellFormed();
}
