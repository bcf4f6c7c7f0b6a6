// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** Tests the plugin in a real Vendure with the sandbox of the service at CARD_CHECKOUT_PROGRAM. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient } from '@card-checkout/sdk';
import { Webhook } from 'standardwebhooks';
import { connect, startPlatform, until } from './platform.mjs';

let platform;
let client;
let admin;
/** Everything that browsers were ever answered. */
const answers = [];

before(async () => {
  platform = await startPlatform();
  client = createClient({ apiKey: platform.apiKey, baseUrl: platform.service.url });
  admin = platform.admin;
});
after(() => platform?.stop());

/** A customer with an order in ArrangingPayment, over the goods and shipping of 4.95. */
async function arrange({ quantity = 2, channel, language } = {}) {
  const shop = connect(platform.url, 'shop-api', { channel, language });
  answers.push(shop.answers);
  const { variant, shipping } = platform.seeded;
  const add = (count) =>
    shop.send(
      `mutation ($variant: ID!, $count: Int!) { addItemToOrder(productVariantId: $variant, quantity: $count) {
        __typename ... on ErrorResult { message } } }`,
      { variant, count },
    );
  await add(quantity);
  await shop.send(
    `mutation ($shipping: [ID!]!) {
      setCustomerForOrder(input: { firstName: "Ada", lastName: "L", emailAddress: "ada@example.com" }) { __typename }
      setOrderShippingAddress(input: { streetLine1: "1", city: "B", postalCode: "1", countryCode: "DE" }) { __typename }
      setOrderShippingMethod(shippingMethodId: $shipping) { __typename ... on ErrorResult { message } } }`,
    { shipping: [shipping] },
  );
  const move = async (state) => {
    const { transitionOrderToState: order } = await shop.send(
      `mutation ($state: String!) { transitionOrderToState(state: $state) {
        ... on Order { id code state totalWithTax currencyCode } ... on OrderStateTransitionError { transitionError } } }`,
      { state },
    );
    assert.equal(order.state, state, JSON.stringify(order));
    return order;
  };
  const order = await move('ArrangingPayment');
  return { ...shop, order, move, add };
}

async function createCheckout({ send }) {
  const { createCardCheckout: result } = await send(
    'mutation { createCardCheckout { ... on CardCheckout { url } ... on CardCheckoutError { errorCode message } } }',
  );
  return { ...result, id: result.url?.match(/\/pay\/([0-9a-f-]{36})/)?.[1] };
}

/** What the admin sees of an order. */
async function readOrder(id) {
  const { order } = await admin(
    `query ($id: ID!) { order(id: $id) { id code state totalWithTax
      payments { id amount state method transactionId metadata refunds { id state total transactionId metadata } }
      history(options: { filter: { type: { eq: "ORDER_NOTE" } } }) { items { isPublic data } } } }`,
    { id },
  );
  const notes = order.history.items.map(({ data }) => data.note);
  assert.ok(order.history.items.every(({ isPublic }) => !isPublic));
  return { ...order, notes };
}

const inState = (id, state) =>
  until(`order ${id} in ${state}`, async () => {
    const order = await readOrder(id);
    return order.state === state && order;
  });

/** Runs the follower as its schedule does. */
async function follow() {
  const lastRun = async () =>
    (await admin('{ scheduledTasks { id lastExecutedAt isRunning } }')).scheduledTasks.find(
      ({ id }) => id === 'card-checkout-follow-events',
    );
  const { lastExecutedAt } = await lastRun();
  await admin('mutation { runScheduledTask(id: "card-checkout-follow-events") { success } }');
  await until('a run of the follower', async () => {
    const run = await lastRun();
    return run.lastExecutedAt !== lastExecutedAt && !run.isRunning;
  });
}

/** An event appears up to a second after its change. */
const followUntil = (what, check) =>
  until(what, async () => {
    await follow();
    return check();
  });

const paid = (id) =>
  until(`payment ${id} paid`, async () => (await client.payments.get(id)).status === 'paid');

async function withLostWebhooks(work) {
  platform.front.isLost = true;
  await work().finally(() => {
    platform.front.isLost = false;
  });
}

