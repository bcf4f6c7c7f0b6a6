import type { Feature } from '../../payment/create-payment.ts';
import { type Currency, formatUnits } from '../../payment/money.ts';
import { english, formatMoney as formatIn, withCode } from '../checkout-layout/languages.ts';
import { type Html, html } from '../design/html.ts';

type Precision = 'minute' | 'second';

export function timeText(atMs: number, timeZone: string, precision: Precision): string {
  return new Date(atMs).toLocaleString('en', {
    timeZone,
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    ...(precision === 'second' ? { second: '2-digit' } : {}),
    hourCycle: 'h23',
    timeZoneName: 'short',
  });
}

export function moment(atMs: number, timeZone: string, precision: Precision = 'minute'): Html {
  return html`<time datetime="${new Date(atMs).toISOString()}">${timeText(atMs, timeZone, precision)}</time>`;
}

const durations = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

export function durationText(ms: number): string {
  const [unit, size] = durations.find(([, size]) => ms >= size) ?? ['s', 1_000];
  return `${Math.floor(ms / size)} ${unit}`;
}

/** Returns "15 min ago", or the date after a week. */
export function ago(atMs: number, nowMs: number, timeZone: string): Html {
  const ms = nowMs - atMs;
  const at = new Date(atMs);
  const recent = ms < 60_000 ? 'now' : `${durationText(ms)} ago`;
  const text = ms < 604_800_000 ? recent : at.toLocaleDateString('en', { timeZone, dateStyle: 'medium' });
  return html`<time datetime="${at.toISOString()}">${text}</time>`;
}

/** Renders a time in UTC, because accounts and operators are in many time zones. */
export function utcTime(atMs: number): Html {
  return moment(atMs, 'UTC');
}

/** Formats 102500 as "$1,025.00". */
export function formatMoney(cents: number, currency: Currency): string {
  return formatIn(english, cents, currency);
}

/** Formats 102500 as "$1,025.00 USD". */
export function moneyText(cents: number, currency: Currency): string {
  return withCode(formatMoney(cents, currency), currency);
}

const ROUNDED_UNITS = { up: 9_999n, nearest: 5_000n, down: 0n };

/** Formats 5123456 as "5.12 USDC" with the exact amount as its title. Use `up` for amounts due, `down` for parts. */
export function formatUsdc(units: bigint, rounding: keyof typeof ROUNDED_UNITS = 'nearest'): Html {
  const exact = formatUnits(units);
  if (exact.endsWith('0000')) return html`${usdcText(units)}`;
  const shown = formatUsdcSum(((units + ROUNDED_UNITS[rounding]) / 10_000n) * 10_000n);
  return html`<data value="${exact}" title="${exact} USDC">${shown}</data>&#160;USDC`;
}

/** Number format for counts: "1,234". */
export const counts = new Intl.NumberFormat('en');
const usdcNumbers = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Formats 1234567890 as "1,234.57", rounded to the cent. */
export function formatUsdcSum(units: number | bigint): string {
  return usdcNumbers.format(Number(units) / 1_000_000);
}

/** Formats 1234567890 as "1,234.57 USDC". */
export function usdcText(units: number | bigint): string {
  return withCode(formatUsdcSum(units), 'USDC');
}

const format = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 });

export function formatPercent(basisPoints: number): string {
  return format.format(basisPoints / 10_000);
}

export function onOff(isOn: boolean): Html {
  return isOn ? html`<span class="badge good">on</span>` : html`<span class="badge">off</span>`;
}

export const featureWords: Readonly<Record<Feature, string>> = {
  card_checkout: 'Card checkout',
  fee_pass_through: 'Fees can be passed on to the customer',
};
