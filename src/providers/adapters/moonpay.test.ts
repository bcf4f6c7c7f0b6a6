import { expect, it } from 'vitest';
import { signMoonpayUrl } from './moonpay.ts';

it('signs an address as the official package does', () => {
  // Computed with @moonpay/moonpay-node 0.2.12.
  const url =
    'https://buy.moonpay.com?apiKey=pk_test_key&currencyCode=eth&walletAddress=0xde0b295669a9fd93d5f28d9ec85e40f4cb697bae';
  const signature = 'o1eO2arzL16TstEolGakHHFa33Mb61RCTfqToRWg7PA=';
  expect(signMoonpayUrl(url, 'sk_test_key')).toBe(`${url}&signature=${encodeURIComponent(signature)}`);
});
