import { createHash } from 'node:crypto';

const MAXIMUM_LINES = 50;
const MAXIMUM_NAME_LENGTH = 200;
const MAXIMUM_CENTS = 1_000_000;
const currencies: ReadonlySet<string> = new Set(['USD', 'EUR', 'CAD', 'INR']);

/** Formats cents, Vendure's minor units, as a decimal amount for the service. */
export const decimal = (cents: number) => (cents / 100).toFixed(2);

/** Returns whether the service accepts this amount. */
export const isPayable = (cents: number, currency: string) =>
  cents > 0 && cents <= MAXIMUM_CENTS && currencies.has(currency);

/** Returns a key that depends only on the parts. */
export const keyOf = (...parts: unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** Line of an order: name, quantity, and amount of the line with discounts and tax. */
export type OrderLine = readonly [name: string | undefined, quantity: number, cents: number];

/** Returns the lines for checkout and receipt; null if they do not add up to the amount, as after a partial payment. */
export function itemsOf(lines: readonly OrderLine[], amount: number) {
  const shown = lines.filter(([, quantity, cents]) => quantity > 0 && cents !== 0);
  const sum = shown.reduce((total, [, , cents]) => total + cents, 0);
  if (sum !== amount || shown.length > MAXIMUM_LINES) return null;
  return shown.map(([name, quantity, cents]) => ({
    name: name?.trim().slice(0, MAXIMUM_NAME_LENGTH) || '-',
    quantity,
    amount: decimal(cents),
  }));
}
