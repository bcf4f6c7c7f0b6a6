/** The receiver that docs/webhooks.md puts together from its five pieces, run as it stands against the API. */
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { codeBlocks, read } from './markdown.ts';

interface Documented {
  createReceiver(options: {
    baseUrl: string;
    apiKey: string;
    database: DatabaseSync;
    ship: (order: { payment_id: string }) => void;
  }): RequestListener;
}

let documented: Documented;
let service: ApiService;
let api: Server | undefined;
let receiver: Server;
let database: DatabaseSync;
let shipped: string[];
let order: { payment_id: string; ipn_token: string; amount: string };
/** What the service says of every payment; null: it cannot be asked. */
let status: 'paid' | 'unpaid' | null;

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const listen = (server: Server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done));

const file = join(temporaryFolder(afterAll), 'receiver.mjs');

beforeAll(async () => {
  writeFileSync(
    file,
    codeBlocks(read('docs/webhooks.md').split('standardwebhooks.com')[0] ?? '', 'js').join('\n'),
  );
  documented = (await import(pathToFileURL(file).href)) as Documented;

  service = await createApiService({ requestsPerMinute: 1_000 });
  // The real API answers; only how far a payment has come is the test's.
  api = createServer(async (request, response) => {
    if (status === null) return void response.writeHead(500).end('{}');
    const { 'x-api-key': apiKey } = request.headers;
    const answer = await service.server.inject({
      method: 'GET',
      url: request.url ?? '',
      headers: { 'x-api-key': String(apiKey) },
    });
    const body = answer.statusCode === 200 ? JSON.stringify({ ...answer.json(), status }) : answer.body;
    response.writeHead(answer.statusCode).end(body);
  });
  await listen(api);
});

beforeEach(async () => {
  status = 'paid';
  shipped = [];
  order = (await service.post(validRequest)).json();
  database = new DatabaseSync(':memory:');
  database.exec(
    'CREATE TABLE orders (payment_id TEXT PRIMARY KEY, ipn_token TEXT, amount TEXT, paid_at INTEGER)',
  );
  database
    .prepare('INSERT INTO orders VALUES (?, ?, ?, NULL)')
    .run(order.payment_id, order.ipn_token, order.amount);
  receiver = createServer(
    documented.createReceiver({
      baseUrl: `http://127.0.0.1:${portOf(api as Server)}`,
      apiKey: service.apiKey,
      database,
      ship: ({ payment_id }) => shipped.push(payment_id),
    }),
  );
  await listen(receiver);
  return () => new Promise<void>((done) => void receiver.close(() => done()));
});

afterAll(async () => {
  await new Promise<void>((done) => void api?.close(() => done()));
  await service.close();
});

async function send(body: string, signature = sign(body)): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${portOf(receiver)}/`, {
    method: 'POST',
    body,
    headers: { 'X-Service-Signature': signature, Connection: 'close' },
  });
  return response.status;
}

const sign = (body: string) => createHmac('sha256', order.ipn_token).update(body).digest('hex');
const event = (paymentId: string = order.payment_id) => JSON.stringify({ event: 'payment.paid', paymentId });

it('fulfils once, also when the event comes several times at once', async () => {
  expect(await Promise.all([1, 2, 3].map(() => send(event())))).toEqual([200, 200, 200]);
  expect(await send(event())).toBe(200);
  expect(shipped).toEqual([order.payment_id]);
});

it('refuses a forged or altered body, one of an unknown payment, and no JSON', async () => {
  expect([await send(event(), '0'.repeat(64)), await send(`${event()} `, sign(event()))]).toEqual([401, 401]);
  expect(await send(event('01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4'))).toBe(401);
  expect(await send('no JSON')).toBe(401);
  expect(shipped).toEqual([]);
});

it('fulfils nothing that the service does not call paid, or charged otherwise', async () => {
  status = 'unpaid';
  expect(await send(event())).toBe(200);
  status = 'paid';
  database.exec("UPDATE orders SET amount = '999.00'");
  expect(await send(event())).toBe(200);
  expect(shipped).toEqual([]);
});

it('answers 500 when the status cannot be read, and fulfils later', async () => {
  status = null;
  expect(await send(event())).toBe(500);
  expect(shipped).toEqual([]);
  status = 'paid';
  expect(await send(event())).toBe(200);
  expect(shipped).toEqual([order.payment_id]);
});
