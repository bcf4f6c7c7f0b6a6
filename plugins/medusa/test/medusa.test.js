// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** Tests the packed plugin in Medusa with the sandbox of the service at CARD_CHECKOUT_PROGRAM. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createClient } from '@card-checkout/sdk';
import { startPlatform, until } from './platform.js';

const PROVIDER = 'pp_card-checkout_default';
/** The follower runs once a minute. */
const FOLLOWED_MS = 100_000;

let platform;
let client;
/** Everything that the browser was ever answered. */
let answers = '';

before(async () => {
  platform = await startPlatform();
  client = createClient({ apiKey: platform.apiKey, baseUrl: platform.service.url });
});
after(() => platform?.stop());

async function request(path, body, headers) {
  const response = await fetch(platform.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : null };
}

async function tryStore(path, body) {
  const answer = await request(`/store${path}`, body, { 'x-publishable-api-key': platform.seeded.key });
  answers += answer.text;
  return answer;
}

async function store(path, body) {
  const { status, text, json } = await tryStore(path, body);
  assert.equal(status, 200, `${path}: ${text}`);
  return json;
}

async function admin(path, body) {
  const authorization = `Basic ${Buffer.from(`${platform.seeded.secret}:`).toString('base64')}`;
  const { status, text, json } = await request(`/admin${path}`, body, { authorization });
  assert.equal(status, 200, `${path}: ${text}`);
  return json;
}

/** A cart of two packets of tea and a parcel: 29.90 EUR. */
async function createCart() {
  const { region, variant, shipping } = platform.seeded;
  const { cart } = await store('/carts', {
    region_id: region,
    email: 'ada@example.com',
    shipping_address: {
      first_name: 'Ada',
      last_name: 'L',
      address_1: 'Weg 1',
      city: 'Ulm',
      postal_code: '89073',
      country_code: 'de',
    },
    items: [{ variant_id: variant, quantity: 2 }],
  });
  await store(`/carts/${cart.id}/shipping-methods`, { option_id: shipping });
  return cart.id;
}

/** What the checkout page of a storefront does: returns the payment's id. */
async function beginPayment(cart) {
  const { payment_collection: collection } = await store('/payment-collections', { cart_id: cart });
  const path = `/payment-collections/${collection.id}/payment-sessions`;
  const { payment_collection: begun } = await store(path, { provider_id: PROVIDER });
  const [session] = begun.payment_sessions;
  return { collection: collection.id, session, payment: session.data.payment_id };
}

async function beginCheckout() {
  const cart = await createCart();
  return { cart, ...(await beginPayment(cart)) };
}

const complete = (cart) => store(`/carts/${cart}/complete`, {});
const isPaid = (payment) =>
  until('the payment', async () => (await client.payments.get(payment)).status === 'paid');

async function isNotCompleted(cart) {
  const { status, json } = await tryStore(`/carts/${cart}/complete`, {});
  assert.deepEqual([status, json.type], [400, 'not_allowed']);
  assert.equal(await orderOf(cart), undefined);
}

/** The order of a cart, as the database has it. */
async function orderOf(cart) {
  const rows = await platform.query(
    `SELECT order_id FROM order_cart WHERE cart_id = '${cart}' AND deleted_at IS NULL`,
  );
  assert.ok(rows.length <= 1);
  return rows[0]?.order_id;
}

const orderMade = (cart, boundMs) => until(`the order of ${cart}`, () => orderOf(cart), boundMs);

async function told(words) {
  const { notifications } = await admin('/notifications?limit=100&channel=feed');
  return notifications.filter(({ data }) =>
    words.every((word) => `${data.title} ${data.description}`.includes(word)),
  );
}

const isTold = (...words) =>
  until(`a notification of ${words}`, async () => (await told(words)).length > 0, FOLLOWED_MS);

