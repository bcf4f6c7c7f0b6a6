import type { IncomingHttpHeaders } from 'node:http';
import { type Currency, currencies, formatUnits } from '../../payment/money.ts';
import { onFirstUse } from '../../platform/on-first-use.ts';
import { readCookie } from '../cookies.ts';
import { type Html, html } from '../design/html.ts';
import { ar } from '../locales/ar.ts';
import { de } from '../locales/de.ts';
import { en } from '../locales/en.ts';
import { es } from '../locales/es.ts';
import { fr } from '../locales/fr.ts';
import { hi } from '../locales/hi.ts';
import { it } from '../locales/it.ts';
import { ja } from '../locales/ja.ts';
import type { Words } from '../locales/locale.ts';
import { nl } from '../locales/nl.ts';
import { pt } from '../locales/pt.ts';

export type LanguageCode = 'en' | 'es' | 'fr' | 'de' | 'it' | 'nl' | 'pt' | 'ja' | 'hi' | 'ar';

export interface Language {
  readonly code: LanguageCode;
  readonly direction: 'ltr' | 'rtl';
  /** Locale for `Intl`. All locales use the digits 0 to 9, so that amounts look the same as at the provider. */
  readonly locale: string;
  /** Separator between two sentences, and between a number and its unit. */
  readonly gap: '' | ' ';
  readonly words: Words;
}

export const english: Language = { code: 'en', direction: 'ltr', locale: 'en', gap: ' ', words: en };

export const languages: readonly Language[] = [
  english,
  { code: 'es', direction: 'ltr', locale: 'es', gap: ' ', words: es },
  { code: 'fr', direction: 'ltr', locale: 'fr', gap: ' ', words: fr },
  { code: 'de', direction: 'ltr', locale: 'de', gap: ' ', words: de },
  { code: 'it', direction: 'ltr', locale: 'it', gap: ' ', words: it },
  { code: 'nl', direction: 'ltr', locale: 'nl', gap: ' ', words: nl },
  { code: 'pt', direction: 'ltr', locale: 'pt-BR', gap: ' ', words: pt },
  { code: 'ja', direction: 'ltr', locale: 'ja', gap: '', words: ja },
  { code: 'hi', direction: 'ltr', locale: 'hi-u-nu-latn', gap: ' ', words: hi },
  { code: 'ar', direction: 'rtl', locale: 'ar-u-nu-latn', gap: ' ', words: ar },
];

export function languageNamed(code: string | null): Language {
  return byCode.get(code ?? '') ?? english;
}

const byCode = new Map<string, Language>(languages.map((language) => [language.code, language]));

export const LANGUAGE_COOKIE = 'language';
const LONGEST_ACCEPT_LANGUAGE = 200;

/** Returns the language of the link (`?lang=de`), or null if the link names no supported one. */
export function chosenLanguage(query: unknown): Language | null {
  const code = (query as Readonly<Record<string, unknown>> | null | undefined)?.['lang'];
  return typeof code === 'string' ? (byCode.get(code) ?? null) : null;
}

/** Returns the language of the link, the cookie or the browser, in this order; English if none is supported. */
export function languageOf(request: {
  readonly query: unknown;
  readonly headers: IncomingHttpHeaders;
}): Language {
  return (
    chosenLanguage(request.query) ??
    byCode.get(readCookie(request.headers, LANGUAGE_COOKIE) ?? '') ??
    acceptedLanguage(request.headers['accept-language']) ??
    english
  );
}

function acceptedLanguage(header = ''): Language | null {
  const accepted = header
    .slice(0, LONGEST_ACCEPT_LANGUAGE)
    .split(',')
    .flatMap((entry) => {
      const [, code = '', weight = '1'] =
        /^\s*([a-z]{2})(?:-[\w-]*)?\s*(?:;\s*q=(\d(?:\.\d+)?)\s*)?$/i.exec(entry) ?? [];
      const language = byCode.get(code.toLowerCase());
      return language === undefined || Number(weight) === 0 ? [] : { language, weight: Number(weight) };
    });
  return accepted.sort((one, other) => other.weight - one.weight)[0]?.language ?? null;
}

