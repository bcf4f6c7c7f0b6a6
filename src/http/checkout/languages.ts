import type { IncomingHttpHeaders } from 'node:http';
import { ar } from '../../../locales/ar.ts';
import { de } from '../../../locales/de.ts';
import { en } from '../../../locales/en.ts';
import { es } from '../../../locales/es.ts';
import { fr } from '../../../locales/fr.ts';
import { hi } from '../../../locales/hi.ts';
import type { Words } from '../../../locales/locale.ts';
import { pt } from '../../../locales/pt.ts';
import { type Currency, currencies, formatCents } from '../../domain/money.ts';
import { type Html, html } from '../design/html.ts';

export type LanguageCode = 'en' | 'es' | 'fr' | 'de' | 'pt' | 'hi' | 'ar';

/** A language the pages speak. */
export interface Language {
  readonly code: LanguageCode;
  readonly direction: 'ltr' | 'rtl';
  /** For `Intl`. Digits are 0 to 9 in all of them: amounts have to look as they do at the provider. */
  readonly locale: string;
  readonly words: Words;
}

export const english: Language = { code: 'en', direction: 'ltr', locale: 'en', words: en };

/** All of them, in the order in which they are offered. */
export const languages: readonly Language[] = [
  english,
  { code: 'es', direction: 'ltr', locale: 'es', words: es },
  { code: 'fr', direction: 'ltr', locale: 'fr', words: fr },
  { code: 'de', direction: 'ltr', locale: 'de', words: de },
  { code: 'pt', direction: 'ltr', locale: 'pt-BR', words: pt },
  { code: 'hi', direction: 'ltr', locale: 'hi-u-nu-latn', words: hi },
  { code: 'ar', direction: 'rtl', locale: 'ar-u-nu-latn', words: ar },
];

/** The language of a code that was kept, or English. */
export function languageNamed(code: string | null): Language {
  return byCode.get(code ?? '') ?? english;
}

const byCode = new Map<string, Language>(languages.map((language) => [language.code, language]));

/** In which the customer's choice of a language is kept. */
export const LANGUAGE_COOKIE = 'language';
/** More of Accept-Language than that nobody needs. */
const LONGEST_ACCEPT_LANGUAGE = 200;

/** The language a visitor has just chosen by a link (`?lang=de`), or null. */
export function chosenLanguage(query: unknown): Language | null {
  const code = (query as Readonly<Record<string, unknown>> | null | undefined)?.['lang'];
  return typeof code === 'string' ? (byCode.get(code) ?? null) : null;
}

/** The language to answer in: the one chosen now, the one chosen before, the browser's first that we speak, English. */
export function languageOf(request: {
  readonly query: unknown;
  readonly headers: IncomingHttpHeaders;
}): Language {
  return (
    chosenLanguage(request.query) ??
    rememberedLanguage(request.headers.cookie) ??
    acceptedLanguage(request.headers['accept-language']) ??
    english
  );
}

const cookiePattern = new RegExp(`(?:^|;\\s*)${LANGUAGE_COOKIE}=(\\w{2})(?:;|$)`);

function rememberedLanguage(cookies: string | undefined): Language | null {
  if (cookies === undefined) return null;
  return byCode.get(cookiePattern.exec(cookies)?.[1] ?? '') ?? null;
}

function acceptedLanguage(header: string | undefined): Language | null {
  if (header === undefined) return null;
  let best: Language | null = null;
  let bestWeight = 0;
  for (const entry of header.slice(0, LONGEST_ACCEPT_LANGUAGE).split(',')) {
    const [, code, weight = '1'] =
      /^\s*([a-z]{2})(?:-[\w-]*)?\s*(?:;\s*q=(\d(?:\.\d+)?)\s*)?$/i.exec(entry) ?? [];
    const language = byCode.get(code?.toLowerCase() ?? '');
    if (language === undefined || Number(weight) <= bestWeight) continue;
    best = language;
    bestWeight = Number(weight);
  }
  return best;
}

/** What a language writes numbers and times with; making one takes long, so each is made once. */
interface Formats {
  readonly money: Readonly<Record<Currency, Intl.NumberFormat>>;
  readonly usdc: Intl.NumberFormat;
  readonly time: Intl.DateTimeFormat;
  readonly names: Intl.ListFormat;
}

