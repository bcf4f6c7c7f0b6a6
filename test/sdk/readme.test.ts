/** The snippets of the SDK's README, put together to the shop that they make, with PostgreSQL and against the API. */
import { createHmac } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { paidFields } from '../../src/cli/grade/grade-receiver.ts';
import type { GradedOrder } from '../../src/cli/grade/stand-in-service.ts';
import { codeBlocks, read } from '../docs/markdown.ts';
import { pay } from '../store/fixtures.ts';
import { type ApiService, createApiService, PAYOUT_ADDRESS } from '../support/api-service.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { type InstalledSdk, installPackedSdk } from './pack-sdk.ts';

interface Created {
  readonly payment_id: string;
  readonly ipn_token: string;
}

interface Shop {
  readonly payment: Created;
  receive(request: Request): Promise<Response>;
  reconcileOrders(): Promise<void>;
  followAll(): Promise<void>;
  verifyAddress(publication: unknown): void;
  readonly client: { settlement: { retrieve(): Promise<unknown> } };
}

let service: ApiService;
let postgres: PostgresServer;
let databaseUrl: string;
let pool: Pool;
let sdk: InstalledSdk;
let shop: Shop;
const shutdown = new AbortController();
const shopOrders: { paymentId: string; createdAt: Date; isOpen: boolean }[] = [];

/** What the README leaves to the reader, and its snippets around it. */
function shopModule(baseUrl: string): string {
  const blocks = codeBlocks(read('sdk/README.md'), 'js').map((block) =>
    block
      .replace('https://pay.example.com', baseUrl)
      .replace("'https://shop.example/webhook'", "'https://shop.example.com/hook'")
      .replaceAll('0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65', PAYOUT_ADDRESS),
  );
  const [create, receive, store, follow, reconcile, verify] = blocks as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  expect(blocks).toHaveLength(6);
  const inside = (block: string) => block.replace(/^import .*$/gm, '');
  const imports = [follow, reconcile, verify].flatMap((block) => block.match(/^import .*$/gm) ?? []);
  return `
const { pool, orders, shutdown, findToken, writeOrderAsPaid } = globalThis.readmeShop;
${imports.join('\n')}
${create}
${store}
${receive}
export async function reconcileOrders() {${inside(reconcile)}}
export async function followAll() {${inside(follow)}}
export function verifyAddress(publication) {${inside(verify)}}
export { client, payment };`;
}

beforeAll(async () => {
  [service, postgres, sdk] = await Promise.all([createApiService(), startPostgres(), installPackedSdk()]);
  const baseUrl = await service.server.listen({ host: '127.0.0.1', port: 0 });
  databaseUrl = await postgres.createDatabase();
  pool = new Pool({ connectionString: databaseUrl });
  await pool.query('CREATE TABLE fulfilments (payment_id uuid PRIMARY KEY)');
  await pool.query('CREATE TABLE event_cursor AS SELECT 0::bigint AS number');
  await pool.query('CREATE TABLE parcels (sent_at timestamptz DEFAULT now())');
  mkdirSync(join(sdk.folder, 'shop'));
  const file = join(sdk.folder, 'shop', 'shop.mjs');
  writeFileSync(file, shopModule(baseUrl));
  process.env['CARD_CHECKOUT_KEY'] = service.apiKey;
  Object.assign(globalThis, {
    readmeShop: {
      pool,
      orders: shopOrders,
      shutdown,
      findToken: (id: string) => (id === shop.payment.payment_id ? shop.payment.ipn_token : null),
      writeOrderAsPaid: (connection: Pool) => connection.query('INSERT INTO parcels DEFAULT VALUES'),
    },
  });
  shop = (await import(pathToFileURL(file).href)) as Shop;
  shopOrders.push({ paymentId: shop.payment.payment_id, createdAt: new Date(), isOpen: true });
}, 180_000);

afterAll(async () => {
  delete process.env['CARD_CHECKOUT_KEY'];
  shutdown.abort();
  await pool.end();
  // The pool does not wait until its connections are gone, and a server that stops before complains on them.
  await waitFor('the connections to close', 20_000, async () => {
    const others =
      'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    return (await postgres.query(databaseUrl, others)).length === 0;
  });
  await Promise.all([postgres.stop(), service.close()]);
  sdk.remove();
});

async function parcels(): Promise<number> {
  return Number((await pool.query('SELECT count(*) FROM parcels')).rows[0].count);
}

async function deliver(ipnToken = shop.payment.ipn_token): Promise<number> {
  const { payment_id: paymentId } = shop.payment;
  const order = { paymentId, ipnToken, amount: '25.00', currency: 'USD' } as const;
  const body = JSON.stringify(
    paidFields({ ...order, status: 'paid', statusReads: 0 } as GradedOrder, Math.floor(Date.now() / 1000)),
  );
  const signature = createHmac('sha256', ipnToken).update(body).digest('hex');
  const headers = { 'x-service-signature': signature };
  return (await shop.receive(new Request('https://shop.example/webhook', { method: 'POST', body, headers })))
    .status;
}

it('creates a checkout whose deposit address it can prove', async () => {
  expect(shop.payment).toMatchObject({ amount: '25.00', status: 'unpaid' });
  const publication = await shop.client.settlement.retrieve();
  shop.verifyAddress(publication);
  expect(() => shop.verifyAddress({ ...(publication as object), factories: [] })).toThrow();
});

it('refuses what is forged, and fulfils nothing that is not paid', async () => {
  expect([await deliver('ipn_guessed'), await deliver(), await parcels()]).toEqual([401, 204, 0]);
});

it('fulfils once in PostgreSQL, whoever comes first: webhooks at the same time, or the look at open orders', async () => {
  const payment = await service.store.payments.findPaymentById(shop.payment.payment_id);
  await service.store.payments.decidePayment(payment?.id ?? '', pay);
  await service.store.events.numberEvents(10);
  const looking = Promise.all([shop.reconcileOrders(), shop.followAll()]);
  expect(await Promise.all([deliver(), deliver(), deliver()])).toEqual([204, 204, 204]);
  expect(await deliver()).toBe(204);
  await waitFor('the event to be processed', 20_000, async () => {
    return (await pool.query('SELECT number FROM event_cursor')).rows[0].number > 0;
  });
  shutdown.abort();
  await looking;
  expect(await parcels()).toBe(1);
});
