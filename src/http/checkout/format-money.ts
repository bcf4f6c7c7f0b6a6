import type { Currency } from '../../domain/money.ts';

/** The language of the pages, for `lang` and for the way numbers and times are written. */
export const pageLocale = 'en';

const formats = new Map<Currency, Intl.NumberFormat>();

/** "$25.00" from 2500. The symbol is short, so the currency's code stands beside it where it could be mistaken. */
export function formatMoney(cents: number, currency: Currency): string {
  let format = formats.get(currency);
  if (format === undefined) {
    format = new Intl.NumberFormat(pageLocale, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
    });
    formats.set(currency, format);
  }
  return format.format(cents / 100);
}

const usdcFormat = new Intl.NumberFormat(pageLocale, { minimumFractionDigits: 2 });

/** "4.20 USDC" from 10⁻⁶ units, to the cent. What is missing is rounded up, so that sending it suffices. */
export function formatUsdc(units: bigint, rounding: 'up' | 'down'): string {
  const cents = (units + (rounding === 'up' ? 9_999n : 0n)) / 10_000n;
  return `${usdcFormat.format(Number(cents) / 100)} USDC`;
}

const timeFormat = new Intl.DateTimeFormat(pageLocale, {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** "November 21, 2026 at 1:38 AM UTC"; the page's script writes it in the customer's own zone. */
export function formatTime(timeMs: number): string {
  return `${timeFormat.format(timeMs)} UTC`;
}

const orList = new Intl.ListFormat(pageLocale, { type: 'disjunction' });

/** "MoonPay or Wert". */
export function formatAlternatives(names: readonly string[]): string {
  return orList.format(names);
}
