import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGrade } from '../../src/cli/grade/run-grade.ts';
import { signWebhook } from '../../src/webhooks/webhook-signatures.ts';
import { type InstalledSdk, installPackedSdk } from '../sdk/pack-sdk.ts';
import { freePorts } from '../support/free-ports.ts';
import { waitFor } from '../support/wait-for.ts';

const root = join(import.meta.dirname, '..', '..');
const examples = join(root, 'sdk', 'examples');

/** Node's own request handler around the route handlers: what Next.js does with a path, and nothing else of it. */
const routeHandlers = `
import { serve } from '@hono/node-server';
import * as webhook from './next/app/webhook/route.js';
import * as orders from './next/app/orders/route.js';
import * as order from './next/app/orders/[paymentId]/route.js';
serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhook') return webhook.POST(request);
    if (pathname === '/orders') return orders.POST(request);
    return order.GET(request, { params: Promise.resolve({ paymentId: pathname.split('/')[2] }) });
  },
});
`;

let sdk: InstalledSdk;
/** The examples as somebody has them who has installed what their package.json says. */
let project: string;

beforeAll(() => {
  sdk = installPackedSdk();
  project = join(sdk.folder, 'javascript');
  cpSync(join(examples, 'javascript'), project, { recursive: true });
  writeFileSync(join(project, 'route-handlers.js'), routeHandlers);
  for (const name of ['express', 'fastify', 'hono', '@hono/node-server']) {
    const link = join(sdk.folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
});

afterAll(() => sdk.remove());

interface ExampleShop {
  readonly command: string;
  readonly parameters: (port: number) => readonly string[];
  readonly folder: string;
  /** What finds payments whose webhook was missed. */
  readonly reconcile?: readonly string[];
}

/** Runs the shop's `reconcile`. Resolves to its exit code and its standard output. */
type Reconcile = () => Promise<{ readonly code: number | null; readonly output: string }>;

/** Starts the shop with a service on this port, uses it, and ends it. */
async function withShop<T>(
  { command, parameters, folder, reconcile = [] }: ExampleShop,
  servicePort: number,
  use: (url: string, reconcile: Reconcile) => Promise<T>,
): Promise<T> {
  const [port] = (await freePorts(1)) as [number];
  const data = mkdtempSync(join(tmpdir(), 'card-checkout-shop-'));
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env['PATH'] ?? '',
    CARD_CHECKOUT_URL: `http://127.0.0.1:${servicePort}`,
    CARD_CHECKOUT_KEY: 'service_live_test',
    CALLBACK_URL: 'https://shop.example/webhook',
    PAYOUT_ADDRESS: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
    ORDERS_FILE: join(data, 'orders.sqlite'),
    PORT: String(port),
    PHP_CLI_SERVER_WORKERS: '4',
    NODE_NO_WARNINGS: '1',
  };
  const runReconcile: Reconcile = async () => {
    const child = spawn(command, reconcile, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  };
  const child = spawn(command, parameters(port), {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env,
    // A group of its own: PHP's server has workers that must end with it.
    detached: true,
  });
  try {
    const someOrder = `${url}/orders/01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4`;
    const isOpen = async () => (await fetch(someOrder).catch(() => null))?.status === 200;
    await waitFor('the shop', 60_000, isOpen);
    return await use(url, runReconcile);
  } finally {
    await end(child);
    rmSync(data, { recursive: true });
  }
}

/** Starts the shop, has it graded, and ends it. */
async function gradeShop(shop: ExampleShop, followsLog = false) {
  const [servicePort] = (await freePorts(1)) as [number];
  return withShop(shop, servicePort, (url) =>
    runGrade({
      url: `${url}/webhook`,
      orderUrl: `${url}/orders`,
      probeUrl: `${url}/orders/{payment_id}`,
      port: String(servicePort),
      // Generous, because a busy machine can stall for seconds.
      timeLimitMs: 20_000,
      patienceMs: 10_000,
      eventPatienceMs: followsLog ? 60_000 : 10_000,
      eventFields: {},
      log: () => {},
    }),
  );
}

async function startService(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['x-api-key'] ?? ''}`);
    request.resume().once('end', () => answer(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    asked,
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends these bytes and returns the status of the answer; the connection stays open meanwhile. */
function sendRaw(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
  socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')));
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('data', (chunk) => {
      socket.destroy();
      resolve(chunk.toString('latin1').slice(9, 12));
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}

describe('the example shops', () => {
  it.concurrent.each(['express.js', 'fastify.js', 'hono.js', 'route-handlers.js'])(
    'get full marks: %s',
    async (file) => {
      const shop = { command: process.execPath, parameters: () => [file], folder: project };
      // Route handlers run for a request only, so they follow no log.
      const followsLog = file !== 'route-handlers.js';
      const { met, findings, events } = await gradeShop(shop, followsLog);
      expect(events?.mark).toBe(followsLog ? 'met' : 'not_seen');
      expect(findings.filter(({ mark }) => mark !== 'met')).toEqual([]);
      expect(met).toBe(5);
    },
  );

  const others = [
    {
      name: 'python',
      command: 'python3',
      check: ['-c', 'import sqlite3'],
      start: () => ['shop.py'],
      reconcile: ['shop.py', 'reconcile'],
    },
    {
      name: 'php',
      command: 'php',
      check: ['-r', 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);'],
      start: (port: number) => ['-q', '-S', `127.0.0.1:${port}`, 'shop.php'],
      reconcile: ['shop.php', 'reconcile'],
    },
  ];

  /** Those whose runtime is here. */
  function otherShops(): (ExampleShop & { readonly name: string })[] {
    return others.flatMap(({ name, command, check, start, reconcile }) => {
      if (spawnSync(command, check).status === 0)
        return [{ name, command, parameters: start, folder: join(examples, name), reconcile }];
      // Said in the output of every run: whoever reads it knows what was not looked at.
      console.warn(`not checked: sdk/examples/${name}, because ${command} with SQLite is not installed here`);
      return [];
    });
  }

  it.concurrent('get full marks in other languages, those whose runtime is here', async () => {
    for (const shop of otherShops()) {
      const { findings } = await gradeShop(shop);
      expect(
        findings.filter(({ mark }) => mark !== 'met'),
        shop.name,
      ).toEqual([]);
    }
  });

  it.concurrent('send their API key nowhere but to the service, wherever it redirects to', async () => {
    const elsewhere = await startService((_request, response) => response.end('{}'));
    const service = await startService((_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${elsewhere.port}/` }).end(),
    );
    for (const shop of otherShops()) {
      const { status } = await withShop(shop, service.port, (url) =>
        fetch(`${url}/orders`, { method: 'POST', body: '{"amount":"25.00"}' }),
      );
      expect(status, shop.name).toBe(500);
      expect(service.asked.pop(), shop.name).toContain('service_live_test');
    }
    expect(elsewhere.asked).toEqual([]);
    await service.stop();
    await elsewhere.stop();
  });

  it.concurrent('fulfil nothing that was paid in another currency than it was priced in', async () => {
    const payment = { payment_id: '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4', ipn_token: 'ipn_test' };
    let currency = '';
    const service = await startService((_request, response) =>
      response.end(
        JSON.stringify({
          ...payment,
          status: 'paid',
          amount: '25.00',
          currency,
          checkout_url: 'https://x',
          value_coin: '21.010000',
        }),
      ),
    );
    const body = JSON.stringify({
      paymentId: payment.payment_id,
      timestamp: Math.floor(Date.now() / 1000),
      status: 'paid',
    });
    const headers = { 'x-service-signature': signWebhook(body, payment.ipn_token) };
    for (const shop of otherShops()) {
      const counts = await withShop(shop, service.port, async (url) => {
        await fetch(`${url}/orders`, { method: 'POST', body: '{"amount":"25.00"}' });
        const found: unknown[] = [];
        for (currency of ['INR', 'USD']) {
          const { status } = await fetch(`${url}/webhook`, { method: 'POST', body, headers });
          const read = await fetch(`${url}/orders/${payment.payment_id}`);
          found.push([currency, status, await read.json()]);
        }
        return found;
      });
      expect(counts, shop.name).toEqual([
        ['INR', 204, { fulfilments: 0 }],
        ['USD', 204, { fulfilments: 1 }],
      ]);
    }
    await service.stop();
  });

  it.concurrent('find payments whose webhook was missed in the event log, and fulfil them once', async () => {
    const payment = { payment_id: '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4', ipn_token: 'ipn_test' };
    const paid = { ...payment, status: 'paid', amount: '25.00', currency: 'USD', value_coin: '21.010000' };
    /** Two events a page: one of another program's payment, and one of this. */
    const eventsUpTo = (last: number, after: number) =>
      Array.from({ length: last }, (_, index) => index + 1)
        .filter((number) => number > after)
        .slice(0, 2)
        .map((number) => ({
          number,
          type: 'payment.paid',
          payment: number % 2 === 0 ? paid : { ...paid, payment_id: '01a1fbd7-b7b3-7002-be38-000000000000' },
        }));
    let [answer, status, lastEvent, oldest] = [{} as object, 200, 0, 0];
    const service = await startService(({ url }, response) => {
      const { pathname, searchParams } = new URL(url ?? '', 'http://service');
      const after = Number(searchParams.get('after') ?? oldest);
      if (pathname !== '/merchant/v1/events') {
        response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {});
        return response.end(JSON.stringify({ checkout_url: 'https://x', ...answer }));
      }
      if (after < oldest) return response.writeHead(410).end('{"error":"Continue with after=0."}');
      const events = eventsUpTo(lastEvent, after);
      const next = events.at(-1)?.number ?? after;
      return response.end(JSON.stringify({ events, next_after: next, has_more: next < lastEvent }));
    });
    for (const shop of otherShops()) {
      await withShop(shop, service.port, async (url, reconcile) => {
        [lastEvent, oldest] = [0, 0];
        const run = async (next: object, nextStatus = 200) => {
          [answer, status] = [next, nextStatus];
          const { code, output } = await reconcile();
          const read = await fetch(`${url}/orders/${payment.payment_id}`);
          return [code, output, ((await read.json()) as { fulfilments: number }).fulfilments];
        };
        expect(await run({}), shop.name).toEqual([0, '', 0]);
        [answer, status] = [payment, 200];
        await fetch(`${url}/orders`, { method: 'POST', body: '{"amount":"25.00"}' });
        for (const other of [
          { ...paid, status: 'unpaid' },
          { ...paid, currency: 'INR' },
          { ...paid, amount: '2.50' },
        ]) {
          lastEvent += 2;
          expect(await run(other), shop.name).toEqual([0, '', 0]);
        }
        expect(await run(paid), 'the events of before are not read again').toEqual([0, '', 0]);
        lastEvent += 4;
        // What is not an answer decides nothing, whatever it says, and the next run reads the event again.
        expect(await run(paid, 302), shop.name).toEqual([1, '', 0]);
        expect(await run(paid, 500), shop.name).toEqual([1, '', 0]);
        expect(await run({ ...paid, padding: 'x'.repeat(270_000) }), shop.name).toEqual([1, '', 0]);
        expect(await run(paid), shop.name).toEqual([0, `${payment.payment_id}: fulfilled\n`, 1]);
        lastEvent += 2;
        const asked = service.asked.length;
        expect(await run(paid), shop.name).toEqual([0, '', 1]);
        expect(service.asked.length, 'the status of a fulfilled order is not read again').toBe(asked + 1);
      });
      await withShop(shop, service.port, async (url, reconcile) => {
        [lastEvent, oldest] = [2, 0];
        await reconcile();
        [answer, status] = [payment, 200];
        await fetch(`${url}/orders`, { method: 'POST', body: '{"amount":"25.00"}' });
        // The log begins after the shop's cursor: only the status of its open orders tells.
        [oldest, lastEvent, answer] = [10, 10, paid];
        expect(await reconcile(), shop.name).toEqual({
          code: 0,
          output: `${payment.payment_id}: fulfilled\n`,
        });
        const asked = service.asked.length;
        expect(await reconcile(), shop.name).toEqual({ code: 0, output: '' });
        expect(service.asked.length, 'the cursor is a valid one again').toBe(asked + 1);
      });
    }
    expect(service.asked.filter((line) => line.includes('/elsewhere'))).toEqual([]);
    await service.stop();
  });

  it.concurrent('refuse a length that is none or too large, at once', async () => {
    const [servicePort] = (await freePorts(1)) as [number];
    for (const shop of otherShops().filter(({ name }) => name === 'python')) {
      const statuses = await withShop(shop, servicePort, async (url) => {
        const request = (length: string) =>
          sendRaw(url, `POST /webhook HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
        return Promise.all(['-1', 'x', '', '65537', '9'.repeat(5_000)].map(request));
      });
      expect(statuses).toEqual(['411', '411', '411', '413', '413']);
    }
    for (const shop of otherShops().filter(({ name }) => name === 'php')) {
      const { status } = await withShop(shop, servicePort, (url) =>
        fetch(`${url}/webhook`, { method: 'POST', body: 'x'.repeat(70_000) }),
      );
      expect(status).toBe(413);
    }
  });
});
