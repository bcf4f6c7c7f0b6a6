import { invalidField, type ServiceError } from './errors.ts';
import {
  type Currency,
  formatCents,
  isCurrency,
  MAXIMUM_AMOUNT_CENTS,
  MINIMUM_AMOUNT_CENTS,
  parseAmountCents,
} from './money.ts';

export const ORDER_LINE_CHARACTERS = 120;

/** Parses and trims a line of text. Throws `invalid_request` if it is empty, too long or not a single plain line. */
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

/** Regular expressions for the currency signs and codes that are allowed before or after a number of each kind. */
const signs = {
  USD: 'USD|US|\\$',
  EUR: 'EUR|€',
  CAD: 'CAD|CA|C|\\$',
  INR: 'INR|Rs\\.?|₹',
  USDC: 'USDC|\\$',
  anyCurrency: '[A-Z]{0,2}\\$|[€₹]',
  percent: '[%٪]',
} as const satisfies Readonly<Record<Currency, string>> & Readonly<Record<string, string>>;
type NumberKind = keyof typeof signs;

const formOf = Object.fromEntries(
  Object.entries(signs).map(([kind, sign]) => [
    kind,
    new RegExp(`^(?:(?:${sign}) ?){0,2}(\\d[\\d., ']*?)(?: ?(?:${sign})){0,2}$`, 'iu'),
  ]),
) as Readonly<Record<NumberKind, RegExp>>;
const withoutGroups = /^0*(\d+)(?:[.,](\d+))?$/;
const withGroups = /^([1-9]\d{0,2}([.,' ])\d{3}(?:\2\d{3})*)(?:(?!\2)[.,](\d+))?$/;

/**
 * Parses a number as people type it: "12,50", "$12.5", "1.234,50 €", "1’234", "１２．５０", "۱۲٫۵". Returns `unclear` if
 * a separator may stand for thousands or decimals, as in "1.234"; null for other text.
 */
export function readTypedNumber(
  typed: string,
  kind: NumberKind,
  maximumDecimals: number,
): string | 'unclear' | null {
  const [, number = ''] = formOf[kind].exec(plainCharacters(typed)) ?? [];
  const [, groups, separator = '', decimals] = withGroups.exec(number) ?? [];
  const isUnclear = groups !== undefined && decimals === undefined && /[.,]/.test(separator);
  const [, whole = groups?.replaceAll(separator, ''), fraction = decimals] = withoutGroups.exec(number) ?? [];
  if (isUnclear || (groups === undefined && fraction?.length === 3 && whole !== '0')) return 'unclear';
  if (whole === undefined || (fraction ?? '').length > maximumDecimals) return null;
  return fraction === undefined ? whole : `${whole}.${fraction}`;
}

/** Converts digits and separators of any script to those of the patterns above. Removes invisible characters. */
function plainCharacters(typed: string): string {
  // Does not normalize superscripts, circled digits or fractions, which would become part of the number.
  const text = /\p{No}/u.test(typed) ? typed : typed.normalize('NFKC');
  return text
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\p{Nd}/gu, digitValue)
    .replaceAll(/[’‘ʼ٬]/g, "'")
    .replaceAll(/[٫。]/g, '.')
    .replaceAll('،', ',')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Returns "7" for "７", "٧" or "७". Takes the modulo, because digits of several scripts may be consecutive. */
function digitValue(digit: string): string {
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(Number(digit.codePointAt(0)) - before - 1))) before++;
  return String(before % 10);
}

/** Parses an amount as cents, in any currency if null. Returns null outside 0.01–10000. See `readTypedNumber`. */
export function readTypedAmount(typed: string, currency: string | null): number | 'unclear' | null {
  const text = readTypedNumber(typed, isCurrency(currency) ? currency : 'anyCurrency', 2);
  return text === 'unclear' ? text : parseAmountCents(text);
}

/** Parses an amount as cents, in any currency unless `currency` is known. Throws `invalid_request` if refused. */
export function parseTypedAmount(field: string, typed: string, currency: string | null): number {
  const cents = readTypedAmount(typed, currency);
  if (typeof cents === 'number') return cents;
  if (cents === 'unclear') throw unclearAmount(field);
  const unit = isCurrency(currency) ? ` in ${currency}` : '';
  const bounds = `${formatCents(MINIMUM_AMOUNT_CENTS)} to ${formatCents(MAXIMUM_AMOUNT_CENTS)}`;
  throw invalidField(field, `must be an amount${unit} from ${bounds}`);
}

/** Converts a typed number to the API's form. Only trims other text. Throws `invalid_request` for ambiguous numbers. */
export function parseTypedNumber(field: string, typed: string, kind: NumberKind): string {
  const text = readTypedNumber(typed, kind, kind === 'USDC' ? 6 : 2);
  if (text === 'unclear') throw unclearAmount(field);
  return text ?? typed.trim();
}

function unclearAmount(field: string): ServiceError {
  return invalidField(field, 'can be read in two ways: write it with two decimals, for example 1234.00');
}
