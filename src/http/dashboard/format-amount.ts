import type { Currency } from '../../domain/money.ts';
import { formatMoney as formatIn } from '../checkout/format-money.ts';
import { english } from '../checkout/languages.ts';

/** "$1,025.00" from 102500: the dashboard speaks English. */
export function formatMoney(cents: number, currency: Currency): string {
  return formatIn(english, cents, currency);
}