/** Returns a language's number and time formats. Those of all languages would take 11 MB and 80 ms of the start. */
const formatsOf = onFirstUse(({ locale }: Language) => {
  const money = (currency: Currency) =>
    new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' });
  return {
    money: Object.fromEntries(currencies.map((currency) => [currency, money(currency)])) as Readonly<
      Record<Currency, Intl.NumberFormat>
    >,
    usdc: new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }),
    exact: new Intl.NumberFormat(locale, { maximumFractionDigits: 6, useGrouping: false }),
    time: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }),
    clock: new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' }),
    minutes: new Intl.NumberFormat(locale, { style: 'unit', unit: 'minute', unitDisplay: 'long' }),
    shortMinutes: new Intl.NumberFormat(locale, { style: 'unit', unit: 'minute', unitDisplay: 'short' }),
    seconds: new Intl.NumberFormat(locale, { style: 'unit', unit: 'second', unitDisplay: 'long' }),
    names: new Intl.ListFormat(locale, { type: 'conjunction' }),
  };
});

/** Formats 102500 as "$1,025.00". The symbol may be ambiguous; see `leavesCurrencyOpen`. */
export function formatMoney(language: Language, cents: number, currency: Currency): string {
  return (
    formatsOf(language)
      .money[currency].format(cents / 100)
      // Removes direction marks, which would reorder a `<bdi>` amount.
      .replaceAll(/[\u200e\u200f]/g, '')
      // Writes "10,12 USD" instead of "10,12 $", because several currencies use "$".
      .replace(/(?<![A-Z])\$$/, currency)
  );
}

/** Returns whether an amount leaves its currency ambiguous, as in "$26.10" but not in "26.10 USD". */
export function leavesCurrencyOpen(amount: string): boolean {
  return /^[^A-Z]*\$[^A-Z]*$/.test(amount);
}

/** Joins an amount and its code with a no-break space, to keep "25.34 USDC" on one line. */
export function withCode(amount: string, code: string): string {
  return `${amount}\u00a0${code}`;
}

/** Formats an amount, with the currency code if the symbol is ambiguous: "$20.00 USD". */
export function formatMoneyAndCode(language: Language, cents: number, currency: Currency): string {
  const amount = formatMoney(language, cents, currency);
  return leavesCurrencyOpen(amount) ? withCode(amount, currency) : amount;
}

/** Formats 10⁻⁶ USDC as "4.20 USDC", to the cent. A missing amount needs `up`, so that the customer sends enough. */
export function formatUsdc(language: Language, units: bigint, rounding: 'up' | 'down'): string {
  const cents = (units + (rounding === 'up' ? 9_999n : 0n)) / 10_000n;
  return withCode(formatsOf(language).usdc.format(Number(cents) / 100), 'USDC');
}

/** Formats "4.200001 USDC" with all digits, because a transfer must cover the amount. Wallets expect no grouping. */
export function formatExactUsdc(language: Language, units: bigint): string {
  const amount = formatsOf(language).exact.format(formatUnits(units) as `${number}`);
  // A long amount may break before its code, because together they may be wider than a phone if the text is enlarged.
  return amount.length > 6 ? `${amount} USDC` : withCode(amount, 'USDC');
}

/** Formats "November 21, 2026 at 1:38 AM UTC". The script of the page converts it to the customer's time zone. */
export function formatTime(language: Language, timeMs: number): string {
  return `${formatsOf(language).time.format(timeMs)} UTC`;
}

/** Formats "1:38 AM UTC", which is about as wide as the time with seconds that the page's script shows. */
export function formatClock(language: Language, timeMs: number): string {
  return `${formatsOf(language).clock.format(timeMs)} UTC`;
}

/** Formats "38 seconds" up to two minutes, then "3 minutes". Rounds up. */
export function formatWithin(language: Language, durationMs: number): string {
  const seconds = Math.ceil(durationMs / 1000);
  const { minutes, seconds: format } = formatsOf(language);
  const text = seconds <= 120 ? format.format(seconds) : minutes.format(Math.ceil(seconds / 60));
  return text.replace(' ', language.gap);
}

export function formatMinutes(
  language: Language,
  [least, most]: readonly [number, number],
  form: 'minutes' | 'shortMinutes' = 'minutes',
): string {
  return formatsOf(language)[form].formatRange(least, most).replace(' ', language.gap);
}

export function formatList(language: Language, names: readonly string[]): string {
  return formatsOf(language).names.format(names);
}

export type Values = Readonly<Record<string, string>>;

/** Fills values into a text, each in a `<bdi>`. Throws `RangeError` if a value is missing. */
export function fillIn(text: string, values: Values): Html {
  const parts = text.split(/\{(\w+)\}/);
  return html`${parts.map((part, index) =>
    index % 2 === 0 ? html`${part}` : html`<bdi>${valueNamed(values, part)}</bdi>`,
  )}`;
}

export function fillText(text: string, values: Values): string {
  return text.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => valueNamed(values, name));
}

function valueNamed(values: Values, name: string): string {
  const value = values[name];
  if (value === undefined) throw new RangeError(`nothing to put in for {${name}}`);
  return value;
}