/** Lets the customers pay while Vendure hears nothing of it: neither by webhook nor by its follower. */
async function payUnheard(ids, meanwhile) {
  const enable = (enabled) =>
    admin(
      'mutation ($enabled: Boolean!) { updateScheduledTask(input: { id: "card-checkout-follow-events", enabled: $enabled }) { id } }',
      { enabled },
    );
  await withLostWebhooks(async () => {
    await enable(false);
    for (const id of ids) await platform.pay(id);
    for (const id of ids) await paid(id);
    await meanwhile().finally(() => enable(true));
    await followUntil('all booked or told', async () => {
      const open = await platform.query('SELECT "checkoutId" FROM card_checkout WHERE state = \'open\'');
      return !open.some(({ checkoutId }) => ids.includes(checkoutId));
    });
  });
}

const postWebhook = (body, headers) =>
  fetch(`${platform.url}/card-checkout/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

function signed(secret, body, at = new Date()) {
  const id = 'evt_1';
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = new Webhook(secret).sign(id, at, body);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
}

test('creates one checkout of an order, with what the service has to know, and settles it by webhook', async () => {
  const customer = await arrange();
  const { order } = customer;
  const [first, second] = await Promise.all([createCheckout(customer), createCheckout(customer)]);
  assert.ok(first.id, JSON.stringify(first));
  assert.equal(first.url, second.url);
  assert.equal((await createCheckout(customer)).url, first.url);
  const payment = await client.payments.get(first.id);
  assert.equal(payment.reference, order.code);
  assert.equal(payment.email, 'ada@example.com');
  assert.equal(payment.amount, (order.totalWithTax / 100).toFixed(2));
  assert.equal(payment.return_url, `${platform.url}/__default_channel__/en/confirmation/${order.code}`);
  assert.deepEqual(
    payment.items.map(({ name, quantity }) => [name, quantity]),
    [
      ['Tea, 100 g', 2],
      ['Parcel', 1],
    ],
  );
  assert.equal((await client.payments.list({ reference: order.code })).payments.length, 1);
  await platform.pay(first.id);
  const { payments, notes } = await inState(order.id, 'PaymentSettled');
  assert.deepEqual(
    payments.map(({ amount, state, method, transactionId }) => [amount, state, method, transactionId]),
    [[order.totalWithTax, 'Settled', 'card', first.id]],
  );
  assert.deepEqual(notes, []);
  assert.equal(platform.front.statuses.at(-1), 204);
  const { orderByCode } = await customer.send(
    `{ orderByCode(code: "${order.code}") { state payments { transactionId metadata refunds { metadata } } } }`,
  );
  assert.equal(orderByCode.state, 'PaymentSettled');
});

test('lets no browser settle an order', async () => {
  const customer = await arrange();
  const { id } = await createCheckout(customer);
  const metadata = { transactionId: id, amount: customer.order.totalWithTax };
  const input = { method: 'card', metadata };
  await assert.rejects(
    customer.send(
      'mutation ($input: PaymentInput!) { addPaymentToOrder(input: $input) { __typename ... on ErrorResult { message } } }',
      { input },
    ),
    /createCardCheckout/,
  );
  const { state, payments } = await readOrder(customer.order.id);
  assert.deepEqual([state, payments], ['ArrangingPayment', []]);
});

test('refuses forged, altered and old webhooks, and believes the service rather than a signed one', async () => {
  const customer = await arrange();
  const { id } = await createCheckout(customer);
  const body = JSON.stringify({ event: 'payment.paid', id, paymentId: id, status: 'paid' });
  const forged = signed(`whsec_${Buffer.alloc(32, 1).toString('base64')}`, body);
  const genuine = signed(platform.webhookSecret, body);
  const old = signed(platform.webhookSecret, body, new Date(Date.now() - 600_000));
  const answered = [];
  for (const [text, headers] of [
    [body, {}],
    [undefined, genuine],
    [body, forged],
    [`${body} `, genuine],
    [body, old],
    [body, genuine],
    [JSON.stringify({ paymentId: '00000000-0000-7000-8000-000000000000' }), null],
  ])
    answered.push((await postWebhook(text, headers ?? signed(platform.webhookSecret, text))).status);
  assert.deepEqual(answered, [401, 401, 401, 401, 401, 204, 204]);
  const { state, payments } = await readOrder(customer.order.id);
  assert.deepEqual([state, payments], ['ArrangingPayment', []]);
});

test('finds by the event log what a lost webhook did not tell', async () => {
  const customer = await arrange();
  const { id } = await createCheckout(customer);
  await withLostWebhooks(async () => {
    await platform.pay(id);
    await paid(id);
    await followUntil(
      'the settled order',
      async () => (await readOrder(customer.order.id)).state === 'PaymentSettled',
    );
  });
});

test('books a payment once, however many webhooks and followers tell it at once', async () => {
  const customer = await arrange();
  const { id } = await createCheckout(customer);
  await withLostWebhooks(async () => {
    await platform.pay(id);
    await until('the webhook', () => platform.front.kept.at(-1).body.includes(id));
  });
  const { body, headers } = platform.front.kept.at(-1);
  const sent = await Promise.all([follow(), ...Array.from({ length: 5 }, () => postWebhook(body, headers))]);
  assert.deepEqual(
    sent.slice(1).map(({ status }) => status),
    [204, 204, 204, 204, 204],
  );
  const { payments, notes } = await inState(customer.order.id, 'PaymentSettled');
  assert.deepEqual([payments.length, notes], [1, []]);
});

test('cancels the checkout of an order that changed, and creates another one', async () => {
  const customer = await arrange();
  const first = await createCheckout(customer);
  await customer.move('AddingItems');
  await customer.add(1);
  const order = await customer.move('ArrangingPayment');
  const second = await createCheckout(customer);
  assert.notEqual(second.id, first.id);
  assert.equal((await client.payments.get(first.id)).status, 'canceled');
  assert.equal((await client.payments.get(second.id)).amount, (order.totalWithTax / 100).toFixed(2));
  await platform.pay(second.id);
  const { payments, notes } = await inState(order.id, 'PaymentSettled');
  assert.deepEqual([payments.map(({ amount }) => amount), notes], [[order.totalWithTax], []]);
});

test('books what was paid of an order that changed meanwhile, says what is missing, and lets it be paid', async () => {
  const customer = await arrange();
  const { id } = await createCheckout(customer);
  let changed;
  await payUnheard([id], async () => {
    await customer.move('AddingItems');
    await customer.add(3);
    changed = await readOrder(customer.order.id);
  });
  const half = await readOrder(customer.order.id);
  const missing = changed.totalWithTax - customer.order.totalWithTax;
  assert.deepEqual([half.state, half.payments[0].amount], ['ArrangingPayment', customer.order.totalWithTax]);
  assert.match(half.notes[0], new RegExp(`${(missing / 100).toFixed(2)} USD are missing`));
  const rest = await createCheckout(customer);
  assert.equal((await client.payments.get(rest.id)).amount, (missing / 100).toFixed(2));
  await platform.pay(rest.id);
  assert.equal((await inState(customer.order.id, 'PaymentSettled')).payments.length, 2);
});

test('tells of money for an order that was paid in another way or canceled, once, and changes nothing', async () => {
  const customers = [await arrange(), await arrange()];
  const ids = [];
  for (const customer of customers) ids.push((await createCheckout(customer)).id);
  const [{ order: byHand }, { order: canceled }] = customers;
  await payUnheard(ids, async () => {
    await admin(
      `mutation ($id: ID!) { addManualPaymentToOrder(input: { orderId: $id, method: "invoice", metadata: {} }) {
        __typename ... on ErrorResult { message } } }`,
      { id: byHand.id },
    );
    await admin(
      `mutation ($id: ID!) { transitionOrderToState(id: $id, state: "PaymentSettled") { __typename } }`,
      { id: byHand.id },
    );
    const { cancelOrder } = await admin(
      `mutation ($id: ID!) { cancelOrder(input: { orderId: $id }) { ... on Order { state } ... on ErrorResult { message } } }`,
      { id: canceled.id },
    );
    assert.deepEqual(cancelOrder, { state: 'Cancelled' });
  });
  await follow();
  const orders = [await readOrder(byHand.id), await readOrder(canceled.id)];
  assert.deepEqual(
    orders.map(({ state }) => state),
    ['PaymentSettled', 'Cancelled'],
  );
  assert.deepEqual(
    orders.map(({ payments }) => payments.map(({ method }) => method)),
    [['invoice'], []],
  );
  for (const [index, { notes }] of orders.entries()) {
    assert.equal(notes.length, 1, notes.join('\n'));
    assert.ok(notes[0].includes(ids[index]));
    assert.ok(platform.readLog().includes(`payment ${ids[index]}: Paid`));
  }
});

test('tells what has arrived of a payment that is not paid in full', async () => {
  const customer = await arrange();
  const { id } = await createCheckout(customer);
  await platform.pay(id, '--usdc', '5');
  await until('the part', async () => (await client.payments.get(id)).amount_mismatch === 'partially_paid');
  await followUntil('a note', async () => (await readOrder(customer.order.id)).notes.length > 0);
  await follow();
  const { state, payments, notes } = await readOrder(customer.order.id);
  assert.deepEqual([state, payments, notes.length], ['ArrangingPayment', [], 1]);
  assert.match(notes[0], /Partially paid: 5\.000000 USDC/);
});

test('tells of a payment that cannot be booked now, and books it as soon as it can', async () => {
  const customer = await arrange();
  const { id } = await createCheckout(customer);
  const enable = (enabled) =>
    admin(
      `mutation ($id: ID!, $enabled: Boolean!) { updatePaymentMethod(input: { id: $id, enabled: $enabled,
        checker: { code: "card-checkout", arguments: [] } }) { id } }`,
      { id: platform.seeded.method, enabled },
    );
  await enable(false);
  await platform.pay(id);
  await until('a note', async () =>
    (await readOrder(customer.order.id)).notes[0]?.includes('is tried again'),
  );
  await enable(true);
  await followUntil(
    'the settled order',
    async () => (await readOrder(customer.order.id)).state === 'PaymentSettled',
  );
  const { state, payments, notes } = await readOrder(customer.order.id);
  assert.deepEqual([state, payments.length, notes.length], ['PaymentSettled', 1, 1]);
  assert.ok(platform.front.statuses.includes(500));
});

test('cancels the open checkout of an order that is paid in another way', async () => {
  const customer = await arrange();
  await customer.move('AddingItems');
  // Both steps in one request, as the documentation shows.
  const { createCardCheckout } = await customer.send(
    `mutation { transitionOrderToState(state: "ArrangingPayment") { __typename }
      createCardCheckout { ... on CardCheckout { url } ... on CardCheckoutError { message } } }`,
  );
  const [, id] = createCardCheckout.url.match(/\/pay\/([0-9a-f-]{36})/);
  const { order } = customer;
  await admin(
    `mutation ($id: ID!) { addManualPaymentToOrder(input: { orderId: $id, method: "invoice", metadata: {} }) { __typename } }`,
    { id: order.id },
  );
  await admin(
    `mutation ($id: ID!) { transitionOrderToState(id: $id, state: "PaymentSettled") { __typename } }`,
    {
      id: order.id,
    },
  );
  await until(
    'the checkout to be canceled',
    async () => (await client.payments.get(id)).status === 'canceled',
  );
});

test('opens a refund of an amount of the charge, and settles it when its transfer is final', async () => {
  const customer = await arrange();
  const { id } = await createCheckout(customer);
  await platform.pay(id);
  const { payments } = await inState(customer.order.id, 'PaymentSettled');
  const half = Math.round(customer.order.totalWithTax / 2);
  const refund = async (amount) => {
    const { refundOrder } = await admin(
      `mutation ($payment: ID!, $amount: Money!) { refundOrder(input: { paymentId: $payment, amount: $amount, lines: [],
        shipping: 0, adjustment: 0, reason: "Returned" }) {
        ... on Refund { id state total transactionId } ... on ErrorResult { message } } }`,
      { payment: payments[0].id, amount },
    );
    return refundOrder;
  };
  const opened = await refund(half);
  assert.deepEqual([opened.state, opened.total], ['Pending', half], JSON.stringify(opened));
  const { value_coin: received } = await client.payments.get(id);
  const { amount } = await client.refunds.get(opened.transactionId);
  assert.ok(Math.abs(Number(amount) - Number(received) / 2) < 0.01, `${amount} of ${received}`);
  const { notes } = await readOrder(customer.order.id);
  const [link] = notes[0].match(/http\S+\/refund\/\S+/);
  const wallet = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
  const form = { method: 'POST', body: new URLSearchParams({ address: wallet }), redirect: 'manual' };
  await fetch(link, { ...form, headers: { origin: new URL(link).origin } });
  await until('the named wallet', async () => (await client.refunds.get(opened.transactionId)).destination);
  await followUntil('a note about the wallet', async () =>
    (await readOrder(customer.order.id)).notes.some((note) => note.includes(wallet)),
  );
  const age = 'SELECT now() - "updatedAt" > interval \'1 hour\' AS old FROM card_checkout';
  await platform.query(
    `UPDATE card_checkout SET "updatedAt" = now() - interval '2 days' WHERE "checkoutId" = '${id}'`,
  );
  await follow();
  assert.deepEqual(await platform.query(`${age} WHERE "checkoutId" = '${id}'`), [{ old: false }]);
  await client.refunds.confirm(opened.transactionId, wallet);
  await platform.transferRefund(opened.transactionId);
  await until('the transfer', async () => (await client.refunds.get(opened.transactionId)).status === 'paid');
  const states = async () =>
    (await readOrder(customer.order.id)).payments[0].refunds.map(({ state }) => state);
  await followUntil('the settled refund', async () => (await states()).includes('Settled'));
  const rest = await refund(100);
  await client.refunds.cancel(rest.transactionId);
  await followUntil('the failed refund', async () => (await states()).includes('Failed'));
  assert.deepEqual((await states()).sort(), ['Failed', 'Settled']);
  const { orderByCode } = await customer.send(
    `{ orderByCode(code: "${customer.order.code}") { payments { metadata refunds { transactionId metadata reason } } } }`,
  );
  assert.ok(!JSON.stringify(orderByCode).includes('/refund/'));
});

test('takes payments in the currency, language and addresses of another channel', async () => {
  const customer = await arrange({ channel: platform.seeded.europe, language: 'de' });
  assert.equal(customer.order.currencyCode, 'EUR');
  const { id } = await createCheckout(customer);
  const payment = await client.payments.get(id);
  assert.equal(payment.currency, 'EUR');
  assert.equal(payment.items[0].name, 'Tee, 100 g');
  assert.ok(payment.return_url.includes('/europe/de/confirmation/'));
  await platform.pay(id);
  assert.equal((await inState(customer.order.id, 'PaymentSettled')).payments.length, 1);
});

test('is not offered where the service would refuse the checkout', async () => {
  const customer = await arrange({ quantity: 900 });
  const { eligiblePaymentMethods } = await customer.send('{ eligiblePaymentMethods { code isEligible } }');
  assert.deepEqual(eligiblePaymentMethods, [{ code: 'card', isEligible: false }]);
  const refused = await createCheckout(customer);
  assert.equal(refused.errorCode, 'CARD_CHECKOUT_ERROR');
  assert.equal(refused.message, 'The order cannot be paid by card checkout.');
  const nobody = connect(platform.url, 'shop-api');
  assert.equal((await createCheckout(nobody)).errorCode, 'CARD_CHECKOUT_ERROR');
});

test('says in the log why the service refuses a checkout, and not to the customer', async () => {
  const customer = await arrange();
  await platform.allowReturnHosts('other.example');
  const refused = await createCheckout(customer).finally(() =>
    platform.allowReturnHosts(new URL(platform.url).host),
  );
  assert.equal(refused.message, 'The checkout cannot be created now. Try again later.');
  assert.match(platform.readLog(), /no checkout was created: .*return_url/);
  assert.ok((await createCheckout(customer)).id);
});

test('shows no key, secret or token to browsers, in the log or in the database', async () => {
  const stored = await platform.query('SELECT row_to_json(c)::text AS row FROM card_checkout c');
  assert.ok(stored.length > 8);
  for (const text of [answers.flat().join('\n'), JSON.stringify(stored), platform.readLog()]) {
    assert.ok(text.length > 1_000);
    assert.ok(!text.includes(platform.apiKey));
    assert.ok(!text.includes(platform.webhookSecret));
    assert.ok(!/ipn_|service_live_|whsec_/.test(text));
  }
});
