import { expect, it } from 'vitest';
import { asProviderUnavailable, requireSuccess } from './provider-http.ts';

it.each([
  [400, 'MoonPay declined the request. Retry later or use "multi".'],
  [422, 'MoonPay declined the request. Retry later or use "multi".'],
  [500, 'MoonPay did not respond. Retry later or use "multi".'],
  [401, 'MoonPay is currently unavailable. Use another provider or "multi".'],
])('tells a merchant what an answer %i of the provider means', async (status, text) => {
  const outcome = Promise.resolve().then(() => requireSuccess('moonpay', { status, body: {} } as never));
  await expect(asProviderUnavailable('moonpay', outcome)).rejects.toThrow(text);
});
