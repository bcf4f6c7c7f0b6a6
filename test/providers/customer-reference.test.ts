/** What providers are told by which they may recognize a returning customer. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import { createKeyedHash } from '../../src/platform/keyed-hash.ts';
import { createCheckoutPages, pagePayment, pageView } from '../support/checkout-pages.ts';
import { someSession, useStage, watchedAdapter } from './stage.ts';

const pages = createCheckoutPages();

/** The reference of a click on a payment's page, by a visitor whose link carries the address or not. */
async function referenceOf(accountId: string, email: string | null, knowsEmail = true): Promise<string> {
  const payment = pagePayment({ email, accountId });
  const id = pages.put(pageView(payment));
  const query = email !== null && knowsEmail ? `?email=${encodeURIComponent(email)}` : '';
  const url = `/pay/${id}/providers/moonpay${query}`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await pages.server.inject({ method: 'POST', url, headers, payload: '' })).statusCode).toBe(303);
  const reference = pages.references.at(-1) as string;
  // It is kept nowhere but in a provider's link, which is emptied with the address.
  if (reference !== id) expect(inspect(pages.view(id), { depth: null })).not.toContain(reference);
  if (query === '') expect(reference).toBe(id);
  return reference;
}

describe('the reference to a customer', () => {
  it('is the same for the same account and address, however that is written, and reveals neither', async () => {
    const reference = await referenceOf('shop', 'Jane.Doe@Zebra.example');
    expect(await referenceOf('shop', 'jane.doe@zebra.example')).toBe(reference);
    expect(reference).toMatch(/^[\w-]{43}$/);
    expect(await referenceOf('another shop', 'jane.doe@zebra.example')).not.toBe(reference);
    expect(await referenceOf('shop', 'john.doe@zebra.example')).not.toBe(reference);
  });

  it('is the id of the payment without an address, and for a visitor who does not know it', async () => {
    await referenceOf('shop', null);
    await referenceOf('shop', 'jane.doe@zebra.example', false);
  });

  it('outlives new secrets as long as the first one is configured, and no longer', () => {
    const lasting = (...secrets: readonly [string, ...string[]]) => {
      const [secret, ...previous] = secrets;
      return createKeyedHash('customers at providers', secret, previous).lasting('shop jane');
    };
    const first = lasting('the first secret');
    expect(lasting('the second', 'the first secret')).toBe(first);
    expect(lasting('the third', 'the second', 'the first secret')).toBe(first);
    expect(lasting('the third', 'the second')).not.toBe(first);
  });
});

describe('a provider', () => {
  const stage = useStage();

  it.each([...providerIds, 'paypal by Banxa'])(
    '%s gets it only if customers prove there who they are, and the email address unless its adapter withholds it',
    async (name) => {
      const [id, route] = name.split(' by ') as [ProviderId, string?];
      const card = { ROUTE: 'banxa', PAYMENT_METHOD: 'debit-credit-card' };
      const values = route === undefined ? {} : { ...stage.valuesOf('banxa'), ...card };
      const { said, adapter } = await watchedAdapter(stage, id, { ...stage.valuesOf(id), ...values });
      const place = route === undefined ? {} : { customerCountry: 'DE' };
      const { redirectUrl } = await adapter.startSession({ ...someSession, ...place });
      const told = [...said, redirectUrl].join();
      expect(told.includes(someSession.customerReference)).toBe(
        ['moonpay', 'paypal', 'transak'].includes(name),
      );
      expect(/ada(\+|%2B)shop/i.test(told)).toBe(adapter.withholdsEmail !== true);
    },
  );
});
