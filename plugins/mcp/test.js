// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** Tests the server with the official client and a sandbox at CARD_CHECKOUT_URL. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const { CARD_CHECKOUT_URL = '', CARD_CHECKOUT_KEY = '', CARD_CHECKOUT_PROGRAM = '' } = process.env;
const settings = {
  CARD_CHECKOUT_PAYOUT_ADDRESS: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  CARD_CHECKOUT_CALLBACK: 'https://shop.example.com/webhook',
};

async function connect(environment) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(import.meta.dirname, 'main.js')],
    env: { PATH: process.env.PATH, CARD_CHECKOUT_URL, CARD_CHECKOUT_KEY, ...environment },
  });
  await client.connect(transport);
  return client;
}

let client;
before(async () => {
  client = await connect(settings);
});
after(() => client.close());

async function call(name, input) {
  const { content, isError = false } = await client.callTool({ name, arguments: input });
  const [{ text }] = content;
  return { isError, text, json: () => JSON.parse(text) };
}

const order = `order-${Date.now()}`;

test('creates one payment of an order, to the wallet of whoever started the server, and never shows the signing token', async () => {
  const create = () => call('create_checkout', { amount: '25.00', order, note: 'Coffee beans' });
  const first = await create();
  const { payment_id: id, checkout_url: url } = first.json();
  assert.match(url, /\/pay\/[0-9a-f-]{36}$/);
  assert.ok(!first.text.includes('ipn_token'));
  assert.equal((await create()).json().payment_id, id);
  const { tools } = await client.listTools();
  const { properties } = tools.find(({ name }) => name === 'create_checkout').inputSchema;
  assert.deepEqual(Object.keys(properties).sort(), ['amount', 'currency', 'note', 'order']);
});

test('finds a payment, reads it, and opens a refund once it is paid, which nothing confirms', async () => {
  const { payments } = (await call('find_payments', { search: 'Coffee beans' })).json();
  const [{ payment_id: id }] = payments;
  execFileSync(process.execPath, [CARD_CHECKOUT_PROGRAM, 'sandbox', 'pay', id], { stdio: 'ignore' });
  let payment;
  for (const endMs = Date.now() + 60_000; Date.now() < endMs; await delay(200)) {
    payment = (await call('get_payment', { payment_id: id })).json();
    if (payment.forward_status === 'completed') break;
  }
  assert.equal(payment.status, 'paid');
  assert.equal(payment.deposits.length, 1);
  const refund = (await call('open_refund', { payment_id: id, amount: '5', return: order })).json();
  assert.equal(refund.status, 'awaiting_address');
  assert.equal((await call('list_refunds', { payment_id: id })).json().refunds.length, 1);
  const { tools } = await client.listTools();
  assert.ok(!tools.some(({ name }) => /confirm|cancel|transaction|key|wallet/.test(name)));
});

test('tells the agent why the service refuses, and refuses what is malformed', async () => {
  const refused = await call('create_checkout', { amount: '0', order: `${order}-small` });
  assert.ok(refused.isError);
  assert.match(refused.text, /amount/i);
  const unknown = await call('get_payment', { payment_id: '00000000-0000-7000-8000-000000000000' });
  assert.ok(unknown.isError);
  assert.ok(!unknown.text.includes(CARD_CHECKOUT_KEY));
  const malformed = await call('get_payment', { payment_id: '../../merchant/v1/events' });
  assert.ok(malformed.isError);
});

test('reads the documentation', async () => {
  assert.match((await call('read_docs', {})).text, /webhooks/);
  assert.match((await call('read_docs', { page: 'webhooks' })).text, /X-Service-Signature/);
  assert.match((await call('read_docs', { page: 'nothing' })).text, /There is no page/);
});

test('creates no checkout where it was started without a wallet', async () => {
  const reader = await connect({});
  const { tools } = await reader.listTools();
  assert.ok(!tools.some(({ name }) => name === 'create_checkout'));
  await reader.close();
});
