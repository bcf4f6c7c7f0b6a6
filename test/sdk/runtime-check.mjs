// @ts-nocheck: plain JavaScript, which runs as it stands in each runtime.
// What the SDK needs of a runtime, tried in whichever runs this file: only what the web has, and the SDK's packed tarball.
// The address of a service that answers is asked for by `run`; it throws at the first thing that is not right.
import {
  ApiError,
  ConnectionError,
  createClient,
  createMemoryStore,
  fulfilOnce,
  verifyDepositAddress,
  WebhookError,
  webhooks,
} from '@card-checkout/sdk';

/** Node 18 has it as a module only. */
const webCrypto = globalThis.crypto ?? (await import('node:crypto')).webcrypto;

const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** By the runtime itself, so that two implementations are compared. */
async function sign(body, token) {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await webCrypto.subtle.importKey('raw', encoder.encode(token), algorithm, false, ['sign']);
  return hex(await webCrypto.subtle.sign('HMAC', key, encoder.encode(body)));
}

function same(found, expected, what) {
  if (found !== expected) throw new Error(`${what}: expected ${expected}, found ${found}`);
}

async function failureOf(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

/** Tries all of it; answers with what was tried. */
export async function run({ baseUrl, apiKey, address, callback }) {
  const client = createClient({ apiKey, baseUrl });
  const order = { address, callback, amount: '25.00', note: 'Grüße 👋' };
  const payment = await client.checkouts.create(order, { idempotencyKey: `order-${webCrypto.randomUUID()}` });
  const { payment_id: paymentId, ipn_token: token } = payment;
  same((await client.payments.retrieve(paymentId)).status, 'unpaid', 'the status');

  const refused = await failureOf(() => client.checkouts.create({ ...order, amount: '0' }));
  same(refused instanceof ApiError && refused.status, 400, 'a refused request');
  const nowhere = createClient({ apiKey, baseUrl: 'http://127.0.0.1:9', maximumRetries: 0 });
  same(
    (await failureOf(() => nowhere.payments.retrieve(paymentId))) instanceof ConnectionError,
    true,
    'nobody',
  );

  const publication = await client.settlement.retrieve();
  verifyDepositAddress(payment, { payoutAddress: address, publication });
  const other = `0x${'1'.repeat(40)}`;
  await failureOf(async () => verifyDepositAddress(payment, { payoutAddress: other, publication }));

  const body = JSON.stringify({
    event: 'payment.forwarded',
    paymentId,
    forwardTxid: `0x${'2'.repeat(64)}`,
    amountForwarded: '24.375000',
    toWallet: address,
    timestamp: Math.floor(Date.now() / 1000),
  });
  const signature = await sign(body, token);
  same(webhooks.constructEvent(body, signature, token).paymentId, paymentId, 'an event as text');
  const bytes = new TextEncoder().encode(body);
  same(
    (await webhooks.constructEventAsync(bytes, signature, async () => token)).paymentId,
    paymentId,
    'as bytes',
  );
  const forged = await failureOf(() => webhooks.constructEvent(`${body} `, signature, token));
  same(forged instanceof WebhookError && forged.httpStatus, 401, 'a forged event');

  let fulfilments = 0;
  const store = createMemoryStore();
  const paid = {
    ...client,
    payments: { retrieve: async (id) => ({ ...(await client.payments.retrieve(id)), status: 'paid' }) },
  };
  const fulfil = async () => {
    fulfilments++;
  };
  await Promise.all([1, 2, 3].map(() => fulfilOnce(store, { client: paid, payment: paymentId, fulfil })));
  same(fulfilments, 1, 'fulfilments');
  return 'checkouts, payments, errors, deposit address, webhooks, fulfilOnce';
}
