import { invalidField } from './errors.ts';
import { formatCents, MAXIMUM_AMOUNT_CENTS, MINIMUM_AMOUNT_CENTS } from './money.ts';

export const ORDER_LINE_CHARACTERS = 120;

/** Parses one line of text. Throws `invalid_request`. */
export function parseLine(field: string, typed: string, maximumCharacters: number): string {
  const text = typed.trim();
  if (text === '') throw invalidField(field, 'must not be empty');
  if (isLine(text, maximumCharacters)) return text;
  throw invalidField(
    field,
    `must be one line of at most ${maximumCharacters} characters, without control characters`,
  );
}

/** Control characters, line separators, and marks that change the text direction. */
const notOfLine = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

export function isLine(text: string, maximumCharacters: number): boolean {
  const isShort = text.length <= 2 * maximumCharacters && [...text].length <= maximumCharacters;
  return isShort && text.isWellFormed() && !notOfLine.test(text);
}

const DIGITS_OF_OTHER_SCRIPTS = '٠١٢٣٤٥٦٧٨٩०१२३४५६७८९';
const withoutGroups = /^(\d+)(?:[.,](\d{1,2}))?$/;
const withGroups = /^(\d{1,3}(?:([.,' ])\d{3})+)(?:(?!\2)[.,](\d{1,2}))?$/;

/**
 * Parses a typed amount: "12,50", "12.5", "1.234,50", "1 234". `unclear` for an ambiguous one like "1.234"; null for
 * anything else, and outside 0.01 to 10000.
 */
export function readTypedAmount(typed: string): number | 'unclear' | null {
  const text = typed
    .trim()
    .replaceAll(/[٠-٩०-९]/g, (digit) => String(DIGITS_OF_OTHER_SCRIPTS.indexOf(digit) % 10))
    .replaceAll('٫', '.')
    .replaceAll(/[\u00a0\u202f]/g, ' ');
  const [, grouped, separator = '', decimals] = withGroups.exec(text) ?? [];
  if (grouped !== undefined && decimals === undefined && /[.,]/.test(separator)) return 'unclear';
  const [, whole = grouped?.replaceAll(separator, ''), fraction = decimals] = withoutGroups.exec(text) ?? [];
  if (whole === undefined || whole.length > 6) return null;
  const cents = Number(whole) * 100 + Number((fraction ?? '').padEnd(2, '0'));
  return cents >= MINIMUM_AMOUNT_CENTS && cents <= MAXIMUM_AMOUNT_CENTS ? cents : null;
}

/** Throws `invalid_request`. */
export function parseTypedAmount(field: string, typed: string): number {
  const cents = readTypedAmount(typed);
  if (typeof cents === 'number') return cents;
  if (cents === 'unclear') {
    throw invalidField(field, 'can be read in two ways: write it with two decimals, for example 1234.00');
  }
  throw invalidField(
    field,
    `must be an amount from ${formatCents(MINIMUM_AMOUNT_CENTS)} to ${formatCents(MAXIMUM_AMOUNT_CENTS)}`,
  );
}