test('creates a checkout with the session, the cart and the lines of the customer, and no order before it is paid', async () => {
  const { cart, session, payment } = await beginCheckout();
  assert.deepEqual(Object.keys(session.data).sort(), ['checkout_url', 'payment_id', 'session_id']);
  const created = await client.payments.get(payment);
  assert.equal(created.amount, '29.90');
  assert.equal(created.currency, 'EUR');
  assert.equal(created.reference, session.id);
  assert.deepEqual(created.metadata, { cart });
  assert.equal(created.email, 'ada@example.com');
  assert.equal(created.return_url, `${platform.url}/return?cart=${cart}`);
  assert.deepEqual(created.items, [
    { name: 'Tea, 100 g', quantity: 2, amount: '25.00' },
    { name: 'Parcel', quantity: 1, amount: '4.90' },
  ]);
  await isNotCompleted(cart);
});

test('completes the order by the webhook, without a browser, and the returning customer gets the same order', async () => {
  const { cart, payment } = await beginCheckout();
  await platform.pay(payment);
  const id = await orderMade(cart);
  await until('the answer', () => platform.front.statuses.at(-1) === 204);
  const { type, order } = await complete(cart);
  assert.deepEqual([type, order.id], ['order', id]);
  const { order: seen } = await admin(`/orders/${id}?fields=payment_status,*payment_collections.payments`);
  assert.equal(seen.payment_status, 'captured');
  const [{ payments }] = seen.payment_collections;
  assert.deepEqual(
    payments.map(({ data }) => data.payment_id),
    [payment],
  );
});

test('completes the order of a returning customer whose webhook is lost, by asking the service', async () => {
  platform.front.isLost = true;
  const { cart, payment } = await beginCheckout();
  await platform.pay(payment);
  await isPaid(payment);
  const { type } = await complete(cart);
  platform.front.isLost = false;
  assert.equal(type, 'order');
});

test('finds a payment whose webhook is lost and whose customer does not come back', async () => {
  platform.front.isLost = true;
  const { cart, payment } = await beginCheckout();
  await platform.pay(payment);
  await isPaid(payment);
  assert.equal(await orderOf(cart), undefined);
  await orderMade(cart, FOLLOWED_MS);
  platform.front.isLost = false;
});

test('refuses forged, altered and old webhooks, and believes a genuine one only as far as the service confirms it', async () => {
  const { cart, payment } = await beginCheckout();
  const now = Math.floor(Date.now() / 1000);
  const sign = (body, seconds, secret) =>
    `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`evt_1.${seconds}.${body}`)
      .digest('base64')}`;
  async function send(body, { seconds = now, signature = sign(body, seconds, platform.webhookSecret) } = {}) {
    const headers = {
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(seconds),
    };
    const options = { method: 'POST', body, headers: { ...headers, 'webhook-signature': signature } };
    return (await fetch(`${platform.url}/hooks/card-checkout`, options)).status;
  }
  const body = JSON.stringify({ event: 'payment.paid', paymentId: payment, status: 'paid', amount: '29.90' });
  const otherSecret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  assert.equal(await send(body, { signature: sign(body, now, otherSecret) }), 401);
  assert.equal(await send(`${body} `, { signature: sign(body, now, platform.webhookSecret) }), 401);
  assert.equal(await send(body, { seconds: now - 3_600 }), 401);
  assert.equal(await send(body, { signature: '' }), 401);
  assert.equal(await send(body), 204);
  assert.equal(await orderOf(cart), undefined);
  const unknown = JSON.stringify({
    event: 'payment.paid',
    paymentId: '00000000-0000-7000-8000-000000000000',
  });
  assert.equal(await send(unknown), 204);
});

test('cancels the checkout of a cart that has another total, and the next one pays the order', async () => {
  const { cart, payment } = await beginCheckout();
  await store(`/carts/${cart}/line-items`, { variant_id: platform.seeded.variant, quantity: 1 });
  assert.equal((await client.payments.get(payment)).status, 'canceled');
  const next = await beginPayment(cart);
  assert.notEqual(next.payment, payment);
  assert.equal((await client.payments.get(next.payment)).amount, '42.40');
  await platform.pay(next.payment);
  await orderMade(cart);
});

