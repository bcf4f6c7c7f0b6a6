import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../src/domain/errors.ts';
import { type Currency, parseUsdRate, USD_RATE_ONE, type UsdRate } from '../src/domain/money.ts';
import type { Rates } from '../src/domain/ports/rates.ts';

/** Faults of the rates: `down` answers conversion_failed, `slow` answers late. */
export type RatesFault = 'up' | 'down' | 'slow';

/** Rates that do not move, for the sandbox. */
export interface FixedRates extends Rates {
  setFault(fault: RatesFault): void;
}

/** About what they were when this was written; only the sandbox uses them. */
const SANDBOX_RATES: Readonly<Record<Exclude<Currency, 'USD'>, string>> = {
  EUR: '1.09',
  CAD: '0.73',
  INR: '0.0119',
};

const SLOW_ANSWER_MS = 3_000;

function parseRate(text: string): UsdRate {
  const rate = parseUsdRate(text);
  if (rate === null) throw new RangeError(`not an exchange rate: ${text}`);
  return rate;
}

/** Rates by currency as decimal text (USD per unit); the sandbox's own where none are given. */
export function createFixedRates(
  rates: Readonly<Record<Exclude<Currency, 'USD'>, string>> = SANDBOX_RATES,
  slowAnswerMs: number = SLOW_ANSWER_MS,
): FixedRates {
  const parsed = new Map<Currency, UsdRate>([['USD', USD_RATE_ONE]]);
  for (const currency of ['EUR', 'CAD', 'INR'] as const) parsed.set(currency, parseRate(rates[currency]));
  let fault: RatesFault = 'up';

  return {
    async usdRate(currency) {
      const rate = parsed.get(currency);
      if (rate === undefined) throw new ServiceError('conversion_failed');
      // A dollar needs no exchange rate, so it never fails.
      if (currency === 'USD' || fault === 'up') return rate;
      if (fault === 'slow') return delay(slowAnswerMs, rate);
      throw new ServiceError('conversion_failed', undefined, {
        cause: new Error('the sandbox rates are down'),
      });
    },
    setFault(next) {
      fault = next;
    },
  };
}
