import type { Currency, UsdRate } from './money.ts';

export interface Rates {
  /** Current rate; throws `conversion_failed` without a fresh one. USD is always one. */
  usdRate(currency: Currency): Promise<UsdRate>;
}