test('refuses to change a cart for which money has arrived, and shows its order as paid in full', async () => {
  platform.front.isLost = true;
  const { cart, payment } = await beginCheckout();
  await platform.pay(payment);
  await isPaid(payment);
  const refused = await tryStore(`/carts/${cart}/line-items`, {
    variant_id: platform.seeded.variant,
    quantity: 1,
  });
  platform.front.isLost = false;
  assert.notEqual(refused.status, 200);
  const { type, order } = await complete(cart);
  assert.deepEqual([type, order.total], ['order', 29.9]);
  const status = async () => (await admin(`/orders/${order.id}?fields=payment_status`)).order.payment_status;
  await until('the order to be paid in full', async () => (await status()) === 'captured', FOLLOWED_MS);
});

test('makes no order of a cart that was changed in spite of the refusal, and tells of the money', async () => {
  platform.front.isLost = true;
  const { cart, payment } = await beginCheckout();
  await platform.pay(payment);
  await isPaid(payment);
  const change = () =>
    tryStore(`/carts/${cart}/line-items`, { variant_id: platform.seeded.variant, quantity: 3 });
  // Medusa has stored the new total by the second attempt, and so finds nothing to change in its payment.
  await until('the change', async () => (await change()).status === 200);
  platform.front.isLost = false;
  await isTold('Money without an order', payment, cart);
  await isNotCompleted(cart);
});

/** Begins a checkout whose customer is at a provider that delivers late. `paying` ends with the delivery. */
async function goToProvider() {
  await platform.fault('--late');
  const { cart, payment } = await beginCheckout();
  const paying = platform.pay(payment, '--provider', 'moonpay');
  await until(
    'the session',
    async () => (await client.payments.get(payment, { expand: 'sessions' })).sessions.length > 0,
  );
  return { cart, payment, paying };
}

test('takes the money of a customer who is at the provider while the page begins the payment again, once', async () => {
  const { cart, payment, paying } = await goToProvider();
  const again = await beginPayment(cart);
  await paying;
  await platform.fault('--up');
  await orderMade(cart);
  const { order } = await complete(cart);
  const { order: seen } = await admin(`/orders/${order.id}?fields=*payment_collections.payments`);
  assert.deepEqual(
    seen.payment_collections[0].payments.map(({ data }) => data.payment_id),
    [payment],
  );
  await platform.pay(again.payment);
  await isTold('Money without an order', again.payment, `order ${order.display_id}`);
});

test('tells of late money for another total, and completes nothing with it', async () => {
  const { cart, payment, paying } = await goToProvider();
  await store(`/carts/${cart}/line-items`, { variant_id: platform.seeded.variant, quantity: 1 });
  await beginPayment(cart);
  await paying;
  await platform.fault('--up');
  await isTold('Money without an order', payment, cart);
  await isNotCompleted(cart);
});

test('tells once of a payment over which too much arrives', async () => {
  const { cart, payment } = await beginCheckout();
  await platform.pay(payment, '--usdc', '90');
  await orderMade(cart);
  await isTold('payment.overpaid', payment);
  assert.equal((await told(['payment.overpaid', payment])).length, 1);
});

test('opens a refund of an amount of the charge, which a person confirms', async () => {
  const { cart, payment } = await beginCheckout();
  await platform.pay(payment);
  const id = await orderMade(cart);
  const { order } = await admin(`/orders/${id}?fields=*payment_collections.payments`);
  const [{ id: booked }] = order.payment_collections[0].payments;
  await admin(`/payments/${booked}/refund`, { amount: 14.95 });
  const { refunds } = await client.refunds.list(payment);
  assert.deepEqual(
    refunds.map(({ status }) => status),
    ['awaiting_address'],
  );
  const { value_coin: received } = await client.payments.get(payment);
  assert.ok(Math.abs(Number(refunds[0].amount) - Number(received) / 2) < 0.002, refunds[0].amount);
  const [opened] = await told(['A refund is open', payment]);
  const [link] = opened.data.description.match(/http\S+\/refund\/[^\s,]+/);
  assert.equal((await fetch(link)).status, 200);
  answers += (
    await tryStore(`/orders/${id}?fields=*payment_collections.payments,*payment_collections.payments.data`)
  ).text;
  answers += (await tryStore(`/orders/${id}`)).text;
  assert.ok(!answers.includes(link));

  const [{ refund_id: refund }] = refunds;
  const destination = '0x52908400098527886E0F7030069857D2E4169EE7';
  await fetch(link, { method: 'POST', body: new URLSearchParams({ address: destination }) });
  await isTold('refund.address_named', payment);
  assert.equal((await client.refunds.get(refund)).status, 'awaiting_confirmation');
  await client.refunds.confirm(refund, destination);
  await platform.refund(refund);
  await isTold('refund.paid', payment);
});

