import { type Currency, currencies, formatCents } from '../../domain/money.ts';
import { type Language, type LanguageCode, languages } from './languages.ts';

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
