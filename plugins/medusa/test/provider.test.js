// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** Tests the provider against a stub of what Medusa gives it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import CardCheckoutProvider from '../src/providers/card-checkout/service.js';

const session = {
  id: 'payses_1',
  provider_id: 'pp_card-checkout_default',
  amount: 29.9,
  currency_code: 'eur',
  authorized_at: null,
};
const collection = { id: 'paycol_1', payment_sessions: [session], payments: [] };

/** The provider with ten replaced checkouts and the session's own, the last. `asked` are the payments it reads. */
function withPayments(statusOf, { settling = new Map(), cart = {} } = {}) {
  const asked = [];
  async function get(payment_id) {
    asked.push(payment_id);
    return { payment_id, checkout_url: '', status: statusOf(payment_id), amount: '29.90', currency: 'EUR' };
  }
  const query = {
    graph: async ({ entity }) => ({
      data: [
        entity === 'payment_session'
          ? { ...session, payment_collection: collection }
          : { ...collection, cart: { total: 29.9, currency_code: 'eur', ...cart } },
      ],
    }),
  };
  const paymentsOf = async () => Array.from({ length: 10 }, (_, index) => `payment ${11 - index}`);
  const cardCheckout = { client: { payments: { get } }, settling, paymentsOf };
  const provider = new CardCheckoutProvider({ cardCheckout, query, logger: console });
  const authorize = () =>
    provider.authorizePayment({ data: { session_id: session.id, payment_id: 'payment 11' } });
  return { asked, authorize };
}

test('asks about one payment at each attempt to complete a cart that was begun again many times', async () => {
  for (const [status, expected] of [
    ['unpaid', 'requires_more'],
    ['canceled', 'canceled'],
    ['paid', 'captured'],
  ]) {
    const { asked, authorize } = withPayments(() => status);
    assert.equal((await authorize()).status, expected);
    assert.deepEqual(asked, ['payment 11']);
  }
});

test('asks about the replaced payment that was found paid', async () => {
  const statusOf = (id) => (id === 'payment 3' ? 'paid' : 'unpaid');
  const { asked, authorize } = withPayments(statusOf, { settling: new Map([[session.id, 'payment 3']]) });
  const { status, data } = await authorize();
  assert.deepEqual([status, data.payment_id, asked], ['captured', 'payment 3', ['payment 3']]);
});

test('authorizes no payment for a cart that has another total or currency than its session', async () => {
  for (const cart of [{ total: 72.4 }, { currency_code: 'usd' }]) {
    const { authorize } = withPayments(() => 'paid', { cart });
    assert.equal((await authorize()).status, 'requires_more');
  }
});
