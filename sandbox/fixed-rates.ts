import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../src/payment/errors.ts';
import { type Currency, parseUsdRate, type Rates, USD_RATE_ONE, type UsdRate } from '../src/payment/money.ts';
import type { Fault } from '../src/payment/test-payments.ts';

export interface FixedRates extends Rates {
  /** Sets a fault: `down` throws `conversion_failed`, and `slow` answers late. */
  setFault(fault: Fault): void;
}

/** Approximate rates at the time of writing, in USD for one unit. */
const sandboxRates: Readonly<Record<Currency, UsdRate>> = {
  USD: USD_RATE_ONE,
  EUR: parseUsdRate('1.09') as UsdRate,
  CAD: parseUsdRate('0.73') as UsdRate,
  INR: parseUsdRate('0.0119') as UsdRate,
};

const SLOW_ANSWER_MS = 3_000;

export function createFixedRates(slowAnswerMs: number = SLOW_ANSWER_MS): FixedRates {
  let fault: Fault = 'up';
  return {
    async usdRate(currency) {
      const rate = sandboxRates[currency];
      // USD never fails, because it needs no exchange rate.
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