test('gets another checkout for a session whose amount a program changes', async () => {
  const { session, payment } = await beginCheckout();
  const change = async (amount) =>
    /CHANGED (.*)/.exec(
      (await platform.medusa(['exec', './change-amount.js', session.id, amount])).stdout,
    )[1];
  const next = await change('31.50');
  assert.equal((await client.payments.get(payment)).status, 'canceled');
  const { amount, reference, status } = await client.payments.get(next);
  assert.deepEqual([amount, reference, status], ['31.50', session.id, 'unpaid']);
  assert.equal(await change('31.5'), next);
});

test('asks about its payments when the event log no longer has the events after its position', async () => {
  platform.front.isLost = true;
  const { cart, payment } = await beginCheckout();
  await platform.query("UPDATE card_checkout_cursor SET event_number = '9000000000000'");
  await platform.pay(payment);
  await orderMade(cart, FOLLOWED_MS);
  platform.front.isLost = false;
});

test('tells of a payment that cannot be booked after some attempts, and processes the next event', async () => {
  platform.front.isLost = true;
  const { session, payment } = await beginCheckout();
  await platform.query(
    `UPDATE payment_session SET provider_id = 'pp_card-checkout_gone' WHERE id = '${session.id}'`,
  );
  await platform.pay(payment);
  await isPaid(payment);
  const other = await beginCheckout();
  await platform.pay(other.payment);
  const attempts = async () =>
    (await platform.query('SELECT attempts FROM card_checkout_cursor'))[0].attempts;
  await until('a failed attempt', async () => (await attempts()) > 0, FOLLOWED_MS);
  await platform.query('UPDATE card_checkout_cursor SET attempts = 4');
  await isTold('A payment was not processed', payment);
  await orderMade(other.cart, FOLLOWED_MS);
  platform.front.isLost = false;
});

test('tells of a paid order that Medusa cannot make, and of the one refund that it opens', async () => {
  const { cart, payment } = await beginCheckout();
  await platform.query(
    `UPDATE cart_shipping_method SET shipping_option_id = 'so_none' WHERE cart_id = '${cart}'`,
  );
  await platform.pay(payment);
  await isTold('Money without an order', payment, 'has refunded');
  await isTold('A refund is open', payment);
  assert.equal(await orderOf(cart), undefined);
  const other = await beginCheckout();
  await platform.pay(other.payment);
  await orderMade(other.cart, FOLLOWED_MS);
  assert.equal((await client.refunds.list(payment)).refunds.length, 1);
});

test('refuses to start without access to the shop, and names what to add', async () => {
  await assert.rejects(
    platform.medusa(['start'], { DEPENDENCIES: 'none', PORT: '0' }),
    ({ code, killed, stdout, stderr }) => {
      assert.ok(!killed && code !== 0, `ended with ${code}`);
      assert.match(
        stdout + stderr,
        /no access to cardCheckout, query, notification.* '@medusajs\/medusa\/payment', add dependencies: \['cardCheckout', 'query', 'notification'\]/,
      );
      return true;
    },
  );
});

test('shows no key, secret or token to the browser, and stores none', async () => {
  const stored = await platform.query(
    'SELECT data::text FROM payment_session UNION ALL SELECT data::text FROM payment UNION ALL SELECT row_to_json(c)::text FROM card_checkout_payment c',
  );
  assert.ok(stored.length > 10);
  for (const text of [answers, JSON.stringify(stored), platform.readLog()]) {
    assert.ok(!text.includes(platform.apiKey));
    assert.ok(!text.includes(platform.webhookSecret));
    assert.ok(!/ipn_|service_live_|whsec_/.test(text));
  }
});
