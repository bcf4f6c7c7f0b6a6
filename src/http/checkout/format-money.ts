import { type Currency, currencies, formatCents } from '../../domain/money.ts';

/** The language of the pages, for `lang` and for the way numbers and times are written. */
export const pageLocale = 'en';

/** How the language writes a currency's symbol where it is short. */
const symbols = Object.fromEntries(currencies.map((currency) => [currency, symbolOf(currency)])) as Readonly<
  Record<Currency, string>
>;

function symbolOf(currency: Currency): string {
  const options = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const;
  const parts = new Intl.NumberFormat(pageLocale, options).formatToParts(0);
  return parts.find(({ type }) => type === 'currency')?.value ?? currency;
}

/**
 * "$1,025.00" from 102500. The symbol is short, so the currency's code stands beside it where it could be mistaken.
 * Written as `Intl.NumberFormat` would write it, which takes ten times as long, and a page has up to two dozen amounts.
 */
export function formatMoney(cents: number, currency: Currency): string {
  const text = formatCents(cents);
  const grouped = cents < 100_000 ? text : text.replace(/\B(?=(?:\d{3})+\.)/g, ',');
  return `${symbols[currency]}${grouped}`;
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
