import type { Currency, UsdRate } from '../money.ts';

/** Exchange rates to USD. */
export interface Rates {
  /** The rate now; throws `ServiceError` conversion_failed when none is fresh enough. USD is always one. */
  usdRate(currency: Currency): UsdRate | Promise<UsdRate>;
}
