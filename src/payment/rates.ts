import type { Currency, UsdRate } from './money.ts';

/** Exchange rates. */
export interface Rates {
  /** The rate now; throws `ServiceError` conversion_failed when none is fresh enough. USD is always one. */
  usdRate(currency: Currency): Promise<UsdRate>;
}
