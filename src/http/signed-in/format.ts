import { type Currency, formatUnits } from '../../domain/money.ts';
import type { Payment } from '../../domain/payment.ts';
import { english, formatMoney as formatIn } from '../checkout/languages.ts';
import { type Html, html } from '../design/html.ts';

const formats = new Map<string, Intl.DateTimeFormat>();

/** A moment in a time zone, for people and for machines. */
export function moment(atMs: number, timeZone: string): Html {
  const at = new Date(atMs);
  return html`<time datetime="${at.toISOString()}">${formatOf(timeZone).format(at)}</time>`;
}

/** There are some 400 zones, and a format takes longer to make than to use. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  });
  formats.set(timeZone, format);
  return format;
}

/** "$1,025.00" from 102500: the dashboard speaks English. */
export function formatMoney(cents: number, currency: Currency): string {
  return formatIn(english, cents, currency);
}

/** "5.00" from 5000000, "5.25" and "5.123456" as they are: at least two decimals, and none that says nothing. */
export function formatUsdc(units: bigint): string {
  return formatUnits(units).replace(/(\.\d\d\d*?)0+$/, '$1');
}

/** What an amount of USDC is about worth in the payment's currency, at the rate of its creation: "$5.00". */
export function formatAbout(
  { amountCents, usdUnits, currency }: Pick<Payment, 'amountCents' | 'usdUnits' | 'currency'>,
  units: bigint,
): string {
  if (usdUnits === 0n) return formatMoney(0, currency);
  return formatMoney(Number((units * BigInt(amountCents) + usdUnits / 2n) / usdUnits), currency);
}

const format = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 });

/** Basis points as people read them: "2.5%". */
export function formatPercent(basisPoints: number): string {
  return format.format(basisPoints / 10_000);
}