const formats = Object.fromEntries(
  languages.map(({ code, locale }) => [code, formatsOf(locale)]),
) as Readonly<Record<LanguageCode, Formats>>;

function formatsOf(locale: string): Formats {
  const money = (currency: Currency) =>
    new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' });
  return {
    money: Object.fromEntries(currencies.map((currency) => [currency, money(currency)])) as Formats['money'],
    usdc: new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }),
    time: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }),
    names: new Intl.ListFormat(locale, { type: 'conjunction' }),
  };
}

/** How English writes a currency's symbol where it is short. */
const symbols = Object.fromEntries(
  currencies.map((currency) => {
    const parts = formats.en.money[currency].formatToParts(0);
    return [currency, parts.find(({ type }) => type === 'currency')?.value ?? currency];
  }),
) as Readonly<Record<Currency, string>>;

/**
 * "$1,025.00" from 102500. The symbol is short, so the currency's code stands beside it where it could be mistaken.
 * English is written as `Intl.NumberFormat` would write it, which takes ten times as long.
 */
export function formatMoney({ code }: Language, cents: number, currency: Currency): string {
  // Marks of direction would turn the amount round where it is set apart from the text.
  if (code !== 'en')
    return formats[code].money[currency].format(cents / 100).replaceAll(/[\u200e\u200f]/g, '');
  const text = formatCents(cents);
  const grouped = cents < 100_000 ? text : text.replace(/\B(?=(?:\d{3})+\.)/g, ',');
  return `${symbols[currency]}${grouped}`;
}

/** Whether an amount leaves its currency open: "$26.10" does, "26.10 US$" as some languages write it does not. */
export function leavesCurrencyOpen(amount: string): boolean {
  return !/[A-Z]/.test(amount);
}

/** The same with the currency's code where it is needed: "$20.00 USD". */
export function formatMoneyAndCode(language: Language, cents: number, currency: Currency): string {
  const amount = formatMoney(language, cents, currency);
  return leavesCurrencyOpen(amount) ? `${amount} ${currency}` : amount;
}

/** "4.20 USDC" from 10⁻⁶ units, to the cent. What is missing is rounded up, so that sending it suffices. */
export function formatUsdc({ code }: Language, units: bigint, rounding: 'up' | 'down'): string {
  const cents = (units + (rounding === 'up' ? 9_999n : 0n)) / 10_000n;
  return `${formats[code].usdc.format(Number(cents) / 100)} USDC`;
}

/** "November 21, 2026 at 1:38 AM UTC"; the page's script writes it in the customer's own zone. */
export function formatTime({ code }: Language, timeMs: number): string {
  return `${formats[code].time.format(timeMs)} UTC`;
}

/** "MoonPay and Wert". */
export function formatList({ code }: Language, names: readonly string[]): string {
  return formats[code].names.format(names);
}

/** What is put in for the names in braces. */
export type Values = Readonly<Record<string, string>>;

/** A text of the catalogues in pieces: what is always said, escaped, and between two of them the name of a value. */
interface Pieces {
  readonly said: readonly Html[];
  readonly names: readonly string[];
}

/** Grows to the number of texts in the catalogues. */
const knownPieces = new Map<string, Pieces>();

/**
 * A text of the catalogues as markup. Each value is set apart, so that a name in another script, or one that holds
 * marks for the direction of writing, turns nothing around it. Throws `RangeError` for a value that is not there.
 */
export function fillIn(text: string, values: Values): Html {
  const { said, names } = piecesOf(text);
  return html`${said.map((piece, index) => {
    const name = names[index];
    return name === undefined ? piece : html`${piece}<bdi>${valueNamed(values, name)}</bdi>`;
  })}`;
}

/** The same as plain text, for where markup cannot be: a title, a label. */
export function fillText(text: string, values: Values): string {
  return text.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => valueNamed(values, name));
}

function piecesOf(text: string): Pieces {
  const known = knownPieces.get(text);
  if (known !== undefined) return known;
  const parts = text.split(/\{(\w+)\}/);
  const pieces = {
    said: parts.filter((_part, index) => index % 2 === 0).map((part) => html`${part}`),
    names: parts.filter((_part, index) => index % 2 === 1),
  };
  knownPieces.set(text, pieces);
  return pieces;
}

function valueNamed(values: Values, name: string): string {
  const value = values[name];
  if (value === undefined) throw new RangeError(`nothing to put in for {${name}}`);
  return value;
}
