import { type Currency, formatUnits } from '../../domain/money.ts';
import type { Payment } from '../../domain/payment.ts';
import { formatMoney as formatIn } from '../checkout/format-money.ts';
import { english } from '../checkout/languages.ts';

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
