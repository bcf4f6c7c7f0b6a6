/**
 * Money is integers only: cents for fiat (number, at most 1,000,000), 10⁻⁶ units for USDC (bigint), basis points
 * for fees. Text with decimals exists only at the edge, parsed and printed here.
 */

/** The API's own limits on an amount. */
export const MINIMUM_AMOUNT_CENTS = 1;
export const MAXIMUM_AMOUNT_CENTS = 1_000_000;

/** 10⁻⁶ USDC units in one cent. */
export const UNITS_PER_CENT = 10_000n;

/** 100 % in basis points. */
export const BASIS_POINTS = 10_000;

/** Currencies a checkout can be priced in, as the specification lists them; the first is the default. */
export const currencies = ['USD', 'EUR', 'CAD', 'INR'] as const;
export type Currency = (typeof currencies)[number];

export function isCurrency(value: unknown): value is Currency {
  return (currencies as readonly unknown[]).includes(value);
}

/** The whole rule of an amount as text, range and decimals, as JSON Schema can say it too. */
const amountPattern = /^(?!0(?:\.00?)?$)(0|[1-9]\d{0,3}|10000(?=(?:\.00?)?$))(?:\.(\d{1,2}))?$/;
export const AMOUNT_PATTERN = amountPattern.source;

/**
 * Cents of an amount as the API takes it: a decimal string or a JSON number with at most two decimals.
 * Null when it is malformed or outside 0.01 to 10000. A number is validated by its shortest decimal text, so that
 * 0.29 is 29 cents and 0.1 + 0.2 (0.30000000000000004) is refused.
 */
export function parseAmountCents(amount: unknown): number | null {
  const text = typeof amount === 'number' ? String(amount) : amount;
  if (typeof text !== 'string') return null;
  const match = amountPattern.exec(text);
  // In JavaScript `$` without the m flag matches only at the very end, so "10\n" is refused here.
  if (match === null) return null;
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
}

/** "12.30" from 1230. */
export function formatCents(cents: number): string {
  const fraction = cents % 100;
  return `${(cents - fraction) / 100}.${fraction < 10 ? '0' : ''}${fraction}`;
}

/** "1.10", or null for null. */
export function formatOptionalCents(cents: number | null): string | null {
  return cents === null ? null : formatCents(cents);
}

/** "12.340000" from 12340000n. */
export function formatUnits(units: bigint): string {
  return `${units / 1_000_000n}.${String(units % 1_000_000n).padStart(6, '0')}`;
}

/** The same of an amount that is negative where the chain took back a final transaction. */
export function formatSigned(units: bigint): string {
  return units < 0n ? `-${formatUnits(-units)}` : formatUnits(units);
}

/** Units of a USDC amount typed by a person ("12.34", at most six decimals); null when malformed or too large. */
export function parseUnits(text: string): bigint | null {
  return parseDecimal(text, 6);
}

/** A decimal text, with at most so many decimals, in units of the last of them; null for anything else. */
export function parseDecimal(text: string, decimals: number): bigint | null {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,18}))?$/.exec(text) ?? [];
  if (whole === undefined || fraction.length > decimals) return null;
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Basis points of a percentage typed by a person ("2.5"); null when malformed, negative or above 100. */
export function parsePercentBasisPoints(text: string): number | null {
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text);
  if (match === null) return null;
  const basisPoints = Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
  return basisPoints <= BASIS_POINTS ? basisPoints : null;
}

/** An exchange rate: how many 10⁻⁸ USD one unit of the currency is worth (1.09 → 109000000n). */
export type UsdRate = bigint;
export const USD_RATE_ONE: UsdRate = 100_000_000n;

/** The rate of a decimal text ("1.0874"); null when it is not a positive decimal. */
export function parseUsdRate(text: string): UsdRate | null {
  const exact = parseDecimal(text, 18) ?? 0n;
  // Cut off after eight decimals.
  return exact / 10n ** 10n || null;
}

/** A rate as a decimal text with eight decimals. */
export function formatRate(rate: UsdRate): string {
  return `${rate / USD_RATE_ONE}.${String(rate % USD_RATE_ONE).padStart(8, '0')}`;
}

/** The USD value in 10⁻⁶ units of an amount in cents of a currency with this rate, rounded down. */
export function usdUnits(amountCents: number, rate: UsdRate): bigint {
  return (BigInt(amountCents) * UNITS_PER_CENT * rate) / USD_RATE_ONE;
}

/** An amount less a tolerance or fee in basis points, rounded down. */
export function lessBasisPoints(units: bigint, basisPoints: number): bigint {
  return (units * BigInt(BASIS_POINTS - basisPoints)) / BigInt(BASIS_POINTS);
}

/** The larger of two amounts. */
export function larger(first: bigint, second: bigint): bigint {
  return first > second ? first : second;
}

/** The smaller of two amounts. */
export function smaller(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}
