/**
 * Parses and formats decimal amounts. Inside the service, amounts are integers: cents for fiat (number), 10⁻⁶ units for
 * USDC (bigint), and basis points for fees.
 */

export const MINIMUM_AMOUNT_CENTS = 1;
export const MAXIMUM_AMOUNT_CENTS = 1_000_000;

/** Number of 10⁻⁶ USDC units in one cent. */
export const UNITS_PER_CENT = 10_000n;

/** Number of basis points in 100 %. */
export const BASIS_POINTS = 10_000;

/** Currencies of a checkout, in the specification's order. The first currency is the default. */
export const currencies = ['USD', 'EUR', 'CAD', 'INR'] as const;
export type Currency = (typeof currencies)[number];

export function isCurrency(value: unknown): value is Currency {
  return (currencies as readonly unknown[]).includes(value);
}

/**
 * Regular expression for an amount from 0.01 to 10000, also used in JSON Schema. It has no lookahead, which some
 * languages lack. Without the `m` flag, `$` refuses "10\n".
 */
const amountPattern = /^(?:0\.(?:0[1-9]|[1-9]\d?)|[1-9]\d{0,3}(?:\.\d{1,2})?|10000(?:\.00?)?)$/;
export const AMOUNT_PATTERN = amountPattern.source;

/**
 * Parses an API amount from 0.01 to 10000 as cents; null otherwise. A number is parsed from its shortest decimal text:
 * 0.29 is 29 cents, and 0.1 + 0.2 (0.30000000000000004) is refused.
 */
export function parseAmountCents(amount: unknown): number | null {
  const text = typeof amount === 'number' ? String(amount) : amount;
  if (typeof text !== 'string') return null;
  if (!amountPattern.test(text)) return null;
  const [whole, fraction = ''] = text.split('.');
  return Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
}

/** Formats cents, for example 1230 as "12.30". */
export function formatCents(cents: number): string {
  const fraction = cents % 100;
  return `${(cents - fraction) / 100}.${fraction < 10 ? '0' : ''}${fraction}`;
}

export function formatSignedCents(cents: number): string {
  return cents < 0 ? `-${formatCents(-cents)}` : formatCents(cents);
}

export function formatOptionalCents(cents: number | null): string | null {
  return cents === null ? null : formatCents(cents);
}

/** Formats units, for example 12340000n as "12.340000". */
export function formatUnits(units: bigint): string {
  return `${units / 1_000_000n}.${String(units % 1_000_000n).padStart(6, '0')}`;
}

/** Formats units that may be negative, as after a reorganization that reversed a final transaction. */
export function formatSigned(units: bigint): string {
  return units < 0n ? `-${formatUnits(-units)}` : formatUnits(units);
}

/** Parses a typed USDC amount ("12.34", at most six decimals) as units; null if malformed or too large. */
export function parseUnits(text: string): bigint | null {
  return parseDecimal(text, 6);
}

/** Parses a decimal as units of its last place; null above nine digits before the point or `decimals` after it. */
export function parseDecimal(text: string, decimals: number): bigint | null {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,18}))?$/.exec(text) ?? [];
  if (whole === undefined || fraction.length > decimals) return null;
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Parses a typed percentage ("2.5") as basis points; null if malformed, negative or above 100. */
export function parsePercentBasisPoints(text: string): number | null {
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text);
  if (match === null) return null;
  const basisPoints = Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
  return basisPoints <= BASIS_POINTS ? basisPoints : null;
}

/** Exchange rate: 10⁻⁸ USD for one unit of the currency (1.09 → 109000000n). */
export type UsdRate = bigint;
export const USD_RATE_ONE: UsdRate = 100_000_000n;

export interface Rates {
  /** Returns the current rate, which is always one for USD. Throws `conversion_failed` if no fresh rate is known. */
  usdRate(currency: Currency): Promise<UsdRate>;
}

/** Parses a decimal rate ("1.0874"); null if malformed or below 10⁻⁸. */
export function parseUsdRate(text: string): UsdRate | null {
  const exact = parseDecimal(text, 18) ?? 0n;
  // Truncates after eight decimals.
  return exact / 10n ** 10n || null;
}

export function formatRate(rate: UsdRate): string {
  return `${rate / USD_RATE_ONE}.${String(rate % USD_RATE_ONE).padStart(8, '0')}`;
}

/** Converts cents to their USD value in 10⁻⁶ units at this rate, rounded down. */
export function usdUnits(amountCents: number, rate: UsdRate): bigint {
  return (BigInt(amountCents) * UNITS_PER_CENT * rate) / USD_RATE_ONE;
}

/** Subtracts a tolerance or fee in basis points, rounding down. */
export function lessBasisPoints(units: bigint, basisPoints: number): bigint {
  return (units * BigInt(BASIS_POINTS - basisPoints)) / BigInt(BASIS_POINTS);
}

export function larger(first: bigint, second: bigint): bigint {
  return first > second ? first : second;
}

export function smaller(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}
