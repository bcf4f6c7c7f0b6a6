import { expect, it } from 'vitest';
import type { QuoteRequest } from '../provider.ts';
import { signMoonpayUrl } from './moonpay.ts';
import { minimumUsdCentsOf } from './provider-http.ts';

it('signs an address as the official package does', () => {
  // Computed with @moonpay/moonpay-node 0.2.12.
  const url =
    'https://buy.moonpay.com?apiKey=pk_test_key&currencyCode=eth&walletAddress=0xde0b295669a9fd93d5f28d9ec85e40f4cb697bae';
  const signature = 'o1eO2arzL16TstEolGakHHFa33Mb61RCTfqToRWg7PA=';
  expect(signMoonpayUrl(url, 'sk_test_key')).toBe(`${url}&signature=${encodeURIComponent(signature)}`);
});

it('does not refuse a charge of exactly its minimum for the rounding to USD cents', () => {
  const charge = (amountCents: number, usdUnits: bigint): QuoteRequest => ({
    amountCents,
    usdUnits,
    currency: 'EUR',
    customerCountry: null,
  });
  expect(minimumUsdCentsOf(20_000_000n, charge(20_00, 21_748_000n))).toBe(21_74);
  expect(minimumUsdCentsOf(20_000_000n, charge(19_99, 21_737_126n))).toBe(21_75);
});
